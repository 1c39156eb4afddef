"""A message broker inside the process, for kombu's virtual transport.

kombu's own memory transport has one name space of queues for the whole process and polls for
messages. With this transport each bus (the name in `memory://NAME`) is a separate broker, and a
consumer sleeps until a message arrives. So an idle cloud needs no CPU, and a call needs a
fraction of a millisecond.
"""

import collections
import typing

import amqp
import kombu.exceptions
from kombu.transport import virtual

from nova_lite import runtime
from nova_lite.lab.private_apis import broker as broker_api
from nova_lite.private_apis import messaging
from nova_lite.rpc import transport

# A message as kombu publishes it.
Message: typing.TypeAlias = dict[str, typing.Any]
Deliver: typing.TypeAlias = typing.Callable[[Message, str], None]
# The transport option that names the bus.
BUS = 'nova_lite_bus'
NO_ROUTE = 'no queue accepts the message'
# In a channel's list of queues with messages: the connection is lost.
LOST = ''


class Silent(amqp.RecoverableConnectionError, TimeoutError):  # type: ignore[misc]  # is not typed
    """The bus has not answered in time."""


class Broker:
    """Queues, bindings and waiting consumers of one bus.

    `lock` guards each field. A message is announced to one consumer of its queue, in turn; a
    consumer that ends passes on its announcements.

    is_cut: whether the broker has closed its connections and refuses new ones
    starts: how often the broker has started
    """

    def __init__(self) -> None:
        self.lock = runtime.RLock()
        self.is_cut, self.starts = False, 1
        self._answers = runtime.Event()
        self._answers.set()
        self.state = virtual.BrokerState()
        self.queues: dict[str, collections.deque[Message]] = collections.defaultdict(
            collections.deque
        )
        self.routes: dict[tuple[str, str], dict[str, bool]] = collections.defaultdict(dict)
        self.consumers: dict[str, collections.deque[Channel]] = collections.defaultdict(
            collections.deque
        )

    def cut(self) -> None:
        """Close all connections, and refuse new ones until `heal`. Messages are kept."""
        with self.lock:
            self.is_cut = True
            for channel in {each for found in self.consumers.values() for each in found}:
                channel.tell(LOST)

    def restart(self) -> None:
        """Close all connections, and lose the queues with their messages, as RabbitMQ does."""
        with self.lock:
            self.starts += 1
            channels = {each for found in self.consumers.values() for each in found}
            for table in (self.queues, self.routes, self.consumers):
                table.clear()
            self.state.clear()
            for channel in channels:
                channel.tell(LOST)

    def freeze(self) -> None:
        """Accept messages, but confirm and deliver nothing until `heal`."""
        self._answers.clear()

    def heal(self) -> None:
        """Accept connections, confirm, and deliver the messages that waited."""
        with self.lock:
            self.is_cut = False
            if self._answers.is_set():
                return
            self._answers.set()
            for name, waiting in self.queues.items():
                for _message in waiting:
                    self._announce(name)

    def require_connection(self, since: int | None = None) -> None:
        """Raise the error of a lost connection while the bus is cut, or after a restart.

        since: the start of the broker to which the connection belongs; None: the last one
        """
        if self.is_cut:
            raise amqp.RecoverableConnectionError('the bus was cut by an injected fault')
        if since is not None and since != self.starts:
            raise amqp.RecoverableConnectionError('the bus was restarted by an injected fault')

    def wait_for_answer(self, timeout_s: float | None) -> None:
        """Wait while the bus is frozen. Raise Silent after the timeout."""
        if not self._answers.is_set() and not runtime.wait(self._answers, timeout_s):
            raise Silent(f'the bus has not answered for {timeout_s} s')

    def put(self, name: str, message: Message) -> None:
        self.require_connection()
        with self.lock:
            self.queues[name].append(message)
            self._announce(name)

    def _announce(self, name: str) -> None:
        consumers = self.consumers.get(name)
        if consumers and self._answers.is_set():
            consumers.rotate(-1)
            consumers[0].tell(name)

    def get(self, name: str) -> Message:
        with self.lock:
            waiting = self.queues.get(name)
            # `heal` announces the messages that a frozen bus has not delivered.
            if not waiting or not self._answers.is_set():
                raise runtime.Empty
            return waiting.popleft()

    def consume(self, name: str, channel: 'Channel') -> None:
        self.require_connection()
        with self.lock:
            self.consumers[name].append(channel)
            for _message in self.queues[name] if self._answers.is_set() else ():
                channel.tell(name)

    def cancel(self, name: str, channel: 'Channel') -> None:
        with self.lock:
            consumers = self.consumers.get(name)
            if not consumers or channel not in consumers:
                return
            consumers.remove(channel)
            for _message in self.queues.get(name, ()):
                self._announce(name)

    def delete(self, name: str) -> None:
        with self.lock:
            self.queues.pop(name, None)
            self.consumers.pop(name, None)
            for bound in self.routes.values():
                bound.pop(name, None)
            # Routing keys of direct replies are unique: without this the table of an exchange
            # would grow with each process.
            for route in [r for r, bound in self.routes.items() if not bound]:
                del self.routes[route]


