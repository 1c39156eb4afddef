"""Receives requests completely before a thread of a server handles them.

So slow clients hold no thread: their connections wait together, as connections of cheroot and
gunicorn do between two requests. The received bytes are limited. Only the data of images is read by
the thread that handles the request.
"""

import contextlib
import enum
import json
import re
import socket
import typing

from oslo_log import log

from nova_lite import runtime
from nova_lite.daemons.wsgi import chunks
from nova_lite.daemons.wsgi import heads

LOG = log.getLogger(__name__)

# Small, because the thread that watches all connections takes the chunks of a piece apart, which
# must not take longer than a few milliseconds.
PIECE_BYTES = 8 * 1024
# Limits of all connections of a server that wait for more; the oldest connections are cut.
MOST_BYTES, MOST_CONNECTIONS = 3 * 1024 * 1024, 500
# Limit of all requests that wait for a thread; further requests are refused.
MOST_QUEUED_BYTES = 16 * 1024 * 1024
# Limit of the bytes read after a refusal, which the client would miss if the connection broke.
DISCARDED_BYTES = 256 * 1024 * 1024
END = re.compile(rb'\r?\n\r?\n')
# The first character of a request, or half of a line break before it.
BEGIN = re.compile(rb"[!$%&'*+.^_`|~0-9A-Z-]|\r\Z")
ASKED = b'HTTP/1.1 100 Continue\r\n\r\n'


class Found(enum.Enum):
    """WHOLE: a thread may take the request; MORE: wait; CLOSED: close the connection"""

    WHOLE = 1
    MORE = 2
    CLOSED = 3


class Receptions:
    """The connections of a server whose next request has not come completely."""

    def __init__(
        self,
        *,
        most_bytes: int = MOST_BYTES,
        most_connections: int = MOST_CONNECTIONS,
        most_queued: int = MOST_QUEUED_BYTES,
    ) -> None:
        self._most_bytes, self._most = most_bytes, most_connections
        self._most_queued, self._queued = most_queued, 0
        self._lock = runtime.Lock()
        # {Reception: bytes that it holds}; the oldest comes first.
        self._waiting: dict[Reception, int] = {}
        self._bytes = 0

    def receive(self, sock: socket.socket) -> 'Reception':
        """Return the Reception of a new connection."""
        return Reception(sock, self)

    def wait(self, reception: 'Reception', size: int) -> None:
        """Note that a connection waits for more; cut the oldest connections beyond the limits."""
        with self._lock:
            self._bytes += size - self._waiting.get(reception, 0)
            self._waiting[reception] = size
            if self._is_full():
                # The server closes connections that sent nothing for long without a notice.
                for closed in [each for each in self._waiting if each.is_closed]:
                    self._forget(closed)
            while self._is_full():
                oldest = next(iter(self._waiting))
                self._forget(oldest)
                oldest.cut()

    def _is_full(self) -> bool:
        return self._bytes > self._most_bytes or len(self._waiting) > self._most

    def queue(self, size: int) -> None:
        """Note that a request waits for a thread. Raise Refused if too many requests wait."""
        with self._lock:
            if self._queued + size > self._most_queued:
                raise heads.busy()
            self._queued += size

    def take(self, size: int) -> None:
        """Note that a thread has taken a request."""
        with self._lock:
            self._queued -= size

    def end(self, reception: 'Reception') -> None:
        """Note that a connection does not wait for more."""
        with self._lock:
            self._forget(reception)

    def _forget(self, reception: 'Reception') -> None:
        self._bytes -= self._waiting.pop(reception, 0)


