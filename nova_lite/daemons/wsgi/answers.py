"""Short answers of WSGI applications, and layers around other applications."""

from collections.abc import Iterable
import json
from wsgiref import types as wsgi

import falcon


def as_json(
    start_response: wsgi.StartResponse,
    status: str,
    document: object,
    headers: Iterable[tuple[str, str]] = (),
) -> list[bytes]:
    """Answer a request with `document` as JSON. Return the body. status: code and reason"""
    body = json.dumps(document).encode()
    form = [('Content-Type', 'application/json'), ('Content-Length', str(len(body)))]
    start_response(status, [*form, *headers])
    return [body]


def refuse(
    start_response: wsgi.StartResponse,
    status: str,
    message: str | None,
    headers: Iterable[tuple[str, str]] = (),
) -> list[bytes]:
    """Answer a request with an error. Return the body. status: code and reason"""
    error = {'error': {'code': int(status[:3]), 'message': message}}
    return as_json(start_response, status, error, headers)


def refuse_with(start_response: wsgi.StartResponse, error: falcon.HTTPError) -> list[bytes]:
    """Answer a request with an error of falcon, for applications without falcon."""
    headers = dict(error.headers or {})
    return refuse(start_response, str(error.status), error.description, headers.items())


def close(closable: object) -> None:
    """Call `close` of an application or a body, if it has such a method."""
    method = getattr(closable, 'close', None)
    if method is not None:
        method()


class Layer:
    """A WSGI application around another one, which it closes."""

    def __init__(self, application: wsgi.WSGIApplication) -> None:
        self._application = application

    def close(self) -> None:
        """Close the inner application, if it can be closed."""
        close(self._application)