_brokers: dict[str, Broker] = {}
_brokers_lock = runtime.Lock()


def broker(name: str) -> Broker:
    """Return the broker of the bus `name`. The first call creates it."""
    with _brokers_lock:
        return _brokers.setdefault(name, Broker())


def drop(names: typing.Iterable[str]) -> None:
    """Drop buses that are no longer used."""
    with _brokers_lock:
        for name in names:
            _brokers.pop(name, None)


def forget(prefix: str) -> None:
    """Drop the buses whose names start with `prefix` (a cloud that was stopped)."""
    with _brokers_lock:
        for name in [n for n in _brokers if n.startswith(prefix)]:
            del _brokers[name]


class Channel(virtual.Channel):
    """A kombu channel onto a Broker."""

    supports_fanout = True
    do_restore = False
    body_encoding: typing.Any = None

    def __init__(self, connection: 'Transport', **kwargs: typing.Any) -> None:
        self.broker, self.since = connection.broker, connection.broker.starts
        self.ready: collections.deque[str] = collections.deque()
        self.events: dict[str, set[typing.Callable[..., None]]] = collections.defaultdict(set)
        super().__init__(connection, **kwargs)

    def tell(self, name: str) -> None:
        """Note that queue `name` has a message for this channel."""
        self.ready.append(name)
        connection = self.connection
        if connection is not None:
            with connection.arrived:
                connection.arrived.notify_all()

    def drain_events(self, timeout: float | None = None, callback: Deliver | None = None) -> None:
        deliver = callback or broker_api.deliver(self.connection)
        while True:
            try:
                name = self.ready.popleft()
            except IndexError:
                raise runtime.Empty from None
            if name == LOST or self.since != self.broker.starts:
                raise amqp.RecoverableConnectionError('the bus has closed the connection')
            try:
                message = self.broker.get(name)
            except runtime.Empty:
                continue
            deliver(message, name)
            return

    def _reset_cycle(self) -> None:
        """Do nothing: there is no cycle, because channels know which queues have messages."""

    def basic_consume(self, queue: str, *args: typing.Any, **kwargs: typing.Any) -> None:
        self._wait_for_answer()
        super().basic_consume(queue, *args, **kwargs)
        self.broker.consume(queue, self)

    def basic_cancel(self, consumer_tag: str) -> None:
        name = self._tag_to_queue.get(consumer_tag)
        super().basic_cancel(consumer_tag)
        if name is not None:
            self.broker.cancel(name, self)

    def queue_bind(
        self,
        queue: str,
        exchange: str | None = None,
        routing_key: str = '',
        arguments: typing.Any = None,
        **kwargs: typing.Any,
    ) -> None:
        self._wait_for_answer()
        with self.broker.lock:
            self.broker.routes[exchange or 'amq.direct', routing_key or ''][queue] = True

    def _wait_for_answer(self) -> None:
        if self.connection is not None:
            self.broker.wait_for_answer(self.connection.sock.timeout_s)

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> list[str]:
        if not exchange:
            return [routing_key] if self._has_queue(routing_key) else []
        with self.broker.lock:
            return list(self.broker.routes.get((exchange, routing_key or ''), ()))

    def basic_publish(
        self,
        message: Message,
        exchange: str,
        routing_key: str,
        mandatory: bool = False,
        **kwargs: typing.Any,
    ) -> None:
        self.broker.require_connection(self.since)
        self._inplace_augment_message(message, exchange, routing_key)
        fanout = self.state.exchanges.get(exchange, {}).get('type') == 'fanout'
        names = self._fanout_queues(exchange) if fanout else self._lookup(exchange, routing_key)
        if mandatory and not names:
            self._wait_for_answer()
            for give_back in self.events['basic_return']:
                give_back(
                    kombu.exceptions.InconsistencyError(NO_ROUTE), exchange, routing_key, message
                )
        for name in names:
            self._put(name, message)
        # Wait for the confirmation. Without it the message may still be delivered.
        self._wait_for_answer()

    def _fanout_queues(self, exchange: str) -> list[str]:
        with self.broker.lock:
            return [
                name
                for (bound, _key), names in self.broker.routes.items()
                if bound == exchange
                for name in names
            ]

    def _put(self, queue: str, message: Message, **kwargs: typing.Any) -> None:
        self.broker.put(queue, message)

    def _get(self, queue: str, timeout: float | None = None) -> Message:
        return self.broker.get(queue)

    def _new_queue(self, queue: str, **kwargs: typing.Any) -> None:
        with self.broker.lock:
            self.broker.queues[queue]

    def _has_queue(self, queue: str, **kwargs: typing.Any) -> bool:
        return queue in self.broker.queues

    def _size(self, queue: str) -> int:
        return len(self.broker.queues.get(queue, ()))

    def queue_delete(
        self, queue: str, if_unused: bool = False, if_empty: bool = False, **kwargs: typing.Any
    ) -> None:
        if not (if_empty and self._size(queue)):
            self.broker.delete(queue)

    def _purge(self, queue: str) -> int:
        with self.broker.lock:
            size = self._size(queue)
            self.broker.queues[queue].clear()
            return size

    def after_reply_message_received(self, queue: str) -> None:
        """Do nothing: reply queues live as long as their process."""