class Reception:
    """The next request of a connection.

    streams: whether the thread that has taken the request reads its body from the client. Such a
        request is the last one of its connection
    """

    def __init__(self, sock: socket.socket, receptions: Receptions) -> None:
        self._sock, self._receptions = sock, receptions
        self._data = bytearray()
        self._looked = 0
        # Bytes of the head; bytes of the whole request.
        self._head_bytes, self._queued = 0, 0
        self._head: heads.Head | None = None
        self._decoder: chunks.Decoder | None = None
        self._is_asked = False
        # Number of bytes that came after the last request; None before `discard`.
        self._discarded: int | None = None
        self.streams = False

    def receive(self, former: bytes = b'') -> Found:
        """Take the bytes that have come. former: bytes that were read with the last request"""
        found = self._receive(former or self._read())
        if found is Found.MORE:
            self.wait()
        else:
            self._receptions.end(self)
        return found

    @property
    def is_closed(self) -> bool:
        """Return whether this side has closed the connection."""
        return self._sock.fileno() < 0

    def wait(self) -> None:
        """Note that the connection waits for the next bytes."""
        self._receptions.wait(self, self._held())

    def _held(self) -> int:
        body = len(self._decoder.body) if self._decoder else 0
        return len(self._data) + self._head_bytes + body

    def take(self) -> bytes:
        """Return the bytes of the request and of the next request that have come, for a server.

        Called by the thread that answers the request.
        """
        assert self._head is not None
        self._receptions.take(self._queued)
        if self.streams:
            head, body = self._head.written(), b''
        else:
            body = bytes(self._decoder.body) if self._decoder else b''
            length = len(body) if self._decoder else self._head.length
            head = self._head.written(length)
        taken = head + body + bytes(self._data)
        self._forget()
        self._is_asked = False
        return taken

    def _forget(self) -> None:
        self._data.clear()
        self._looked, self._head_bytes, self._head, self._decoder = 0, 0, None, None

    def discard(self) -> None:
        """Read all bytes until the client closes the connection. Nothing is answered."""
        self._forget()
        self._discarded = self._discarded or 0
        # The client may have closed the connection.
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """Break the connection. The next `receive` notices it."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def _read(self) -> bytes | None:
        """Return the bytes that have come; b'' at the end of the connection, None without bytes."""
        timeout_s = self._sock.gettimeout()
        try:
            self._sock.setblocking(False)
            return self._sock.recv(PIECE_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b''
        finally:
            with contextlib.suppress(OSError):
                self._sock.settimeout(timeout_s)

    def _receive(self, piece: bytes | None) -> Found:
        if piece is None:
            return Found.MORE
        if not piece:
            return Found.CLOSED
        if self._discarded is not None:
            self._discarded += len(piece)
            return Found.MORE if self._discarded < DISCARDED_BYTES else Found.CLOSED
        self._data += piece
        try:
            if not self._is_whole():
                return Found.MORE
            self._queued = self._held()
            self._receptions.queue(self._queued)
            return Found.WHOLE
        except heads.Refused as error:
            self._refuse(error)
            return Found.MORE

    def _is_whole(self) -> bool:
        """Return whether the whole request has come. Raise Refused."""
        if self._head is None and not self._take_head():
            return False
        head = typing.cast(heads.Head, self._head)
        self.streams = head.streams
        if head.streams:
            return True
        if head.length is None:
            self._decoder = self._decoder or chunks.Decoder()
            whole = self._decoder.feed(self._data)
        else:
            whole = len(self._data) >= head.length
        if head.expects and not whole and not self._is_asked:
            self._is_asked = True
            self._send(ASKED)
        return whole

    def _take_head(self) -> bool:
        """Take the head from the bytes that have come. Return whether the head was complete."""
        while self._data[:2] == b'\r\n':
            del self._data[:2]
        found = END.search(self._data, max(0, self._looked - 3), heads.MOST_BYTES + 4)
        if found is None:
            self._looked = len(self._data)
            if self._looked > heads.MOST_BYTES:
                raise heads.too_long()
            if self._looked and not BEGIN.match(self._data):
                raise heads.malformed('The connection does not begin with a request of HTTP/1.1.')
            return False
        self._head = heads.read(bytes(self._data[: found.start()]))
        del self._data[: found.end()]
        self._head_bytes = found.end()
        return True

    def _refuse(self, error: heads.Refused) -> None:
        LOG.info('A request was refused before it was read: %s', error.text)
        fault = {'code': int(error.status[:3]), 'message': error.text}
        text = json.dumps({'error': fault}).encode()
        self._send(
            f'HTTP/1.1 {error.status}\r\nContent-Type: application/json\r\n'
            f'Content-Length: {len(text)}\r\nConnection: close\r\n\r\n'.encode()
            + text
        )
        self.discard()

    def _send(self, data: bytes) -> None:
        """Send a few bytes. A client that reads nothing may miss these bytes."""
        with contextlib.suppress(OSError):
            self._sock.send(data, socket.MSG_DONTWAIT)
