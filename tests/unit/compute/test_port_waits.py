"""Builds that wait for their ports."""

import types

import testtools

from nova_lite import exception
from nova_lite.compute import guest_work
from nova_lite.compute import plugs
from nova_lite.compute import port_waits
from tests.fixtures import clock

SERVER, PORT = 'server', 'port'
KEY = 'host', SERVER
INFO = [{'id': PORT, 'active': False}]
TIMEOUT_S = 25


class Network:
    """status: of the port; failure: what is raised in its place"""

    def __init__(self):
        self.status, self.failure, self.calls = 'DOWN', None, 0

    def ports(self, ctxt, server_uuid):
        self.calls += 1
        if self.failure:
            raise self.failure
        return [{'id': PORT, 'status': self.status}]


class WaitTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.network = Network()
        self.conf = types.SimpleNamespace(
            vif_plugging_timeout=TIMEOUT_S, vif_plugging_is_fatal=True
        )
        self.site = types.SimpleNamespace(conf=self.conf, network=self.network, plugs=plugs.Plugs())
        self.site.plugs.expect(KEY)

    def wait(self, *happens):
        """Play a wait; `happens` are called while it pauses. Returns (pauses, active)."""
        work, pauses = port_waits.wait(self.site, None, KEY, INFO), []
        happens = iter(happens)
        try:
            while True:
                wanted = next(work)
                self.assertIsInstance(wanted, guest_work.PauseForEvent)
                pauses.append(wanted.seconds)
                self.clock.runtime.advance(wanted.seconds)
                next(happens, lambda: None)()
        except StopIteration as end:
            return pauses, end.value[0]['active']

    def event(self, status='completed'):
        self.site.plugs.note(KEY, {PORT: status})

    def test_event(self):
        self.assertEqual(([10], True), self.wait(self.event))
        self.assertEqual(1, self.network.calls)

    def test_event_before_the_wait(self):
        self.event()
        self.assertEqual(([], True), self.wait())
        self.assertEqual(0, self.network.calls)

    def test_status_when_the_event_is_lost(self):
        self.network.failure = exception.Unavailable(service='network', reason='down')

        def plugged():
            self.network.failure, self.network.status = None, 'ACTIVE'

        self.assertEqual(([10], True), self.wait(plugged))

    def test_time_out(self):
        error = self.assertRaises(exception.NetworksNotAllocated, self.wait)
        self.assertIn('within 25 s', str(error.__cause__))
        self.assertFalse(error.reschedule)

    def test_time_out_that_is_not_fatal(self):
        self.conf.vif_plugging_is_fatal = False
        self.assertEqual(([10, 10, 5], False), self.wait())

    def test_failure(self):
        for fail in (
            lambda: self.event('failed'),
            lambda: setattr(self.network, 'status', 'ERROR'),
        ):
            self.site.plugs.forget(KEY)
            self.site.plugs.expect(KEY)
            self.assertRaises(exception.NetworksNotAllocated, self.wait, fail)

    def test_without_a_timeout_nothing_waits(self):
        self.conf.vif_plugging_timeout = 0
        self.assertEqual(([], False), self.wait())

    def test_events_of_servers_that_do_not_wait_are_not_kept(self):
        self.assertFalse(self.site.plugs.note(('host', 'other'), {PORT: 'completed'}))
        self.site.plugs.forget(KEY)
        self.assertFalse(self.site.plugs.note(KEY, {PORT: 'completed'}))
        self.assertEqual({}, self.site.plugs.of(KEY))

    def test_events_of_another_host_are_not_taken(self):
        other = 'another', SERVER
        self.site.plugs.expect(other)
        self.site.plugs.note(other, {PORT: 'failed'})
        self.assertEqual(([10], True), self.wait(self.event))
        self.site.plugs.forget(other)
        self.assertEqual({PORT: 'completed'}, self.site.plugs.of(KEY))
