"""The part of the WebSocket protocol (RFC 6455) that a console without input needs, as a server."""

import base64
from collections.abc import Mapping
import email.message
import email.parser
import hashlib
import http
import socket
import struct
import typing
import urllib.parse

from nova_lite import exception
from nova_lite import runtime

# Of the protocol.
GUID = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
VERSION = '13'
BINARY, CLOSE, PING, PONG = 0x2, 0x8, 0x9, 0xA
FINAL, MASKED, LENGTH = 0x80, 0x80, 0x7F
SHORT, TWO_BYTES, EIGHT_BYTES = 125, 126, 127
NORMAL, GOING_AWAY, VIOLATION = 1000, 1001, 1008
# The protocol in which browsers and clients of consoles send bytes.
SUBPROTOCOL = 'binary'
MOST_HEAD_BYTES, MOST_FRAME_BYTES = 16 * 1024, 64 * 1024
END = b'\r\n\r\n'

Headers: typing.TypeAlias = email.message.Message


class Refused(exception.Invalid):
    msg = '%(reason)s'


class Closed(exception.NovaLiteError):
    msg = 'The client has closed the connection'


class WebSocket:
    """A connection on which the handshake is done. path and query: of the request"""

    def __init__(self, connection: socket.socket, handshake_s: float) -> None:
        """Answer the handshake. Raise Refused after an answer that says why, Closed, OSError.

        handshake_s: seconds in which the client must have sent it, however slowly
        """
        self._socket, self._buffer = connection, b''
        line, headers = self._head(runtime.monotonic() + handshake_s)
        try:
            self.query = _query(line, headers)
        except Refused as error:
            self._answer(http.HTTPStatus.BAD_REQUEST, {}, error.message)
            raise
        digest = hashlib.sha1(headers['Sec-WebSocket-Key'].encode() + GUID, usedforsecurity=False)
        given = {
            'Upgrade': 'websocket',
            'Connection': 'Upgrade',
            'Sec-WebSocket-Accept': base64.b64encode(digest.digest()).decode(),
        }
        offered = headers.get('Sec-WebSocket-Protocol', '')
        if SUBPROTOCOL in map(str.strip, offered.split(',')):
            given['Sec-WebSocket-Protocol'] = SUBPROTOCOL
        self._answer(http.HTTPStatus.SWITCHING_PROTOCOLS, given)

    def _head(self, until: float) -> tuple[str, Headers]:
        while END not in self._buffer:
            remaining_s = until - runtime.monotonic()
            if len(self._buffer) > MOST_HEAD_BYTES or remaining_s <= 0:
                raise Closed()
            self._socket.settimeout(remaining_s)
            self._receive()
        head, _end, self._buffer = self._buffer.partition(END)
        line, _break, rest = head.decode('latin-1').partition('\r\n')
        return line, email.parser.HeaderParser().parsestr(rest)

    def _answer(self, status: http.HTTPStatus, headers: Mapping[str, str], text: str = '') -> None:
        lines = [f'HTTP/1.1 {status.value} {status.phrase}']
        lines += [f'{name}: {value}' for name, value in headers.items()]
        if text:
            lines += ['Content-Type: text/plain', f'Content-Length: {len(text.encode())}']
            lines.append('Connection: close')
        self._socket.sendall(('\r\n'.join(lines) + '\r\n\r\n' + text).encode())

    def send(self, data: bytes) -> None:
        """Send a message."""
        self._send(BINARY, data)

    def close(self, code: int, reason: str = '') -> None:
        """Send that no message follows, and why."""
        self._send(CLOSE, struct.pack('!H', code) + reason.encode()[: SHORT - 2])

    def _send(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size <= SHORT:
            head = struct.pack('!BB', FINAL | kind, size)
        elif size < 1 << 16:
            head = struct.pack('!BBH', FINAL | kind, TWO_BYTES, size)
        else:
            head = struct.pack('!BBQ', FINAL | kind, EIGHT_BYTES, size)
        self._socket.sendall(head + data)

    def listen(self, seconds: float) -> None:
        """Read what the client sends for some seconds. Raise Closed.

        Input is dropped: a simulated guest has no keyboard.
        """
        until = runtime.monotonic() + seconds
        self._answer_frames()
        while (remaining_s := until - runtime.monotonic()) > 0:
            self._socket.settimeout(remaining_s)
            try:
                self._receive()
            except TimeoutError:
                break
            finally:
                self._socket.settimeout(seconds)
            self._answer_frames()

    def _answer_frames(self) -> None:
        """Answer the whole frames that were received. Raise Closed."""
        while (found := _parse(self._buffer)) is not None:
            kind, data, used = found
            self._buffer = self._buffer[used:]
            if kind == CLOSE:
                self._send(CLOSE, data[:2])
                raise Closed()
            if kind == PING:
                self._send(PONG, data)

    def _receive(self) -> None:
        data = self._socket.recv(MOST_FRAME_BYTES)
        if not data:
            raise Closed()
        self._buffer += data


def _query(line: str, headers: Headers) -> dict[str, str]:
    """Return the parameters in the URL of a handshake. Raise Refused."""
    words = line.split(' ')
    if len(words) != 3 or words[0] != 'GET':
        raise Refused(reason='A serial console answers to GET alone.')
    if headers.get('Upgrade', '').lower() != 'websocket' or 'Sec-WebSocket-Key' not in headers:
        raise Refused(reason='A serial console answers to clients of WebSocket alone.')
    if headers.get('Sec-WebSocket-Version') != VERSION:
        raise Refused(reason=f'A serial console knows version {VERSION} of WebSocket alone.')
    try:
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(words[1]).query))
    except ValueError as error:
        raise Refused(reason=f'The URL of the request is malformed: {error}.') from None


def _parse(data: bytes) -> tuple[int, bytes, int] | None:
    """Return (kind, data, bytes used) of the frame at the beginning, None if it is not whole.

    Raise Closed for a frame that is not masked or too long: no client sends one.
    """
    if len(data) < 2:
        return None
    size, at = data[1] & LENGTH, 2
    wide: dict[int, typing.Literal['!H', '!Q']] = {TWO_BYTES: '!H', EIGHT_BYTES: '!Q'}
    if size in wide:
        more = struct.calcsize(wide[size])
        if len(data) < at + more:
            return None
        (size,) = struct.unpack(wide[size], data[at : at + more])
        at += more
    if not data[1] & MASKED or size > MOST_FRAME_BYTES:
        raise Closed()
    if len(data) < at + 4 + size:
        return None
    mask, at = data[at : at + 4], at + 4
    unmasked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data[at : at + size]))
    return data[0] & 0x0F, unmasked, at + size
