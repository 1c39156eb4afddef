"""A tap by the documented names of oslo.messaging alone, see `tap`."""

import collections.abc
import typing

from oslo_config import cfg
import oslo_messaging

from nova_lite import runtime
from nova_lite.rpc import buses
from nova_lite.rpc import queues
from nova_lite.rpc import transport

PRIORITIES = ('audit', 'debug', 'info', 'warn', 'error', 'critical', 'sample')


class Tap:
    """Reads the notifications of topics with a listener, whose queue it deletes at its end."""

    errors = buses.LOST

    def __init__(
        self, conf: cfg.ConfigOpts, url: str, topics: collections.abc.Iterable[str]
    ) -> None:
        self._conf, self._url = conf, url
        self._pool = f'nova-lite-tap-{runtime.new_uuid()}'
        self._arrived: runtime.Queue[dict[str, typing.Any]] = runtime.Queue()
        self._bus = transport.open_notifications(conf, url)
        targets = [oslo_messaging.Target(topic=topic) for topic in topics]
        self._listener = oslo_messaging.get_notification_listener(
            self._bus, targets, [self._endpoint()], executor='threading', pool=self._pool
        )
        self._listener.start()

    def _endpoint(self) -> object:
        """Return an object with a method for each priority."""
        made = type('Endpoint', (), {})()
        for priority in PRIORITIES:
            setattr(made, priority, self._method(priority))
        return made

    def _method(self, priority: str) -> collections.abc.Callable[..., None]:
        def take(*message: typing.Any) -> None:
            _ctxt, publisher_id, event_type, payload, metadata = message
            self._arrived.put(
                {
                    'publisher_id': publisher_id,
                    'event_type': event_type,
                    'payload': payload,
                    'priority': priority.upper(),
                    **metadata,
                }
            )

        return take

    def take(self, seconds: float) -> list[dict[str, typing.Any]]:
        """Return the messages that arrived within `seconds`; [] if there are none."""
        try:
            return [self._arrived.get(timeout=seconds)]
        except runtime.Empty:
            return []

    def close(self) -> None:
        """End the listener, and delete its queue from a broker."""
        self._listener.stop()
        self._listener.wait()
        self._bus.cleanup()
        if queues.is_real(self._url):
            bus = transport.open_bus(self._conf, self._url)
            try:
                queues.delete_unused(bus, self._pool)
            finally:
                bus.cleanup()
