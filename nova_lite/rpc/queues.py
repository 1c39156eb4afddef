"""Queues on a bus, read from the broker by AMQP.

AMQP cannot list queues, so the caller must know their names.
"""

import collections.abc
import contextlib
import typing

import amqp
import oslo_messaging

from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import plain
from nova_lite.rpc import transport

# Seconds that a broker may take to answer.
TIMEOUTS = {'read_timeout': 60, 'write_timeout': 60}


def is_real(url: str) -> bool:
    """Return whether the bus at `url` is that of a broker, and not one inside a process."""
    return not url.startswith(transport.EMBEDDED)


def consumers(
    bus: oslo_messaging.Transport, names: collections.abc.Iterable[str]
) -> dict[str, int | None]:
    """Return {queue: number of consumers, None if the queue does not exist}.

    bus: result of `transport.open_bus`. Raise MessageDeliveryFailure if the broker does not
    answer.
    """
    with _connected(bus) as connection:
        return {name: _consumers(connection, name) for name in names}


def delete_unused(bus: oslo_messaging.Transport, name: str) -> bool:
    """Delete a queue without a consumer. Return whether it was deleted.

    Raises MessageDeliveryFailure when the broker does not answer.
    """
    with _connected(bus) as connection:
        try:
            connection.channel().queue_delete(queue=name, if_unused=True)
        except amqp.PreconditionFailed:
            return False
        return True


@contextlib.contextmanager
def _connected(bus: oslo_messaging.Transport) -> collections.abc.Iterator[typing.Any]:
    if not buses.of(bus).shares:
        try:
            with plain.connected(bus) as connection:
                yield connection
        except buses.LOST as error:
            raise oslo_messaging.MessageDeliveryFailure(str(error)) from error
        return
    with messaging.connection(bus, messaging.common.PURPOSE_SEND, buses.TRIES) as pooled:
        # A new connection, because one of oslo.messaging stops reading after a fraction of a
        # heartbeat.
        connection = pooled.connection.connection.clone()
    connection.transport_options = {**connection.transport_options, **TIMEOUTS}
    try:
        with connection:
            yield connection
    except (OSError, *connection.connection_errors) as error:
        raise oslo_messaging.MessageDeliveryFailure(str(error)) from error


def _consumers(connection: typing.Any, name: str) -> int | None:
    # A new channel, because the broker closes it if the queue does not exist.
    channel = connection.channel()
    try:
        count: int = channel.queue_declare(queue=name, passive=True).consumer_count
        return count
    except amqp.NotFound:
        return None
    finally:
        if channel.is_open:
            channel.close()
