"""A consumer of many queues, which does not wait for the broker's answer to each message.

oslo.messaging has a consumer for each queue, and each waits four times: for its exchange,
its queue, the binding and the subscription. A process with thousands of hosts would wait for
minutes when it starts, and when the broker comes back.
"""

from collections.abc import Iterator
import typing

import kombu

from nova_lite.private_apis import messaging
from nova_lite.rpc import buses

# Number of queues that are declared, or subscribed to, before a wait for the broker. It takes a few
# milliseconds for each queue, and a connection is closed after a missed heartbeat.
BATCH = 100


class Queues:
    """Queues of one exchange, with the methods of kombu's Queue that oslo.messaging calls.

    options: arguments of each kombu.Queue
    """

    def __init__(
        self,
        names: tuple[str, ...],
        exchange: kombu.Exchange,
        channel: typing.Any,
        **options: typing.Any,
    ) -> None:
        self.channel = channel
        self._names, self._exchange, self._options = names, exchange, options

    def declare(self) -> None:
        """Declare the exchange, and the queues with their bindings."""
        self._exchange.declare(channel=self.channel)
        for queue, waits in self._each():
            queue.queue_declare(nowait=True)
            queue.queue_bind(nowait=not waits)

    def consume(self, callback: typing.Any, consumer_tag: str, **_options: typing.Any) -> None:
        """Subscribe to all queues."""
        for number, (queue, waits) in enumerate(self._each()):
            queue.consume(
                callback=callback, consumer_tag=f'{consumer_tag}.{number}', nowait=not waits
            )

    def cancel(self, consumer_tag: str) -> None:
        """End all subscriptions."""
        for number in range(len(self._names)):
            self.channel.basic_cancel(f'{consumer_tag}.{number}')

    def _each(self) -> Iterator[tuple[kombu.Queue, bool]]:
        """Yield (queue, whether to wait for the broker).

        After a wait all former queues are done.
        """
        last = len(self._names) - 1
        for number, name in enumerate(self._names):
            queue = kombu.Queue(
                name,
                exchange=self._exchange,
                channel=self.channel,
                routing_key=name,
                **self._options,
            )
            yield queue, number % BATCH == BATCH - 1 or number == last


class Kind(typing.NamedTuple):
    """Declaration of queues and their exchange. durable: whether the queues outlive the broker"""

    exchange: kombu.Exchange
    durable: bool


class Consumer(messaging.impl_rabbit.Consumer):  # type: ignore[misc]  # is not typed
    """Consumes topic queues. options: those of oslo.messaging's Consumer"""

    def __init__(self, queues: buses.Queues, **options: typing.Any) -> None:
        names = queues.names
        super().__init__(queue_name=names[0], routing_key=names[0], type='topic', **options)
        self._names, self._options = names, options
        self._renewed, self._was_declared = queues.renewed, False

    def declare(self, conn: messaging.Connection) -> None:
        """Declare the queues on the channel that a connection has now.

        A kind that the broker has corrected is not remembered, because the exchange may have the
        configured kind after a restart of the broker.
        """
        kind = Kind(self.exchange, self.durable)
        self.queue = self._queues(conn, self._names, kind)
        self._declare(conn, self._names, kind)
        self._declared_on = conn.channel
        if self._was_declared:
            self._renewed()
        self._was_declared = True

    def _queues(self, conn: messaging.Connection, names: tuple[str, ...], kind: Kind) -> Queues:
        arguments = {'x-cancel-on-ha-failover': True} if self.enable_cancel_on_failover else None
        return Queues(
            names,
            kind.exchange,
            conn.channel,
            durable=kind.durable,
            auto_delete=self.queue_auto_delete,
            queue_arguments=self.queue_arguments,
            consumer_arguments=arguments,
        )

    def _declare(self, conn: messaging.Connection, names: tuple[str, ...], kind: Kind) -> Kind:
        """Declare queues together. Return the kind that the broker accepts.

        If the broker refuses a queue, the names are halved until one is left. oslo.messaging
        declares this queue and corrects the kind. The kind has changed then only if the broker
        refused the exchange, so the queues that follow get the new kind. A queue whose kind differs
        from that of its exchange stays refused, because oslo.messaging corrects both together.
        """
        try:
            self._queues(conn, names, kind).declare()
        except conn.connection.channel_errors:
            if len(names) == 1:
                return self._correct(conn, *names, kind)
            middle = len(names) // 2
            for half in (names[:middle], names[middle:]):
                kind = self._declare(conn, half, kind)
        return kind

    def _correct(self, conn: messaging.Connection, name: str, kind: Kind) -> Kind:
        options = {**self._options, 'durable': kind.durable}
        single = messaging.impl_rabbit.Consumer(
            queue_name=name, routing_key=name, type='topic', **options
        )
        single.declare(conn)
        return Kind(single.exchange, single.queue.durable)


def listen(
    connection: messaging.Connection, exchange: str, queues: buses.Queues, callback: typing.Any
) -> None:
    """Make a connection consume topic queues."""
    consumer = Consumer(
        queues,
        exchange_name=exchange,
        durable=connection.durable,
        exchange_auto_delete=connection.amqp_auto_delete,
        queue_auto_delete=connection.amqp_auto_delete,
        callback=callback,
        rabbit_ha_queues=connection.rabbit_ha_queues,
        enable_cancel_on_failover=connection.enable_cancel_on_failover,
        rabbit_quorum_queue=connection.rabbit_quorum_queue,
        rabbit_quorum_queue_config=connection.rabbit_quorum_queue_config,
    )
    connection.declare_consumer(consumer)
