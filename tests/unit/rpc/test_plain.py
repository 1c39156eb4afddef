"""Buses by the documented names of oslo.messaging alone."""

import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab import memory_broker
from nova_lite.lab.launcher import tap
from nova_lite.notify import outlets
from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import plain
from nova_lite.rpc import transport
from tests.unit.rpc import test_interface


class Event:
    """A notification, as an outlet sends it."""

    context, priority, publisher_id = {}, 'INFO', 'nova-compute:host-1'

    def bodies(self, conf):
        return [(['topic'], {'event_type': 'instance.create.end', 'payload': {'uuid': 'some'}})]


class PlainTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(messaging.LIBRARY, 'is_used', False)
        memory_broker.install()
        self.conf = conf.make_conf(files=[])

    def serve(self, manager):
        """Serve two hosts on a bus of its own. Return the URL of the bus."""
        url = f'{transport.EMBEDDED}{runtime.new_uuid()}'
        server = test_interface.ToyAPI.server(self.open(url), ['host-1', 'host-2'], manager)
        self.assertIsInstance(server, plain.Servers)
        server.start(override_pool_size=2)
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        return url

    def open(self, url):
        bus = transport.open_bus(self.conf, url)
        self.assertFalse(buses.of(bus).shares)
        return bus

    def test_calls_and_casts_to_each_host(self):
        manager, other = test_interface.Toy(), test_interface.Toy()
        client = test_interface.ToyAPI(self.open(self.serve(manager)))
        self.serve(other)
        ctxt = context.admin()
        for host in ('host-1', 'host-2'):
            self.assertEqual(3, client.add(ctxt, host=host, first=1))
        client.nudge(ctxt, host='host-2', thing='it')
        self.assertTrue(runtime.wait(manager.nudged, 10))
        self.assertEqual('pong', client.ping('host-1'))
        self.assertEqual(['host-1', 'host-2', 'it'], [each[-1] for each in manager.seen])
        self.assertEqual([], other.seen)

    def test_errors_are_ours(self):
        client = test_interface.ToyAPI(self.open(self.serve(test_interface.Toy())))
        for first, kind in ((None, exception.InstanceNotFound), ('bug', exception.RemoteError)):
            error = self.assertRaises(kind, client.add, context.admin(), host='host-1', first=first)
            self.assertIs(kind, type(error))

    def test_notifications_are_heard(self):
        url = f'{transport.EMBEDDED}{runtime.new_uuid()}'
        self.conf.set_override('driver', ['messagingv2'], 'oslo_messaging_notifications')
        heard = tap.opened(self.conf, url, ['topic'])
        self.addCleanup(heard.close)
        outlet = outlets.Outlet(self.conf, 'bus', url)
        outlet.send(Event())
        [found] = heard.take(10)
        self.assertEqual(
            ('instance.create.end', {'uuid': 'some'}, 'INFO'),
            tuple(found[name] for name in ('event_type', 'payload', 'priority')),
        )
        outlet.close()
