"""Ports that are not plugged yet, as events and the network service tell of them."""

import testtools

from nova_lite import exception
from nova_lite.clients import plugging

INFO = [{'id': 'a', 'active': False}, {'id': 'b', 'active': True}, {'id': 'c', 'active': False}]


class Ports:
    def __init__(self, *ports):
        self._ports = ports

    def ports(self, ctxt, server_uuid):
        return [
            dict(zip(('id', 'status', 'admin_state_up'), port, strict=False))
            for port in self._ports
        ]


class PluggingTests(testtools.TestCase):
    def reread(self, *ports):
        return plugging.down(plugging.reread(Ports(*ports), None, 'server', INFO))

    def test_events(self):
        events = {'a': 'completed', 'c': 'in-progress', 'x': 'failed'}
        self.assertEqual(['c'], plugging.down(plugging.with_events(INFO, events)))
        self.assertEqual(['a', 'c'], plugging.down(INFO))

    def test_failed_event(self):
        error = self.assertRaises(
            exception.VirtualInterfaceCreateException, plugging.with_events, INFO, {'c': 'failed'}
        )
        self.assertIn('port c', error.message)

    def test_failed_event_of_an_active_port(self):
        self.assertEqual(['a', 'c'], plugging.down(plugging.with_events(INFO, {'b': 'failed'})))

    def test_status(self):
        self.assertEqual(['c'], self.reread(('a', 'ACTIVE', True), ('c', 'BUILD', True)))

    def test_ports_that_are_not_waited_for(self):
        """One that is switched off and one that was deleted."""
        self.assertEqual([], self.reread(('a', 'DOWN', False)))

    def test_port_in_error(self):
        error = self.assertRaises(
            exception.VirtualInterfaceCreateException, self.reread, ('a', 'ERROR', True)
        )
        self.assertIn('port a', error.message)
