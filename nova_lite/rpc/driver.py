"""An oslo.messaging driver whose one listener can serve many hosts.

oslo.messaging gives every RPC server a connection, threads and three queues. A compute process
with thousands of hosts needs one connection that consumes exactly their queues, so with this
driver a target's `server` names the queues. Everything else is the rabbit driver's.
"""

import typing

from oslo_config import cfg
from oslo_log import log
import oslo_messaging
from oslo_utils import netutils

from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import connection
from nova_lite.rpc import consumer
from nova_lite.rpc import silence

LOG = log.getLogger(__name__)


class SharedListenerDriver(messaging.impl_rabbit.RabbitDriver):  # type: ignore[misc]  # untyped
    """RabbitMQ, or the broker in memory of an embedded cloud, with shared listeners.

    Chosen by a transport URL of the form `nova-lite+rabbit://...`.
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        url: oslo_messaging.TransportURL,
        *args: typing.Any,
        **kwargs: typing.Any,
    ) -> None:
        url.transport = url.transport.removeprefix(buses.PREFIX)
        super().__init__(conf, url, *args, **kwargs)
        self._connection_pool.connection_cls = connection.Connection
        self._silence = silence.Silence(self._ask, buses.LOST)

    def _ask(self) -> None:
        """Connect to the bus once, and disconnect."""
        self._connection_pool.create(retry=0).close()

    def send(
        self,
        target: oslo_messaging.Target,
        ctxt: typing.Any,
        message: dict[str, typing.Any],
        **options: typing.Any,
    ) -> typing.Any:
        """Send a call or a cast. Raise BusSilent at once while the bus does not answer."""
        self._silence.require_answers()
        try:
            return super().send(target, ctxt, message, **options)
        except silence.BusSilent:
            self._silence.note()
            raise

    def cleanup(self) -> None:
        """Close the connections."""
        self._silence.stop()
        super().cleanup()

    def listen(
        self, target: oslo_messaging.Target, batch_size: int, batch_timeout: float | None
    ) -> messaging.Listener:
        where = ', '.join(
            f'{netutils.escape_ipv6(host.hostname)}:{host.port}' for host in self._url.hosts
        )
        LOG.info('Listening for %s on the bus at %s', target.topic, where or 'this process')
        pooled = self._get_connection(messaging.common.PURPOSE_LISTEN)
        listener = messaging.amqpdriver.RpcAMQPListener(self, pooled)
        exchange = self._get_exchange(target)
        consumer.listen(pooled, exchange, target.server, listener)
        return messaging.base.PollStyleListenerAdapter(listener, batch_size, batch_timeout)

    def send_notification(
        self,
        target: oslo_messaging.Target,
        ctxt: typing.Any,
        message: dict[str, typing.Any],
        version: float,
        retry: int | None = None,
    ) -> None:
        if target.exchange is None:
            target = target(exchange=buses.NOTIFICATIONS)
        super().send_notification(target, ctxt, message, version, retry)

    def _get_connection(
        self, purpose: str = messaging.common.PURPOSE_SEND, retry: int | None = None
    ) -> messaging.Pooled:
        try:
            return super()._get_connection(purpose, retry)
        except buses.LOST as error:
            # oslo.messaging raises this error only for an open connection. A connection that is
            # lost while it is opened raises an error of the library or of the system.
            silent = isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError)
            failure = silence.BusSilent if silent else oslo_messaging.MessageDeliveryFailure
            raise failure(str(error)) from error

    def _get_reply_q(self) -> str:
        if self._reply_q is None:
            # The connection for replies is retried without limit, under a lock. So the broker is
            # tried first with a limit.
            with self._get_connection(messaging.common.PURPOSE_SEND, buses.TRIES):
                pass
        queue: str = super()._get_reply_q()
        return queue
