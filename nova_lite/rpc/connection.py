"""Connections of oslo.messaging that need less CPU for each message.

A message takes some milliseconds of CPU of its sender, its receiver and the broker. Much of
that prepares for connections that fail, or for messages that are not RPC.
"""

import collections.abc
import contextlib
import typing

from nova_lite.private_apis import messaging
from nova_lite.rpc import silence

# Seconds after which a thread that reads from the broker checks whether it must end.
POLL_S = 0.5
# Seconds that it waits for a message until oslo.messaging checks the consumer.
WAIT_S = 5.0

Method: typing.TypeAlias = collections.abc.Callable[[], typing.Any]


class Connection(messaging.impl_rabbit.Connection):  # type: ignore[misc]  # is not typed
    """A connection to RabbitMQ, or to the broker in memory of an embedded cloud."""

    _has_own_timeout = False

    def __init__(
        self, conf: typing.Any, url: typing.Any, purpose: str, **options: typing.Any
    ) -> None:
        self._sends = purpose == messaging.common.PURPOSE_SEND
        self._publish_timeout_s = conf.rpc_publish_timeout
        super().__init__(conf, url, purpose, **options)
        if not self._sends:
            self._poll_timeout = POLL_S

    def consume(self, timeout: float | None = None) -> None:
        """Wait for a message and call its consumer.

        oslo.messaging waits for 1 ms after a message, then 2, 4, 8, up to 5 s, because it
        acknowledges a notification between two waits. This method waits 5 s at once, because RPC
        messages are acknowledged when they are read.
        """
        super().consume(timeout=WAIT_S)

    def ensure(self, method: Method, *args: typing.Any, **options: typing.Any) -> None:
        """Call a method, and again after errors of the connection.

        The first try is made without the retries of oslo.messaging and kombu; its error is raised
        again inside them. Raise BusSilent, instead of retrying, if the bus has not confirmed in
        time, unless the retries are unlimited.
        """
        if self.channel is not None:
            try:
                method()
                return
            except TimeoutError as error:
                if self._sends and options.get('retry') is not None:
                    # A late confirmation on this connection would be taken for that of another
                    # message.
                    self.connection.collect()
                    self._set_current_channel(None)
                    raise silence.BusSilent(str(error)) from error
                method = _failed(method, error)
            except Exception as error:
                method = _failed(method, error)
        super().ensure(method, *args, **options)

    def set_transport_socket_timeout(self, timeout: float | None = None) -> None:
        """Set the timeout of the broker's answers, at most rpc_publish_timeout for a sender."""
        if self._sends:
            timeout = min(self._publish_timeout_s, timeout or self._publish_timeout_s)
        super().set_transport_socket_timeout(timeout)

    @contextlib.contextmanager
    def _transport_socket_timeout(self, timeout: float | None) -> collections.abc.Iterator[None]:
        """Set the timeout of the socket for a message, which is rpc_publish_timeout."""
        usual = timeout is None or timeout >= self._publish_timeout_s
        if usual and not self._has_own_timeout:
            yield
            return
        # After an error the timeout of the message stays set.
        self._has_own_timeout = True
        with super()._transport_socket_timeout(timeout):
            yield
        self._has_own_timeout = False

    # oslo.messaging declares a queue for notifications, which grows while it has no consumer.
    # With this override the consumer declares the queue; without a consumer they are dropped.
    _publish_and_creates_default_queue = messaging.publish


def _failed(method: Method, error: Exception) -> Method:
    """Return `method` with a first call that raises `error`."""
    errors = [error]

    def repeated() -> typing.Any:
        if errors:
            raise errors.pop()
        return method()

    return repeated
