"""Connections of oslo.messaging, with less work for each message.

A message takes some milliseconds of CPU of its sender, its receiver and the broker. Much of
that is for connections that fail, or for messages that are not RPC.
"""

import collections.abc
import contextlib
import typing

from nova_lite.private_apis import messaging
from nova_lite.rpc import silence

# How long a thread that reads from the broker may take to see that it must end.
POLL_S = 0.5
# How long it waits for a message until oslo.messaging looks after the consumer.
WAIT_S = 5.0

Method: typing.TypeAlias = collections.abc.Callable[[], typing.Any]


class Connection(messaging.impl_rabbit.Connection):  # type: ignore[misc]  # is not typed
    """A connection to RabbitMQ, or to the broker in memory (`rpc.memory_broker`)."""

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

        oslo.messaging waits for 1 ms after a message, then 2, 4, 8, to 5 s: a notification is
        acknowledged between two waits. Here it is 5 s at once, because RPC messages are
        acknowledged when they are read.
        """
        super().consume(timeout=WAIT_S)

    def ensure(self, method: Method, *args: typing.Any, **options: typing.Any) -> None:
        """Call a method, and again after errors of the connection.

        The first try goes without oslo.messaging's and kombu's preparations for others. Its
        error is raised again among these. Raise BusSilent when the bus has not confirmed in
        time, instead of trying it again, unless that is to be done without end.
        """
        if self.channel is not None:
            try:
                method()
                return
            except TimeoutError as error:
                if self._sends and options.get('retry') is not None:
                    # What comes late by this connection would be taken for another's.
                    self.connection.collect()
                    self._set_current_channel(None)
                    raise silence.BusSilent(str(error)) from error
                method = _failed(method, error)
            except Exception as error:
                method = _failed(method, error)
        super().ensure(method, *args, **options)

    def set_transport_socket_timeout(self, timeout: float | None = None) -> None:
        """Set how long the broker may take to answer, at most rpc_publish_timeout for a sender."""
        if self._sends:
            timeout = min(self._publish_timeout_s, timeout or self._publish_timeout_s)
        super().set_transport_socket_timeout(timeout)

    @contextlib.contextmanager
    def _transport_socket_timeout(self, timeout: float | None) -> collections.abc.Iterator[None]:
        """Set the timeout of the socket for a message, unless it has that anyway.

        That is rpc_publish_timeout.
        """
        usual = timeout is None or timeout >= self._publish_timeout_s
        if usual and not self._has_own_timeout:
            yield
            return
        # An error leaves the message's timeout.
        self._has_own_timeout = True
        with super()._transport_socket_timeout(timeout):
            yield
        self._has_own_timeout = False

    # oslo.messaging makes a queue for notifications, which grows while no consumer consumes
    # it. Here a queue is the consumer's: without one they are dropped.
    _publish_and_creates_default_queue = messaging.publish


def _failed(method: Method, error: Exception) -> Method:
    """Return the method, with the error of a call in place of its first one."""
    errors = [error]

    def repeated() -> typing.Any:
        if errors:
            raise errors.pop()
        return method()

    return repeated
