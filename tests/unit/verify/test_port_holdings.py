"""Allocations that ports should have in placement beside their servers (I4)."""

from tests.unit.verify import base

BRIDGE, CLASS = 'a bridge', 'NET_BW_EGR_KILOBIT_PER_SEC'


class PortHoldingsTest(base.VerifyTest):
    def setUp(self):
        super().setUp()
        asked = {'request_groups': [{'id': 'g', 'required': [], 'resources': {CLASS: 5}}]}
        for port in self.snapshot.ports:
            if port['id'] == base.PORT:
                port['resource_request'] = asked
        self.allocate(base.HOST)
        self.held = self.snapshot.allocations[base.SERVER]

    def allocate(self, *hosts):
        self.snapshot.port_allocations = {base.PORT: {host: {'g': BRIDGE} for host in hosts}}

    def test_held_with_the_server(self):
        self.held[BRIDGE] = {CLASS: 5}
        self.assertEqual([], self.found())

    def test_lost_and_other_amounts(self):
        for amount in (None, 4):
            if amount:
                self.held[BRIDGE] = {CLASS: amount}
            (found,) = self.found()
            self.assertIn(f'I4 consumer {base.SERVER}: should hold', found)

    def test_not_of_a_port(self):
        self.allocate()
        self.held[BRIDGE] = {CLASS: 5}
        (found,) = self.found()
        self.assertIn(BRIDGE, found)
