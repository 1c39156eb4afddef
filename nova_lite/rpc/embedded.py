"""A message broker inside the process, for kombu's virtual transport.

kombu's own memory transport has one name space of queues for the whole process
and finds messages by polling. Here every bus (the name in `memory://NAME`) is a
broker of its own, and a consumer sleeps until a message for it arrives, so an
idle cloud costs nothing and a call a fraction of a millisecond.
"""

import collections

import kombu.exceptions
import kombu.transport
from kombu.transport import virtual

from nova_lite import runtime

# The transport option that names the bus.
BUS = 'nova_lite_bus'
NO_ROUTE = 'no queue takes the message'


class Broker:
    """Queues, bindings and waiting consumers of one bus.

    Every field is guarded by `lock`. A message is announced to one of its
    queue's consumers in turn; a consumer that goes away passes on what it was told.
    """

    def __init__(self):
        self.lock = runtime.RLock()
        self.state = virtual.BrokerState()
        self.queues = collections.defaultdict(collections.deque)
        self.routes = collections.defaultdict(dict)
        self.consumers = collections.defaultdict(collections.deque)

    def put(self, name, message):
        with self.lock:
            self.queues[name].append(message)
            self._announce(name)

    def _announce(self, name):
        consumers = self.consumers.get(name)
        if consumers:
            consumers.rotate(-1)
            consumers[0].tell(name)

    def get(self, name):
        with self.lock:
            waiting = self.queues.get(name)
            if not waiting:
                raise runtime.Empty
            return waiting.popleft()

    def consume(self, name, channel):
        with self.lock:
            self.consumers[name].append(channel)
            for _message in self.queues[name]:
                channel.tell(name)

    def cancel(self, name, channel):
        with self.lock:
            consumers = self.consumers.get(name)
            if not consumers or channel not in consumers:
                return
            consumers.remove(channel)
            for _message in self.queues.get(name, ()):
                self._announce(name)

    def delete(self, name):
        with self.lock:
            self.queues.pop(name, None)
            self.consumers.pop(name, None)
            for bound in self.routes.values():
                bound.pop(name, None)
            # Routing keys of direct replies are unique: without this the table
            # of an exchange grows with every process that comes and goes.
            for route in [r for r, bound in self.routes.items() if not bound]:
                del self.routes[route]


_brokers = {}
_brokers_lock = runtime.Lock()


def broker(name):
    """The broker of the bus called `name`, made on first use."""
    with _brokers_lock:
        return _brokers.setdefault(name, Broker())


def forget(prefix):
    """Drop the buses whose names start with `prefix` (a cloud that was stopped)."""
    with _brokers_lock:
        for name in [n for n in _brokers if n.startswith(prefix)]:
            del _brokers[name]


class Channel(virtual.Channel):
    """A kombu channel onto a Broker."""

    supports_fanout = True
    do_restore = False
    body_encoding = None

    def __init__(self, connection, **kwargs):
        self.broker = connection.broker
        self._told = collections.deque()
        self.events = collections.defaultdict(set)
        super().__init__(connection, **kwargs)

    def tell(self, name):
        """A message for this channel lies in queue `name`."""
        self._told.append(name)
        connection = self.connection
        if connection is not None:
            with connection.arrived:
                connection.arrived.notify_all()

    def drain_events(self, timeout=None, callback=None):
        deliver = callback or self.connection._deliver
        while True:
            try:
                name = self._told.popleft()
            except IndexError:
                raise runtime.Empty from None
            try:
                message = self.broker.get(name)
            except runtime.Empty:
                continue
            deliver(message, name)
            return

    def _reset_cycle(self):
        """No cycle: consumers are told which queue has something."""

    def basic_consume(self, queue, *args, **kwargs):
        super().basic_consume(queue, *args, **kwargs)
        self.broker.consume(queue, self)

    def basic_cancel(self, consumer_tag):
        name = self._tag_to_queue.get(consumer_tag)
        super().basic_cancel(consumer_tag)
        if name is not None:
            self.broker.cancel(name, self)

    def queue_bind(self, queue, exchange=None, routing_key='', arguments=None, **kwargs):
        with self.broker.lock:
            self.broker.routes[exchange or 'amq.direct', routing_key or ''][queue] = True

    def _lookup(self, exchange, routing_key, default=None):
        if not exchange:
            return [routing_key]
        with self.broker.lock:
            return list(self.broker.routes.get((exchange, routing_key or ''), ()))

    def basic_publish(self, message, exchange, routing_key, mandatory=False, **kwargs):
        self._inplace_augment_message(message, exchange, routing_key)
        fanout = self.state.exchanges.get(exchange, {}).get('type') == 'fanout'
        names = self._fanout_queues(exchange) if fanout else self._lookup(exchange, routing_key)
        if mandatory and not names:
            for give_back in self.events['basic_return']:
                give_back(
                    kombu.exceptions.InconsistencyError(NO_ROUTE), exchange, routing_key, message
                )
        for name in names:
            self._put(name, message)

    def _fanout_queues(self, exchange):
        with self.broker.lock:
            return [
                name
                for (bound, _key), names in self.broker.routes.items()
                if bound == exchange
                for name in names
            ]

    def _put(self, queue, message, **kwargs):
        self.broker.put(queue, message)

    def _get(self, queue, timeout=None):
        return self.broker.get(queue)

    def _new_queue(self, queue, **kwargs):
        with self.broker.lock:
            self.broker.queues[queue]

    def _has_queue(self, queue, **kwargs):
        return queue in self.broker.queues

    def _size(self, queue):
        return len(self.broker.queues.get(queue, ()))

    def queue_delete(self, queue, if_unused=False, if_empty=False, **kwargs):
        if not (if_empty and self._size(queue)):
            self.broker.delete(queue)

    def _purge(self, queue):
        with self.broker.lock:
            size = self._size(queue)
            self.broker.queues[queue].clear()
            return size

    def after_reply_message_received(self, queue):
        """Reply queues live as long as their process."""


class Transport(virtual.Transport):
    """kombu's transport for `memory://NAME` URLs."""

    Channel = Channel
    driver_type = driver_name = 'memory'

    def __init__(self, client, **kwargs):
        # oslo.messaging renames the host of a client that is connected; when it connects
        # again, that is still to the same bus.
        options = client.transport_options
        self.broker = broker(options.setdefault(BUS, client.hostname or 'default'))
        self.arrived = runtime.Condition(runtime.Lock())
        super().__init__(client, **kwargs)
        self.state = self.broker.state

    def driver_version(self):
        return 'embedded'

    def drain_events(self, connection, timeout=None):
        """Deliver one message, waiting for it at most `timeout` seconds."""
        deadline = None if timeout is None else runtime.monotonic() + timeout
        with self.arrived:
            while not any(channel._told for channel in self.channels):
                left = None if deadline is None else deadline - runtime.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError
                self.arrived.wait(left)
        for channel in list(self.channels):
            try:
                return channel.drain_events(callback=self._deliver)
            except runtime.Empty:
                continue


def install():
    """Make kombu use this transport for `memory://` in this process."""
    kombu.transport.TRANSPORT_ALIASES['memory'] = 'nova_lite.rpc.embedded:Transport'
