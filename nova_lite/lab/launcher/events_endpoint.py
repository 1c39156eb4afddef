"""The endpoint for the notifications of an embedded cloud: a stream of JSON lines.

It sends an empty line every second, so that both ends notice a lost connection.
"""

from collections.abc import Iterator
import http
import json
import typing
from wsgiref import types as wsgi

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import local_endpoint
from nova_lite.notify import hub

BEAT_S = 1.0
SILENCE_S = 15


class EventsEndpoint(local_endpoint.LocalEndpoint):
    """Answers GET /events with a stream of new notifications."""

    name = 'events'
    threads = 8

    def __init__(self, state_path: str) -> None:
        super().__init__(state_path)
        self._hub = hub.of(state_path)
        self._closing = runtime.Event()

    def close(self) -> None:
        self._closing.set()
        super().close()

    def answer(self, environ: wsgi.WSGIEnvironment) -> local_endpoint.Answer:
        if environ['PATH_INFO'] != '/events':
            return local_endpoint.as_json(http.HTTPStatus.NOT_FOUND, {'error': 'use /events'})
        return http.HTTPStatus.OK, self._lines(self._hub.listen())

    def _lines(self, listener: hub.Listener) -> Iterator[bytes]:
        try:
            yield b'\n'
            while not self._closing.is_set():
                found, dropped = listener.take(BEAT_S)
                if dropped:
                    found.insert(0, {'dropped': dropped})
                yield b''.join(json.dumps(each).encode() + b'\n' for each in found) or b'\n'
        finally:
            listener.close()


def follow(state_path: str) -> Iterator[dict[str, typing.Any] | None]:
    """Yield the notifications of the embedded cloud of `state_path`, and None once a second.

    Raise Unavailable if the cloud is not up, and when it stops.
    """
    place = local_endpoint.place_of(state_path, EventsEndpoint.name)
    try:
        with local_endpoint.send(place, '/events', SILENCE_S) as answer:
            for line in answer:
                yield json.loads(line) if line.strip() else None
    except OSError as error:
        raise exception.Unavailable(service='The cloud', reason=error) from error
    raise exception.Unavailable(service='The cloud', reason='it has stopped')
