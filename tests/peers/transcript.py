"""Requests to one service, and what of their answers must not depend on who gives them."""

import json
import re

import requests

ABSENT = '(absent)'
STATUS = 'HTTP status'
# What two services choose differently: each pattern becomes the word beside it.
CHOSEN = (
    (re.compile(r'\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b'), '<uuid>'),
    (re.compile(r'\b[0-9a-f]{32}\b'), '<id>'),
    (re.compile(r'\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z'), '<time with microseconds>'),
    (re.compile(r'\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'), '<time>'),
    (re.compile(r'\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\b'), '<time without zone>'),
)
# Texts for people; each service has words of its own.
WORDS = frozenset(('message',))
# The last key of a field's path.
LAST = re.compile(r'([^.]*?)(?:\[\d+\])?$')
# Where a published schema describes attributes, for people too.
SCHEMA = 'properties.'
TITLE = re.compile(r'<title>(.*?)</title>', re.DOTALL)


class Transcript:
    """Sends requests to a service at `url` and keeps what it answers.

    headers: of each request; a test may change them
    differs_by: names of keys whose values are secrets or random
    without: names of keys that are not compared
    words: names of keys whose texts are for people and are not compared; a test may change it
    entries: [(request, {field: value})]
    """

    def __init__(self, url, *, headers=None, ordered=True, differs_by=(), without=()):
        self.url = url.rstrip('/')
        self.headers = dict(headers or {})
        self.entries = []
        self._secrets = set()
        self._ordered = ordered
        self._differs_by = frozenset(differs_by)
        self._without = frozenset(without)
        self.words = WORDS

    def ask(self, method, path, body=None, **options):
        """Send a request and return the answer, after its fields were recorded.

        options: headers and data as of requests.request; media_type of a JSON body
        """
        headers = {**self.headers, **options.pop('headers', {})}
        headers = {name: value for name, value in headers.items() if value is not None}
        if body is not None:
            headers.setdefault('Content-Type', 'application/json')
            options['data'] = json.dumps(body)
        answer = requests.request(
            method,
            self.url + path,
            headers=headers,
            timeout=60,
            allow_redirects=False,
            **options,
        )
        if secret := answer.headers.get('X-Subject-Token'):
            self._secrets.add(secret)
        sent = '' if body is None else ' ' + json.dumps(body, separators=(',', ':'))
        request = self.masked(f'{method} {path}{sent}').replace('x' * 60, '…')
        self.entries.append((request, self._fields(answer)))
        return answer

    def made(self, path, body, **options):
        """POST a body and return the only object in the answer."""
        answer = self.ask('POST', path, body, **options).json()
        return next(iter(answer.values())) if len(answer) == 1 else answer

    def note(self, request, value):
        """Keep what was read of an answer by other means. value: JSON"""
        fields = {}
        self._flatten(value, '', fields)
        self.entries.append((self.masked(request), fields))

    def masked(self, text):
        """The text without what the service chose."""
        text = text.replace(self.url, '<url>')
        for secret in self._secrets:
            text = text.replace(secret, '<token>')
        for pattern, word in CHOSEN:
            text = pattern.sub(word, text)
        return text

    def _fields(self, answer):
        fields = {
            STATUS: answer.status_code,
            'Content-Type': answer.headers.get('Content-Type', ABSENT)
            if answer.content
            else ABSENT,
        }
        if 'Location' in answer.headers:
            fields['Location'] = self.masked(answer.headers['Location'])
        kind = fields['Content-Type'].partition(';')[0]
        if kind == 'application/json':
            self._flatten(answer.json(), '', fields)
        elif title := TITLE.search(answer.text):
            fields['title'] = title[1]
        elif answer.content:
            fields['content'] = answer.content.decode('latin-1')
        return fields

    def _flatten(self, value, path, fields):
        if LAST.search(path)[1] in self._differs_by:
            fields[path] = f'<{type(value).__name__}>'
        elif isinstance(value, dict) and value:
            for name, item in value.items():
                if name in self._without or name == 'description' and path.startswith(SCHEMA):
                    continue
                name = self.masked(name)
                self._flatten(item, f'{path}.{name}' if path else name, fields)
        elif isinstance(value, list) and value:
            if not self._ordered or not isinstance(value[0], dict):
                value = sorted(
                    value, key=lambda item: self.masked(json.dumps(item, sort_keys=True))
                )
            for number, item in enumerate(value):
                self._flatten(item, f'{path}[{number}]', fields)
        elif LAST.search(path)[1] in self.words:
            fields[path] = f'<{type(value).__name__}>'
        else:
            fields[path] = self.masked(json.dumps(value))


def differences(real, ours):
    """{(request, field, value of the real service, value of simcloud)} of two transcripts.

    Of answers whose status differs nothing else is compared.
    """
    found = set()
    for (request, theirs), (same_request, mine) in zip(real.entries, ours.entries, strict=True):
        assert request == same_request, (request, same_request)
        fields = [STATUS] if theirs.get(STATUS) != mine.get(STATUS) else {*theirs, *mine}
        for field in fields:
            values = str(theirs.get(field, ABSENT)), str(mine.get(field, ABSENT))
            if values[0] != values[1]:
                found.add((request, field, *values))
    return found
