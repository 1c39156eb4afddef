"""A tap: reads the notifications of one bus while it is open.

Its queue is exclusive to its connection, so the broker deletes the queue when the connection
ends.
"""

import collections.abc
import typing

import kombu
from oslo_config import cfg

from nova_lite.lab.launcher import plain_tap
from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import transport

Notification: typing.TypeAlias = dict[str, typing.Any]


def opened(
    conf: cfg.ConfigOpts, url: str, topics: collections.abc.Iterable[str]
) -> 'Tap | plain_tap.Tap':
    """Return the tap of a bus. Raise MessageDeliveryFailure."""
    is_shared = transport.shares(url)
    return Tap(conf, url, topics) if is_shared else plain_tap.Tap(conf, url, topics)


class Tap:
    """Reads the notifications of topics, of every priority. Raises MessageDeliveryFailure."""

    def __init__(
        self, conf: cfg.ConfigOpts, url: str, topics: collections.abc.Iterable[str]
    ) -> None:
        self._bus = transport.open_notifications(conf, url)
        # This reference keeps the connection open.
        self._held = messaging.connection(self._bus, messaging.common.PURPOSE_LISTEN, buses.TRIES)
        inner = self._held.connection
        exchange = kombu.Exchange(
            buses.NOTIFICATIONS,
            type='topic',
            durable=inner.durable,
            auto_delete=inner.amqp_auto_delete,
        )
        queue = kombu.Queue(
            '',
            bindings=[kombu.binding(exchange, routing_key=f'{topic}.*') for topic in topics],
            exclusive=True,
            auto_delete=True,
            durable=False,
        )
        self._found: list[Notification] = []
        self._connection = inner.connection
        self._consumer = kombu.Consumer(
            inner.connection.channel(), queues=[queue], callbacks=[self._take], no_ack=True
        )
        self._consumer.consume()

    def _take(self, body: typing.Any, _message: kombu.Message) -> None:
        found = messaging.common.deserialize_msg(body)
        self._found.append({k: v for k, v in found.items() if not k.startswith('_')})

    def take(self, seconds: float) -> list[Notification]:
        """Return the messages that arrived within `seconds`; [] if there are none.

        Raises one of `errors` if the connection is lost.
        """
        try:
            self._connection.drain_events(timeout=seconds)
        except TimeoutError:
            return []
        found, self._found = self._found, []
        return found

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exceptions that report a lost connection."""
        connection = self._connection
        errors: tuple[type[Exception], ...]
        errors = connection.connection_errors + connection.channel_errors
        return errors

    def close(self) -> None:
        """Close the connection, which deletes the queue."""
        self._held.close()
        self._bus.cleanup()