class Socket:
    """The methods of a connection's socket that oslo.messaging calls."""

    timeout_s: float | None = None

    def settimeout(self, seconds: float | None) -> None:
        """Set the timeout of the bus's confirmations."""
        self.timeout_s = seconds

    def setsockopt(self, *_option: int) -> None:
        """Ignore an option of TCP."""

    def getsockname(self) -> tuple[str, int]:
        """Return an address, as a socket does."""
        return '', 0


class Transport(virtual.Transport):
    """kombu's transport for `memory://NAME` URLs."""

    Channel = Channel
    driver_type = driver_name = 'memory'
    # kombu declares None here, and assigns a list of channels.
    channels: typing.Any

    def __init__(self, client: kombu.Connection, **kwargs: typing.Any) -> None:
        # oslo.messaging changes the host of a connected client. A reconnect must go to the
        # same bus.
        options: typing.Any = client.transport_options
        self.broker = broker(options.setdefault(BUS, client.hostname or 'default'))
        self.arrived = runtime.Condition(runtime.Lock(), idle=True)
        self.sock, self._connect_timeout_s = Socket(), client.connect_timeout
        super().__init__(client, **kwargs)
        self.state = self.broker.state

    def establish_connection(self) -> typing.Any:
        self.broker.require_connection()
        self.broker.wait_for_answer(self._connect_timeout_s)
        return super().establish_connection()

    def driver_version(self) -> str:
        return 'embedded'

    def drain_events(
        self, connection: typing.Any, timeout: float | None = None, **kwargs: typing.Any
    ) -> None:
        """Deliver one message. Wait for it at most `timeout` seconds."""
        deadline = None if timeout is None else runtime.monotonic() + timeout
        with self.arrived:
            while not any(channel.ready for channel in self.channels):
                left = None if deadline is None else deadline - runtime.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError
                self.arrived.wait(left)
        for channel in list(self.channels):
            try:
                channel.drain_events(callback=self._deliver)
                return
            except runtime.Empty:
                continue


class Buses:
    """The buses of embedded clouds (a rpc.transport.Embedded)."""

    def url(self, name: str) -> str:
        shared = broker_api.LIBRARY.is_used and messaging.LIBRARY.is_used
        return f'kombu+memory:///{name}' if shared else f'fake:///{name}'


def install() -> None:
    """Use this transport for embedded buses, and for `memory://` of kombu, in this process."""
    if broker_api.LIBRARY.is_used:
        broker_api.use_transport('memory', f'{__name__}:Transport')
    transport.embed(Buses())
