"""Messages of error responses of services, in the form of each service."""

import html
import re

import requests

MARKS = re.compile('<head>.*?</head>|<[^<>]*>', re.DOTALL)


def detail(response: requests.Response) -> str:
    """Return the message of an error response, in any of OpenStack's formats."""
    try:
        body = response.json()
    except requests.exceptions.JSONDecodeError:
        return _plain(response)[:400].strip() or response.reason
    return _message(body) or response.reason


def error_type(response: requests.Response) -> str | None:
    """Return the type of a network service's error; None for an error of a proxy, for example."""
    try:
        found: str = response.json()['NeutronError']['type']
        return found
    except (ValueError, KeyError, TypeError):
        return None


def _plain(response: requests.Response) -> str:
    """Return the text of a response. Of an HTML page, return the body without tags."""
    text = response.text[:4000]
    if response.headers.get('Content-Type', '').startswith('text/html'):
        text = ' '.join(html.unescape(MARKS.sub(' ', text)).split())
    return text


def _message(body: object) -> str | None:
    if isinstance(body, list):
        return next((text for text in map(_message, body) if text), None)
    if isinstance(body, str):
        return body
    if not isinstance(body, dict):
        return None
    for key in ('detail', 'message', 'NeutronError', 'errors', 'title'):
        text = _message(body.get(key))
        if text:
            return text
    return next((text for text in map(_message, body.values()) if text), None)
