"""The server's end of a WebSocket on which only the server sends messages."""

import socket
import typing
import urllib.parse

import wsproto
from wsproto import events
from wsproto import frame_protocol
from wsproto import utilities

from nova_lite import exception
from nova_lite import runtime

# The protocol in which browsers and clients of consoles send bytes.
SUBPROTOCOL = 'binary'
MOST_BYTES = 64 * 1024
GOING_AWAY = frame_protocol.CloseReason.GOING_AWAY
VIOLATION = frame_protocol.CloseReason.POLICY_VIOLATION


class Closed(exception.NovaLiteError):
    msg = 'The client has closed the connection, or is no client of WebSocket'


class WebSocket:
    """A connection on which the handshake is done. query: {name: value} of the URL"""

    def __init__(self, connection: socket.socket, handshake_s: float) -> None:
        """Answer the handshake. Raise Closed, OSError.

        handshake_s: seconds in which the client must have sent it, however slowly
        """
        self._socket = connection
        self._protocol = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        try:
            request = self._request(runtime.monotonic() + handshake_s)
            self.query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.target).query))
        except (utilities.RemoteProtocolError, ValueError) as error:
            self._reject(error)
            raise Closed() from error
        chosen = SUBPROTOCOL if SUBPROTOCOL in request.subprotocols else None
        self._send(events.AcceptConnection(subprotocol=chosen))

    def _request(self, until: float) -> events.Request:
        while (request := next(self._protocol.events(), None)) is None:
            remaining_s = until - runtime.monotonic()
            if remaining_s <= 0:
                raise Closed()
            self._socket.settimeout(remaining_s)
            self._receive()
        return typing.cast(events.Request, request)

    def _reject(self, error: Exception) -> None:
        """Answer that there is no WebSocket, and why."""
        hint = getattr(error, 'event_hint', None) or events.RejectConnection()
        # h11, which reads the head for wsproto, knows the status better.
        status = getattr(error.__context__, 'error_status_hint', hint.status_code)
        text = f'{error}\n'.encode()
        headers = [*hint.headers, (b'Content-Length', str(len(text)).encode())]
        self._send(events.RejectConnection(status_code=status, headers=headers, has_body=True))
        self._send(events.RejectData(data=text))

    def send(self, data: bytes) -> None:
        """Send a message."""
        self._send(events.BytesMessage(data=data))

    def close(self, code: int, reason: str = '') -> None:
        """Send that no message follows, and why."""
        self._send(events.CloseConnection(code=code, reason=reason))

    def _send(self, event: events.Event) -> None:
        self._socket.sendall(self._protocol.send(event))

    def listen(self, seconds: float) -> None:
        """Read what the client sends for some seconds. Raise Closed.

        Input is dropped: a simulated guest has no keyboard.
        """
        until = runtime.monotonic() + seconds
        while (remaining_s := until - runtime.monotonic()) > 0:
            self._socket.settimeout(remaining_s)
            try:
                self._receive()
            except TimeoutError:
                break
            finally:
                self._socket.settimeout(seconds)
            for event in self._protocol.events():
                if isinstance(event, events.Ping | events.CloseConnection):
                    self._send(event.response())
                if isinstance(event, events.CloseConnection):
                    raise Closed()

    def _receive(self) -> None:
        data = self._socket.recv(MOST_BYTES)
        if not data:
            raise Closed()
        self._protocol.receive_data(data)
