"""An oslo.messaging driver whose one listener can serve many hosts.

oslo.messaging gives every RPC server a connection and threads. A compute
process that stands for thousands of hosts needs one connection that consumes
all their queues, so a target's `server` may be a `Servers` list here. All else
is the rabbit driver's.
"""

from oslo_messaging._drivers import amqpdriver
from oslo_messaging._drivers import base
from oslo_messaging._drivers import common
from oslo_messaging._drivers import impl_rabbit

PREFIX = 'nova-lite+'


class Servers(str):
    """Names of the servers that one listener answers for, as one `server` string."""

    def __new__(cls, names):
        names = tuple(names)
        self = super().__new__(cls, names[0])
        self.names = names
        return self


class SharedListenerDriver(impl_rabbit.RabbitDriver):
    """RabbitMQ (or the embedded broker) with shared listeners.

    Chosen by a transport URL of the form `nova-lite+rabbit://...`.
    """

    def __init__(self, conf, url, *args, **kwargs):
        url.transport = url.transport.removeprefix(PREFIX)
        super().__init__(conf, url, *args, **kwargs)

    def listen(self, target, batch_size, batch_timeout):
        names = getattr(target.server, 'names', (target.server,))
        if len(names) == 1:
            return super().listen(target, batch_size, batch_timeout)
        connection = self._get_connection(common.PURPOSE_LISTEN)
        listener = amqpdriver.RpcAMQPListener(self, connection)
        exchange = self._get_exchange(target)
        for name in names:
            connection.declare_topic_consumer(
                exchange_name=exchange, topic=f'{target.topic}.{name}', callback=listener
            )
        return base.PollStyleListenerAdapter(listener, batch_size, batch_timeout)
