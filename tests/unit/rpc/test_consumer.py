"""Queues that a broker refuses among many that it accepts."""

import types

import amqp
import testtools

from nova_lite.rpc import buses
from nova_lite.rpc import consumer

NAMES = tuple(f'host-{number}' for number in range(1000))


class Channel:
    """A channel of a broker, on one node of which the queues `stuck` are lost.

    What follows a refusal is ignored, until the client waits and so hears of that.

    durable: of what the broker has, {name: whether it outlives the broker}
    """

    def __init__(self, stuck=(), durable=()):
        self.stuck, self.declared, self.waits = {*stuck}, set(), 0
        self.durable = dict(durable)
        self._refused = None

    def exchange_declare(self, exchange, durable, **_options):
        self._require_kind(exchange, durable)
        self._wait()

    def queue_declare(self, queue, durable, nowait=False, **_options):
        if self._refused is None and queue in self.stuck:
            self._refused = amqp.NotFound(f"NOT_FOUND - queue '{queue}' is down")
        self._require_kind(queue, durable)
        if self._refused is None:
            self.declared.add(queue)
        if not nowait:
            self._wait()
        return queue, 0, 0

    def queue_bind(self, nowait=False, **_options):
        if not nowait:
            self._wait()

    def queue_delete(self, queue, **_options):
        self._wait()
        self.stuck.discard(queue)

    def prepare_queue_arguments(self, arguments, **_options):
        return arguments

    def _require_kind(self, name, durable):
        if self._refused is None and self.durable.setdefault(name, durable) != durable:
            text = f"PRECONDITION_FAILED - inequivalent arg 'durable' for '{name}'"
            self._refused = amqp.PreconditionFailed(text)

    def _wait(self):
        self.waits += 1
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused


def _consumer(*, durable=False, renewed=lambda: None):
    return consumer.Consumer(
        buses.Queues(NAMES[0], NAMES, renewed),
        exchange_name='nova',
        durable=durable,
        exchange_auto_delete=False,
        queue_auto_delete=False,
        callback=None,
    )


def _connection(channel):
    return types.SimpleNamespace(
        channel=channel,
        connection=types.SimpleNamespace(channel_errors=(amqp.ChannelError,)),
        connection_id='one',
    )


class RenewedTest(testtools.TestCase):
    def test_who_consumes_hears_of_each_further_declaration_when_it_is_done(self):
        heard, channels = [], [Channel(), Channel(), Channel()]
        made = _consumer(renewed=lambda: heard.append([len(each.declared) for each in channels]))
        for channel in channels:
            made.declare(_connection(channel))
        every = len(NAMES)
        self.assertEqual([[every, every, 0], [every, every, every]], heard)

    def test_a_declaration_that_the_broker_refuses_is_none(self):
        heard = []
        made = _consumer(renewed=lambda: heard.append(True))
        made.declare(_connection(Channel()))
        refusing = Channel(durable={NAMES[0]: True})
        self.assertRaises(amqp.PreconditionFailed, made.declare, _connection(refusing))
        self.assertEqual([], heard)


class RefusedTest(testtools.TestCase):
    def declare(self, channel, *, durable=False):
        """Declare all queues on a channel."""
        _consumer(durable=durable).declare(_connection(channel))

    def test_none(self):
        channel = Channel()
        self.declare(channel)
        self.assertEqual({*NAMES}, channel.declared)
        self.assertEqual(1 + len(NAMES) // consumer.BATCH, channel.waits)

    def test_some(self):
        """All are declared in the end; the broker is not waited for at each."""
        channel = Channel(NAMES[500:503])
        self.declare(channel)
        self.assertEqual({*NAMES}, channel.declared)
        self.assertEqual(set(), channel.stuck)
        self.assertLess(channel.waits, len(NAMES) / 10)

    def test_exchange_of_other_kind(self):
        """The queues are of its kind, as oslo.messaging declares them. A lost one is made, too."""
        channel = Channel(NAMES[500:501], {'nova': False})
        self.declare(channel, durable=True)
        self.assertEqual(dict.fromkeys(('nova', *NAMES), False), channel.durable)
        self.assertEqual({*NAMES}, channel.declared)

    def test_queue_of_other_kind(self):
        """It is refused, as by oslo.messaging alone, and no other queue gets its kind."""
        for durable in (False, True):
            for name in (NAMES[0], NAMES[500], NAMES[-1]):
                channel = Channel(durable={name: not durable})
                self.assertRaises(amqp.PreconditionFailed, self.declare, channel, durable=durable)
                self.assertNotIn(not durable, [channel.durable[each] for each in channel.declared])
