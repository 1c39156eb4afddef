"""Transfers with clients: slow ones may hold some threads of a server, never all.

A thread that waits for a client's next bytes, or for a client to take some, serves
no other client. `Transfers` cuts connections whose single read or write takes too long, and
the slowest ones while more than half of the threads wait.
"""

import contextlib
import json
import socket

import falcon

from nova_lite import runtime

# The key in the environment of a request for the socket of its connection.
SOCKET = 'nova_lite.socket'
LOOK_S = 0.5
PIECE_BYTES = 64 * 1024
# One piece may take this many looks, and this many while too many threads wait. Time is
# counted in looks: a process that was frozen or starved must not blame its clients.
TIMEOUT = 60
SHORT_TIMEOUT = 4


class Transfers:
    """The reads from and writes to clients in progress. threads: of the server"""

    def __init__(self, threads):
        self._most = max(1, threads // 2)
        self._lock = runtime.Lock()
        # number -> (look at which it began, socket, what to shut down), oldest first
        self._waiting = {}
        self._looks = 0
        self._cut = set()
        self._next = 0
        self._watching = False

    def begin(self, sock, how):
        """Note that a read (socket.SHUT_RD) or write (SHUT_RDWR) begins; returns its number."""
        with self._lock:
            self._next += 1
            self._waiting[self._next] = (self._looks, sock, how)
            if not self._watching:
                self._watching = True
                runtime.spawn(self._watch, name='transfers')
            return self._next

    def end(self, number):
        """Note that it has ended; returns whether it was cut. Harmless twice."""
        with self._lock:
            cut = number in self._cut
            self._cut.discard(number)
            self._waiting.pop(number, None)
            return cut

    def _watch(self):
        while True:
            runtime.sleep(LOOK_S)
            with self._lock:
                if not self._waiting:
                    self._watching = False
                    return
                self._look()

    def _look(self):
        """Cut what takes too long. Holds the lock: none of it can end in between."""
        self._looks += 1
        excess = len(self._waiting) - self._most
        for number, (since, sock, how) in list(self._waiting.items()):
            timeout = SHORT_TIMEOUT if excess > 0 else TIMEOUT
            if self._looks - since <= timeout:
                return
            excess -= 1
            self._cut.add(number)
            del self._waiting[number]
            # The client may have gone by itself.
            with contextlib.suppress(OSError):
                sock.shutdown(how)


class Body:
    """A request's body; reading raises falcon's 408 when the client is too slow."""

    def __init__(self, stream, sock, transfers):
        self._stream, self._sock, self._transfers = stream, sock, transfers
        self.late = False

    def read(self, size=-1):
        """Read up to `size` bytes; all there is without `size`."""
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

    def readline(self, size=PIECE_BYTES):
        return self._guarded(self._stream.readline, size)

    def readlines(self, hint=None):
        return list(self)

    def __iter__(self):
        return iter(self.readline, b'')

    def _guarded(self, read, size):
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
    """An answer whose pieces are counted while the server sends them."""

    def __init__(self, answer, sock, transfers):
        self._answer, self._sock, self._transfers = answer, sock, transfers

    def __iter__(self):
        for data in self._answer:
            for start in range(0, len(data), PIECE_BYTES):
                # The server sends what is yielded before it asks for more.
                number = self._transfers.begin(self._sock, socket.SHUT_RDWR)
                try:
                    yield data[start : start + PIECE_BYTES]
                finally:
                    self._transfers.end(number)

    def close(self):
        """Close the answer inside."""
        close = getattr(self._answer, 'close', None)
        if close is not None:
            close()


class Bounded:
    """The application inside, with bounded transfers. For servers that show the socket.

    Bodies that were received before, see `reception`, are not waited for.
    """

    def __init__(self, application, threads):
        self._application, self._transfers = application, Transfers(threads)

    def __call__(self, environ, start_response):
        sock = environ.get(SOCKET) or environ.get('gunicorn.socket')
        if sock is None:
            return self._application(environ, start_response)
        body = environ['wsgi.input'] = Body(environ['wsgi.input'], sock, self._transfers)

        def start(status, headers, exc_info=None):
            # Applications that know nothing of `Body` take it for a fault of their own.
            if body.late and status.startswith('5'):
                status = falcon.HTTP_408
            return start_response(status, headers, exc_info)

        try:
            answer = self._application(environ, start)
        except falcon.HTTPError as error:
            answer = refuse(start_response, error)
        return Answer(answer, sock, self._transfers)

    def close(self):
        """Close the application inside, if it can be closed."""
        close = getattr(self._application, 'close', None)
        if close is not None:
            close()


def refuse(start_response, error):
    """Answer with a falcon.HTTPError, for applications without falcon; returns the body."""
    code = int(error.status[:3])
    text = json.dumps({'error': {'code': code, 'message': error.description}}).encode()
    headers = [('Content-Type', 'application/json'), ('Content-Length', str(len(text)))]
    start_response(error.status, headers + list((error.headers or {}).items()))
    return [text]
