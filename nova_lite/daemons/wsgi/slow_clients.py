"""Transfers with clients: slow clients may hold some threads of a server, never all threads.

A thread that waits until a client sends or accepts bytes serves no other client. `Transfers` cuts
connections whose single read or write takes too long, and the slowest connections while more than
half of the threads wait.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import socket
import types as python_types
import typing
from wsgiref import types as wsgi

import falcon

from nova_lite import runtime
from nova_lite.daemons.wsgi import answers

ExcInfo: typing.TypeAlias = (
    tuple[type[BaseException], BaseException, python_types.TracebackType] | tuple[None, None, None]
)

# The key in the environment of a request for the socket of its connection.
SOCKET = 'nova_lite.socket'
LOOK_S = 0.5
PIECE_BYTES = 64 * 1024
# Looks that one piece may take: usually, and while too many threads wait. Time is counted in
# looks, because a process that was frozen or starved must not blame its clients.
TIMEOUT = 60
SHORT_TIMEOUT = 4


class Transfer(typing.NamedTuple):
    """A read or write in progress. since: look at which it began; how: what to shut down"""

    since: int
    sock: socket.socket
    how: int


class Transfers:
    """The reads from and writes to clients in progress. threads: number of the server's threads"""

    def __init__(self, threads: int) -> None:
        self._most = max(1, threads // 2)
        self._lock = runtime.Lock()
        # By number, the oldest first.
        self._waiting: dict[int, Transfer] = {}
        self._looks = 0
        self._cut: set[int] = set()
        self._next = 0
        self._watching = False

    def begin(self, sock: socket.socket, how: int) -> int:
        """Note that a read (socket.SHUT_RD) or write (SHUT_RDWR) begins. Return its number."""
        with self._lock:
            self._next += 1
            self._waiting[self._next] = Transfer(self._looks, sock, how)
            if not self._watching:
                self._watching = True
                runtime.spawn(self._watch, name='transfers')
            return self._next

    def end(self, number: int) -> bool:
        """Note that a transfer has ended. Return whether it was cut. A second call does nothing."""
        with self._lock:
            cut = number in self._cut
            self._cut.discard(number)
            self._waiting.pop(number, None)
            return cut

    def _watch(self) -> None:
        while True:
            runtime.sleep(LOOK_S)
            with self._lock:
                if not self._waiting:
                    self._watching = False
                    return
                self._look()

    def _look(self) -> None:
        """Cut transfers that take too long. The caller holds the lock, so that none can end."""
        self._looks += 1
        excess = len(self._waiting) - self._most
        for number, transfer in list(self._waiting.items()):
            timeout = SHORT_TIMEOUT if excess > 0 else TIMEOUT
            if self._looks - transfer.since <= timeout:
                return
            excess -= 1
            self._cut.add(number)
            del self._waiting[number]
            # The client may have closed the connection.
            with contextlib.suppress(OSError):
                transfer.sock.shutdown(transfer.how)


class Body:
    """A request's body. Its reads raise falcon's 408 if the client is too slow."""

    def __init__(self, stream: wsgi.InputStream, sock: socket.socket, transfers: Transfers) -> None:
        self._stream, self._sock, self._transfers = stream, sock, transfers
        self.late = False

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes, or the whole body if `size` is negative or None."""
        if size is not None and 0 <= size <= PIECE_BYTES:
            return self._guarded(self._stream.read, size)
        parts, left = [], -1 if size is None else size
        while left:
            part = self._guarded(
                self._stream.read, PIECE_BYTES if left < 0 else min(left, PIECE_BYTES)
            )
            if not part:
                break
            parts.append(part)
            left -= len(part) if left > 0 else 0
        return b''.join(parts)

    def readline(self, size: int = PIECE_BYTES) -> bytes:
        return self._guarded(self._stream.readline, size)

    def readlines(self, hint: int | None = None) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b'')

    def _guarded(self, read: Callable[[int], bytes], size: int) -> bytes:
        number = self._transfers.begin(self._sock, socket.SHUT_RD)
        try:
            return read(size)
        finally:
            if self._transfers.end(number):
                self.late = True
                raise falcon.HTTPError(
                    falcon.HTTP_408,
                    title='Request Timeout',
                    description='The body of the request did not arrive in time.',
                )


class Answer:
    """The body of an answer, whose pieces are counted while the server sends them."""

    def __init__(self, answer: Iterable[bytes], sock: socket.socket, transfers: Transfers) -> None:
        self._answer, self._sock, self._transfers = answer, sock, transfers

    def __iter__(self) -> Iterator[bytes]:
        for data in self._answer:
            for start in range(0, len(data), PIECE_BYTES):
                # The server sends a yielded piece before it asks for the next one.
                number = self._transfers.begin(self._sock, socket.SHUT_RDWR)
                try:
                    yield data[start : start + PIECE_BYTES]
                finally:
                    self._transfers.end(number)

    def close(self) -> None:
        """Close the inner body."""
        answers.close(self._answer)


class Bounded(answers.Layer):
    """A layer that bounds the time of transfers, for servers that show the socket.

    A body that was received completely before, see `reception`, takes no time.

    threads: number of the server's threads
    """

    def __init__(self, application: wsgi.WSGIApplication, threads: int) -> None:
        super().__init__(application)
        self._transfers = Transfers(threads)

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        sock = environ.get(SOCKET) or environ.get('gunicorn.socket')
        if sock is None:
            return self._application(environ, start_response)
        body = environ['wsgi.input'] = Body(environ['wsgi.input'], sock, self._transfers)

        def start(
            status: str,
            headers: list[tuple[str, str]],
            exc_info: ExcInfo | None = None,
        ) -> Callable[[bytes], object]:
            # Applications that do not know `Body` answer its error with a fault of their own.
            if body.late and status.startswith('5'):
                status = falcon.HTTP_408
            return start_response(status, headers, exc_info)

        try:
            answer = self._application(environ, start)
        except falcon.HTTPError as error:
            answer = answers.refuse_with(start_response, error)
        return Answer(answer, sock, self._transfers)
