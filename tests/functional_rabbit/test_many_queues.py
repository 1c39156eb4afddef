"""One process that consumes the queues of many hosts."""

import collections

from amqp import connection as amqp_connection
from amqp import spec
import fixtures
import kombu
import oslo_messaging
import testtools

from nova_lite import conf as conf_module
from nova_lite import context
from nova_lite import rpc
from nova_lite import runtime
from nova_lite.rpc import transport
from tests.fixtures import rabbit
from tests.fixtures import servers

HOSTS = [f'host-{number}' for number in range(250)]
WAIT_S = 60


class FleetAPI(rpc.Interface):
    topic, version = 'fleet', '1.0'
    server_argument = 'host'

    @rpc.call(since='1.0')
    def name(self, ctxt, host):
        """Return the host that answers."""


class Fleet:
    def name(self, ctxt, host):
        return host


class Answers(fixtures.Fixture):
    """Counts what brokers send to this process, by method."""

    def _setUp(self):
        self.counts = counts = collections.Counter()
        inner = amqp_connection.Connection.on_inbound_method

        def count(connection, channel_id, method_sig, *others):
            counts[method_sig] += 1
            return inner(connection, channel_id, method_sig, *others)

        self.useFixture(fixtures.MonkeyPatch('amqp.connection.Connection.on_inbound_method', count))


class ManyQueuesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit)
        self.broker = servers.shared(rabbit.Rabbit)
        self.broker.renew('many')
        self.url = self.broker.vhost_url('many')
        self.conf = conf_module.make_conf(files=[])
        self.answers = self.useFixture(Answers()).counts

    def serve(self):
        bus = transport.open_bus(self.conf, self.url)
        self.addCleanup(bus.cleanup)
        server = FleetAPI.server(bus, HOSTS, Fleet())
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        server.start(override_pool_size=2)
        self.wait_for_consumers()
        api_bus = transport.open_bus(self.conf, self.url)
        self.addCleanup(api_bus.cleanup)
        self.api = FleetAPI(api_bus)

    def wait_for_consumers(self):
        wanted = {f'fleet.{host}': 1 for host in HOSTS}
        deadline = runtime.monotonic() + WAIT_S
        while True:
            found = self.broker.consumers('many')
            found = {name: count for name, count in found.items() if name in wanted}
            if found == wanted or runtime.monotonic() > deadline:
                break
            runtime.sleep(0.1)
        self.assertEqual(wanted, found)

    def assert_served(self):
        for host in (HOSTS[0], HOSTS[99], HOSTS[100], HOSTS[-1]):
            self.assertEqual(host, self.api.name(context.admin(), host=host))

    def assert_batches(self):
        """The broker is waited for once for each hundred queues."""
        self.assertEqual(
            {spec.Exchange.DeclareOk: 1, spec.Queue.BindOk: 3, spec.Basic.ConsumeOk: 3},
            {
                method: self.answers[method]
                for method in (
                    spec.Exchange.DeclareOk,
                    spec.Queue.DeclareOk,
                    spec.Queue.BindOk,
                    spec.Basic.ConsumeOk,
                )
                if self.answers[method]
            },
        )

    def test_start(self):
        self.serve()
        self.assert_batches()
        self.assert_served()

    def test_broker_comes_back(self):
        self.serve()
        self.addCleanup(self.broker.come_back)
        self.broker.withdraw()
        self.answers.clear()
        self.broker.come_back()
        self.wait_for_consumers()
        self.assert_batches()
        self.assert_served()

    def test_exchange_of_other_kind(self):
        """oslo.messaging replaces the exchange, and the broker is not asked for each queue.

        The exchange does not survive restarts, and the process wants one that does.
        """
        with kombu.Connection(self.url.replace('rabbit://', 'amqp://')) as other:
            other.channel().exchange_declare(transport.EXCHANGE, 'topic', auto_delete=False)
        self.url += '?amqp_durable_queues=true'
        self.serve()
        self.assert_halved()
        self.assert_served()
        self.addCleanup(self.broker.come_back)
        self.broker.withdraw()
        self.answers.clear()
        self.broker.come_back()
        self.wait_for_consumers()
        self.assert_halved()
        self.assert_served()

    def test_queue_of_other_kind(self):
        """It is refused, and no other queue becomes like it."""
        with kombu.Connection(self.url.replace('rabbit://', 'amqp://')) as other:
            other.channel().queue_declare(f'fleet.{HOSTS[0]}', durable=False, auto_delete=False)
        self.url += '?amqp_durable_queues=true'
        bus = transport.open_bus(self.conf, self.url)
        self.addCleanup(bus.cleanup)
        server = FleetAPI.server(bus, HOSTS, Fleet())
        self.assertRaises(oslo_messaging.MessageDeliveryFailure, server.start, override_pool_size=2)
        self.assertEqual({f'fleet.{HOSTS[0]}': 0}, self.broker.consumers('many'))

    def assert_halved(self):
        """The exchange is refused until one queue is left, and once to oslo.messaging."""
        halvings = len(HOSTS).bit_length()
        self.assertEqual(halvings + 1, self.answers[spec.Channel.Close])
        # That of the one queue, and one or two for each half that follows; and of replies.
        self.assertLess(self.answers[spec.Queue.BindOk], 2 * halvings)
        self.assertLess(self.answers[spec.Basic.ConsumeOk], 5)
