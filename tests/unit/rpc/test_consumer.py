"""Queues that a broker refuses among many that it accepts."""

import types

import amqp
import testtools

from nova_lite.rpc import consumer

NAMES = tuple(f'host-{number}' for number in range(1000))


class Channel:
    """A channel of a broker, on one node of which the queues `stuck` are lost.

    What follows a refusal is ignored, until the client waits and so hears of that.
    """

    def __init__(self, stuck):
        self.stuck, self.declared, self.waits = {*stuck}, set(), 0
        self._refused = None

    def exchange_declare(self, **_options):
        self._wait()

    def queue_declare(self, queue, nowait=False, **_options):
        if self._refused is None and queue in self.stuck:
            self._refused = queue
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

    def _wait(self):
        self.waits += 1
        refused, self._refused = self._refused, None
        if refused is not None:
            raise amqp.NotFound(f"NOT_FOUND - queue '{refused}' is down")


class RefusedTest(testtools.TestCase):
    def declare(self, stuck):
        """Declare all queues. Return the channel."""
        channel = Channel(stuck)
        connection = types.SimpleNamespace(
            channel=channel,
            connection=types.SimpleNamespace(channel_errors=(amqp.ChannelError,)),
            connection_id='one',
        )
        made = consumer.Consumer(
            NAMES,
            exchange_name='nova',
            durable=False,
            exchange_auto_delete=False,
            queue_auto_delete=False,
            callback=None,
        )
        made.declare(connection)
        return channel

    def test_none(self):
        channel = self.declare([])
        self.assertEqual({*NAMES}, channel.declared)
        self.assertEqual(1 + len(NAMES) // consumer.BATCH, channel.waits)

    def test_some(self):
        """All are declared in the end; the broker is not waited for at each."""
        channel = self.declare(NAMES[500:503])
        self.assertEqual({*NAMES}, channel.declared)
        self.assertEqual(set(), channel.stuck)
        self.assertLess(channel.waits, len(NAMES) / 10)
