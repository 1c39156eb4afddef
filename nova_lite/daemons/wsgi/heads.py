"""Heads of requests, checked and written in one way before a server reads them.

cheroot and gunicorn accept different heads and decode heads differently. Both servers get heads of
this form: a path from the root, each header once, no header with an underscore in its name, and a
body with a length or in chunks.
"""

import re
import typing

MOST_BYTES = 64 * 1024
MOST_HEADERS = 100
MOST_LINE_BYTES = 8190
# Limit of a request's body, except data of images.
BODY_LIMIT = 1024 * 1024
# Uploads of the image service, which are forwarded while they come.
DATA = re.compile(rb'/+image/+v2/+images/+[^/?]+/+(file|stage)/*(\?.*)?')
LINE = re.compile(rb"([!$%&'*+.^_`|~0-9A-Z-]+) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)")
# The part of an absolute URI before the path, which is not used.
ORIGIN = re.compile(rb'(?i:https?://[^/?#]*)(?=[/?]|$)')
AUTHORITY = re.compile(rb'([\w.-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?', re.ASCII)
LENGTH = re.compile(rb'[0-9]{1,18}')
NOT_ASCII = re.compile(rb'[\x80-\xff]')
# With two values a request has two meanings.
SINGLE = (b'content-length', b'content-type', b'host', b'transfer-encoding')
CONTINUE = b'100-continue'
CONNECTION, CLOSE = b'connection', b'close'


class Refused(Exception):
    """A request was refused before a server read it. status: code and reason; text: for the user"""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Head(typing.NamedTuple):
    """line: the first line; fields: {name in lower case: 'Name: value'}

    length: bytes of the body; None if the body comes in chunks
    streams: whether the body is forwarded while it comes
    expects: whether the client sends the body only after it was asked to continue
    """

    line: bytes
    fields: dict[bytes, bytes]
    length: int | None
    streams: bool
    expects: bool

    def written(self, length: int | None = None) -> bytes:
        """Return the bytes for the server. length: bytes of the body; None if the body streams"""
        fields = dict(self.fields)
        if length is not None:
            fields.pop(b'transfer-encoding', None)
            fields.pop(b'expect', None)
            if length or self.length is None:
                fields[b'content-length'] = b'Content-Length: %d' % length
        return b'\r\n'.join((self.line, *fields.values(), b'', b''))


def read(raw: bytes) -> Head:
    """Return the Head in `raw`, which ends before the empty line. Raise Refused."""
    if len(raw) > MOST_BYTES:
        raise too_long()
    line, *others = raw.split(b'\r\n')
    if len(others) > MOST_HEADERS:
        raise Refused(
            '431 Request Header Fields Too Large',
            f'The request has more than {MOST_HEADERS} headers.',
        )
    values = _values(others)
    _close_if_asked(values)
    method, target, minor = _request_line(line)
    _check_host(values.get(b'host'), minor)
    length = _length(values, minor)
    streams = method == b'PUT' and DATA.fullmatch(target) is not None
    if length is not None and length > BODY_LIMIT and not streams:
        raise too_large()
    return Head(
        line=b'%s %s HTTP/1.%s' % (method, target, minor),
        fields={name: b'%s: %s' % pair for name, pair in values.items()},
        length=length,
        streams=streams and (length is None or length > BODY_LIMIT),
        expects=minor == b'1' and values.get(b'expect', (b'', b''))[1].lower() == CONTINUE,
    )


def too_long() -> Refused:
    """Return the refusal of a head that is too long."""
    return Refused(
        '431 Request Header Fields Too Large',
        f'The request line and the headers have more than {MOST_BYTES} bytes.',
    )


def too_large() -> Refused:
    """Return the refusal of a body that is too large."""
    return Refused(
        '413 Content Too Large', f'The body of the request is larger than {BODY_LIMIT} bytes.'
    )


def busy() -> Refused:
    """Return the refusal of a request for which no memory is left."""
    return Refused(
        '503 Service Unavailable', 'Too many requests are waiting for the service. Try again later.'
    )


def malformed(text: str) -> Refused:
    """Return the refusal of bytes that are not a request of HTTP/1.1."""
    return Refused('400 Bad Request', text)


def _request_line(line: bytes) -> tuple[bytes, bytes, bytes]:
    """Return (method, path with query, minor version of HTTP). Raise Refused."""
    if len(line) > MOST_LINE_BYTES:
        raise Refused(
            '414 URI Too Long', f'The request line has more than {MOST_LINE_BYTES} bytes.'
        )
    found = LINE.fullmatch(line)
    if found is None:
        raise malformed('The request line must be METHOD TARGET HTTP/1.1, the method in capitals.')
    method, target, minor = found.groups()
    target = ORIGIN.sub(b'', target, count=1) or b'/'
    if target == b'*' and method == b'OPTIONS':
        target = b'/'
    elif target[:1] == b'?':
        target = b'/' + target
    if target[:1] != b'/' or b'#' in target:
        raise malformed('The target of a request must be a path, without the fragment after #.')
    target = NOT_ASCII.sub(lambda each: b'%%%02X' % each.group()[0], target)
    return method, b'/' + target.lstrip(b'/'), minor


def _values(lines: list[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
    """Return {name in lower case: (name, value)}. Values of a repeated header are joined."""
    values: dict[bytes, tuple[bytes, bytes]] = {}
    for line in lines:
        found = FIELD.fullmatch(line)
        if found is None:
            raise malformed(
                'Each header must be one line Name: value, without control characters in the value '
                'and blanks before the colon.'
            )
        name, value = found[1], found[2].rstrip(b' \t')
        if b'_' in name:
            # Applications could not distinguish it from the name with hyphens.
            continue
        key = name.lower()
        if key in values:
            if key in SINGLE:
                raise malformed(f'The request has two headers {name.decode()}.')
            value = values[key][1] + (b'; ' if key == b'cookie' else b', ') + value
        values[key] = name, value
    return values


def _close_if_asked(values: dict[bytes, tuple[bytes, bytes]]) -> None:
    """Keep only `close` of the options of a connection: servers look for it as the one option."""
    name, value = values.get(CONNECTION, (b'', b''))
    if CLOSE in (option.strip().lower() for option in value.split(b',')):
        values[CONNECTION] = name, CLOSE


def _check_host(host: tuple[bytes, bytes] | None, minor: bytes) -> None:
    if host is None:
        if minor == b'1':
            raise malformed('A request of HTTP/1.1 must have the header Host.')
    elif not AUTHORITY.fullmatch(host[1]):
        raise malformed('The header Host must be a host name or an address, and a port.')


def _length(values: dict[bytes, tuple[bytes, bytes]], minor: bytes) -> int | None:
    """Return the bytes of the body, None if the body comes in chunks. Raise Refused."""
    length, coding = values.get(b'content-length'), values.get(b'transfer-encoding')
    if coding is not None:
        if length is not None:
            raise malformed('A request has Content-Length or Transfer-Encoding, not both.')
        if coding[1].lower() != b'chunked' or minor == b'0':
            raise malformed('Of transfer codings, HTTP/1.1 requests may have chunked alone.')
        return None
    if length is None:
        return 0
    if not LENGTH.fullmatch(length[1]):
        raise malformed('Content-Length must be a number of bytes.')
    return int(length[1])
