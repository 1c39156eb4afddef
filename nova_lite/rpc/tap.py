"""A tap: the notifications of one bus, for as long as someone looks.

Its queue belongs to its connection alone, so the broker removes it when the connection
ends, however that comes about.
"""

import kombu
from oslo_messaging._drivers import common

from nova_lite.rpc import driver
from nova_lite.rpc import transport


class Tap:
    """Notifications of the topics, of every priority. Raises MessageDeliveryFailure."""

    def __init__(self, conf, url, topics):
        self._bus = transport.open_notifications(conf, url)
        # Kept: without it the connection is closed.
        self._held = self._bus._driver._get_connection(common.PURPOSE_LISTEN, driver.TRIES)
        inner = self._held.connection
        exchange = kombu.Exchange(
            driver.NOTIFICATIONS,
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
        self._found = []
        self._connection = inner.connection
        self._consumer = kombu.Consumer(
            inner.connection.channel(), queues=[queue], callbacks=[self._take], no_ack=True
        )
        self._consumer.consume()

    def _take(self, body, _message):
        found = common.deserialize_msg(body)
        self._found.append({k: v for k, v in found.items() if not k.startswith('_')})

    def take(self, seconds):
        """The messages that have come after at most `seconds`; [] when there are none.

        Raises one of `errors` when the bus is lost.
        """
        try:
            self._connection.drain_events(timeout=seconds)
        except TimeoutError:
            return []
        found, self._found = self._found, []
        return found

    @property
    def errors(self):
        """What tells that the bus is lost."""
        return self._connection.connection_errors + self._connection.channel_errors

    def close(self):
        """Give the connection back, and the queue with it."""
        self._held.close()
        self._bus.cleanup()
