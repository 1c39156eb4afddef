"""Undocumented names of oslo.messaging that we use."""

import typing

import oslo_messaging
from oslo_messaging import transport
from oslo_messaging.rpc import server

from nova_lite.private_apis import guard

LIBRARY = guard.Library('oslo.messaging', lowest='18.3', newest='18.3.1')

# The library is not typed: base.PollStyleListenerAdapter, common.ConnectionContext, and the
# impl_rabbit.Connection in that.
Listener: typing.TypeAlias = typing.Any
Pooled: typing.TypeAlias = typing.Any
Connection: typing.TypeAlias = typing.Any

with LIBRARY.declared():
    amqpdriver = LIBRARY.module('oslo_messaging._drivers.amqpdriver')
    base = LIBRARY.module('oslo_messaging._drivers.base')
    common = LIBRARY.module('oslo_messaging._drivers.common')
    impl_rabbit = LIBRARY.module('oslo_messaging._drivers.impl_rabbit')
    pool = LIBRARY.module('oslo_messaging._drivers.pool')

    LIBRARY.has(common, 'PURPOSE_LISTEN', 'PURPOSE_SEND', 'deserialize_msg')
    # Overridden by rpc.driver, or called there.
    LIBRARY.takes(impl_rabbit.RabbitDriver, 'listen', 'target', 'batch_size', 'batch_timeout')
    LIBRARY.takes(
        impl_rabbit.RabbitDriver, 'send_notification', 'target', 'ctxt', 'version', 'retry'
    )
    LIBRARY.takes(impl_rabbit.RabbitDriver, '_get_connection', 'purpose', 'retry')
    LIBRARY.has(impl_rabbit.RabbitDriver, '_get_exchange', '_get_reply_q')
    LIBRARY.keeps(impl_rabbit.RabbitDriver, '_connection_pool', '_reply_q', '_url')
    LIBRARY.keeps(pool.ConnectionPool, 'connection_cls')
    LIBRARY.takes(amqpdriver.RpcAMQPListener, '__init__', 'driver', 'conn')
    LIBRARY.takes(base.PollStyleListenerAdapter, '__init__', 'batch_size', 'batch_timeout')
    LIBRARY.takes(impl_rabbit.Connection, 'declare_consumer', 'consumer')
    LIBRARY.has(impl_rabbit.Connection, 'durable')
    LIBRARY.keeps(impl_rabbit.Connection, 'amqp_auto_delete', 'connection')
    # Overridden by rpc.connection, or used there.
    LIBRARY.takes(impl_rabbit.Connection, '__init__', 'conf', 'url', 'purpose', 'retry')
    LIBRARY.takes(impl_rabbit.Connection, 'consume', 'timeout')
    LIBRARY.takes(impl_rabbit.Connection, 'ensure', 'method')
    LIBRARY.takes(impl_rabbit.Connection, '_transport_socket_timeout', 'timeout')
    LIBRARY.takes(impl_rabbit.Connection, 'set_transport_socket_timeout', 'timeout')
    LIBRARY.takes(impl_rabbit.Connection, '_set_current_channel', 'new_channel')
    LIBRARY.has(impl_rabbit.Connection, '_publish', '_publish_and_creates_default_queue')
    LIBRARY.keeps(impl_rabbit.Connection, '_poll_timeout', 'channel', 'heartbeat_timeout_threshold')
    # Of rpc.consumer.
    LIBRARY.keeps(
        impl_rabbit.Connection,
        *('channel', 'enable_cancel_on_failover', 'rabbit_ha_queues'),
        *('rabbit_quorum_queue', 'rabbit_quorum_queue_config'),
    )
    LIBRARY.takes(
        impl_rabbit.Consumer,
        '__init__',
        *('exchange_name', 'queue_name', 'routing_key', 'type', 'durable', 'callback'),
        *('exchange_auto_delete', 'queue_auto_delete', 'enable_cancel_on_failover'),
        *('rabbit_ha_queues', 'rabbit_quorum_queue', 'rabbit_quorum_queue_config'),
    )
    LIBRARY.takes(impl_rabbit.Consumer, 'declare', 'conn')
    LIBRARY.keeps(
        impl_rabbit.Consumer,
        *('_declared_on', 'durable', 'enable_cancel_on_failover', 'exchange', 'queue'),
        *('queue_arguments', 'queue_auto_delete'),
    )
    # Of the queue of a Consumer, which is a rpc.consumer.Queues with ours.
    LIBRARY.uses(impl_rabbit.Consumer, 'consume', '_declared_on', 'channel', 'declare')
    LIBRARY.uses(impl_rabbit.Consumer, 'consume', 'queue', 'consume', '_callback', 'nowait')
    LIBRARY.uses(impl_rabbit.Consumer, 'cancel', 'queue', 'cancel')
    LIBRARY.uses(impl_rabbit.Consumer, '_callback', 'queue', 'channel')
    LIBRARY.takes(transport.Transport, '_send_notification', 'target', 'ctxt', 'message', 'retry')
    LIBRARY.keeps(transport.Transport, '_driver')
    LIBRARY.keeps(server.RPCServer, '_executor_cls')
    # A method of impl_rabbit.Connection: publish, and declare the exchange for the first message.
    publish = impl_rabbit.Connection._publish


def connection(bus: oslo_messaging.Transport, purpose: str, tries: int) -> Pooled:
    """Take a connection from the pool of a transport; a context manager."""
    return bus._driver._get_connection(purpose, tries)


def send_notification(
    bus: oslo_messaging.Transport,
    target: oslo_messaging.Target,
    ctxt: typing.Any,
    message: dict[str, typing.Any],
    **options: typing.Any,
) -> None:
    """Send by a transport, raising what goes wrong; the Notifier would hide it."""
    bus._send_notification(target, ctxt, message, **options)


def use_executor(rpc_server: server.RPCServer, executor: typing.Callable[..., typing.Any]) -> None:
    """Set the kind of executor of an RPC server that was not started yet."""
    rpc_server._executor_cls = executor
