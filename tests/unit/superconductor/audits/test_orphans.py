"""Providers that the audit of allocations reads, on the real placement."""

from nova_lite.superconductor.audits import orphans
from tests.unit.clients import base


class ConsumersTest(base.PlacementTestCase):
    def setUp(self):
        super().setUp()
        self.one, self.other = self.add_host('one'), self.add_host('other')
        self.consumers = orphans.Consumers(self.placement)
        self.first = self.claim(self.one)
        self.read()

    def claim(self, host):
        made = base.consumer()
        self.assertTrue(self.placement.claim(self.admin, made, base.request(host), new=True))
        return made

    def read(self):
        """({(provider, consumer)}, providers whose allocations were asked for)"""
        listed = self.providers.list(self.admin)
        found, requests = self.count_requests(self.consumers.read, listed)
        return {*found}, {path.split('/')[3] for _method, path in requests}

    def test_nothing_has_changed(self):
        self.assertEqual(({(self.one, self.first.uuid)}, set()), self.read())

    def test_one_has_gained(self):
        second = self.claim(self.other)
        expected = {(self.one, self.first.uuid), (self.other, second.uuid)}
        self.assertEqual((expected, {self.other}), self.read())

    def test_a_move_has_taken_over(self):
        move = base.consumer()
        self.placement.move_allocations(self.admin, self.first.uuid, move.uuid, new=True)
        self.assertEqual(({(self.one, move.uuid)}, {self.one}), self.read())

    def test_what_was_lost_is_seen_once_it_is_forgotten(self):
        path = f'/allocations/{self.first.uuid}'
        self.providers.service.call(self.admin, 'DELETE', path)
        found, _asked = self.read()
        self.assertEqual({(self.one, self.first.uuid)}, found)
        self.consumers.forget([self.one])
        self.assertEqual((set(), {self.one}), self.read())

    def test_a_provider_is_gone(self):
        self.providers.delete(self.admin, self.other)
        self.assertEqual(({(self.one, self.first.uuid)}, set()), self.read())
