"""Queues on a broker: asked for by name, and deleted."""

import kombu
import oslo_messaging
import testtools

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.rpc import queues
from nova_lite.rpc import transport
from tests.fixtures import rabbit
from tests.fixtures import servers


class QueuesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit)
        self.broker = servers.shared(rabbit.Rabbit)
        self.broker.renew('queues')
        url = self.broker.vhost_url('queues')
        self.bus = transport.open_bus(conf_module.make_conf(files=[]), url)
        self.addCleanup(self.bus.cleanup)
        other = kombu.Connection(url.replace('rabbit://', 'amqp://'))
        self.addCleanup(other.release)
        channel = other.channel()
        for name in ('idle', 'busy'):
            channel.queue_declare(queue=name)
        channel.basic_consume(queue='busy')

    def test_consumers_and_deletion_and_a_broker_that_stops(self):
        self.assertEqual(
            {'none': None, 'idle': 0, 'neither': None, 'busy': 1},
            queues.consumers(self.bus, ['none', 'idle', 'neither', 'busy']),
        )
        # Only a queue without a consumer is deleted.
        deleted = [queues.delete_unused(self.bus, name) for name in ('none', 'idle', 'busy')]
        self.assertEqual([True, True, False], deleted)
        self.assertEqual({'idle': None, 'busy': 1}, queues.consumers(self.bus, ['idle', 'busy']))
        self.addCleanup(self.broker.come_back)
        self.broker.withdraw()
        self.assertRaises(
            oslo_messaging.MessageDeliveryFailure, queues.consumers, self.bus, ['none']
        )

    def test_the_fixture_asks_several_at_once(self):
        pool = runtime.executor(4)
        self.addCleanup(pool.shutdown)
        asked = [pool.submit(self.broker.consumers, 'queues') for _ in range(24)]
        self.assertEqual([{'idle': 0, 'busy': 1}] * 24, [each.result(60) for each in asked])
