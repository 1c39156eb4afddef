"""Ports that hosts plug late, wrongly or never, and what Nova is notified of."""

import testtools

from nova_lite.virt.sim import port_rules
from nova_lite.virt.sim import profile
from tests.fixtures import clock
from tests.fixtures import http
from tests.unit.simcloud import base
from tests.unit.simcloud import test_external_events

SERVER = test_external_events.SERVER
PORTS = '/network/v2.0/ports'
PROFILE = """
ports:
  - match: {host: slow-*}
    delay: 5
  - match: {host: broken}
    delay: 5
    outcome: failed
  - match: {host: silent}
    outcome: lost
  - match: {host: bridged}
    delay: 0
    hybrid_plug: true
  - match: {port: chosen, network: private}
    outcome: lost
"""


class PluggingTestCase(base.SimCloudTestCase):
    def setUp(self):
        self.compute = test_external_events.Compute()
        self.clock = self.useFixture(clock.ManualClock()).runtime
        super().setUp()
        self.nova = self.believed('nova', 'service', 'admin', 'service')

    def open(self, **options):
        url = self.useFixture(http.Http({'/compute/v2.1': self.compute})).url
        return super().open(
            compute_events=True,
            endpoints={'compute': f'{url}/compute/v2.1'},
            port_rules=port_rules.PortRules(profile.parse(PROFILE).ports),
            **options,
        )

    def bound(self, host, **values):
        """A port of a server, as it is answered when it is bound to `host`."""
        port = self.port(self.demo, 'private', **values)
        return self.bind(port, host)

    def bind(self, port, host):
        body = {'device_id': SERVER, 'device_owner': 'compute:nova', 'binding:host_id': host}
        return self.nova.put(f'{PORTS}/{port["id"]}', {'port': body})['port']

    def status(self, port):
        return self.nova.get(f'{PORTS}/{port["id"]}')['port']['status']

    def with_status(self, status):
        found = self.nova.get(f'{PORTS}?device_id={SERVER}&status={status}')['ports']
        return [port['id'] for port in found]

    def test_port_is_plugged_late(self):
        port = self.bound('slow-1')
        self.assertEqual('DOWN', port['status'])
        self.assertEqual([port['id']], self.with_status('DOWN'))
        self.clock.advance(5)
        self.assertEqual('ACTIVE', self.status(port))
        self.assertEqual(([], [port['id']]), (self.with_status('DOWN'), self.with_status('ACTIVE')))
        self.assertEqual('ACTIVE', self.bind(port, 'slow-1')['status'])
        self.assertEqual('DOWN', self.bind(port, 'slow-2')['status'])

    def test_port_fails(self):
        port = self.bound('broken')
        self.assertEqual('DOWN', port['status'])
        self.clock.advance(5)
        self.assertEqual('ERROR', self.status(port))
        self.assertEqual([port['id']], self.with_status('ERROR'))
        self.assertEqual('ACTIVE', self.bind(port, 'other')['status'])

    def test_port_is_never_plugged(self):
        port = self.bound('silent')
        self.clock.advance(3600)
        self.assertEqual('DOWN', self.status(port))
        self.assertEqual('DOWN', self.bound('other', name='chosen')['status'])
        self.assertEqual('ACTIVE', self.bound('other', name='else')['status'])

    def test_a_later_change_does_not_draw_again(self):
        port = self.bound('other')
        changed = self.nova.put(f'{PORTS}/{port["id"]}', {'port': {'name': 'chosen'}})['port']
        self.assertEqual('ACTIVE', changed['status'])
        self.assertEqual('ACTIVE', self.bind(port, 'other')['status'])
        self.assertEqual('DOWN', self.bind(port, 'another')['status'])

    def test_only_ports_of_servers_wait(self):
        port = self.port(self.admin, **{'binding:host_id': 'silent'})
        self.assertEqual('ACTIVE', port['status'])

    def test_without_rules_what_waited_is_active(self):
        port = self.bound('silent')
        self.wsgi = super().open(auth='noauth')
        self.nova = self.believed('nova', 'service', 'admin', 'service')
        self.assertEqual('ACTIVE', self.status(port))

    def test_binding_prepared_on_a_host_that_plugs_before(self):
        port = self.bound('other')
        path = f'{PORTS}/{port["id"]}/bindings'
        made = self.nova.post(path, {'binding': {'host': 'slow-1'}})['binding']
        self.assertIs(False, made['vif_details']['ovs_hybrid_plug'])
        self.nova.post(path, {'binding': {'host': 'bridged'}})
        found = self.nova.get(f'{path}/bridged')['binding']
        self.assertIs(True, found['vif_details']['ovs_hybrid_plug'])
        expected = [('network-vif-plugged', SERVER, port['id'])]
        self.assertEqual(expected, self.compute.wait_for(1))
        self.assertEqual('ACTIVE', self.status(port))

    def test_activated_binding_waits(self):
        port = self.bound('other')
        self.nova.post(f'{PORTS}/{port["id"]}/bindings', {'binding': {'host': 'slow-1'}})
        self.nova.put(f'{PORTS}/{port["id"]}/bindings/slow-1/activate', {})
        self.assertEqual('DOWN', self.status(port))


class EventsTestCase(base.SimCloudTestCase):
    """The events themselves, on the machine's clock."""

    PROFILE = """
ports:
  - delay: 0.2
  - match: {host: broken}
    outcome: failed
"""

    def setUp(self):
        self.compute = test_external_events.Compute()
        super().setUp()

    def open(self, **options):
        url = self.useFixture(http.Http({'/compute/v2.1': self.compute})).url
        return super().open(
            compute_events=True,
            endpoints={'compute': f'{url}/compute/v2.1'},
            port_rules=port_rules.PortRules(profile.parse(self.PROFILE).ports),
            **options,
        )

    def test_each_event_is_sent_when_it_is_due(self):
        nova = self.believed('nova', 'service', 'admin', 'service')
        late, broken = self.port(self.demo, 'private'), self.port(self.demo, 'private')
        for port, host in ((late, 'h1'), (broken, 'broken')):
            body = {'device_id': SERVER, 'device_owner': 'compute:nova', 'binding:host_id': host}
            nova.put(f'{PORTS}/{port["id"]}', {'port': body})
        self.compute.wait_for(2)
        found = [(event['tag'], event['status']) for event in self.compute.events]
        self.assertEqual([(broken['id'], 'failed'), (late['id'], 'completed')], found)


class RulesTests(testtools.TestCase):
    """Rules that are mistaken."""

    def test_refused(self):
        for text, place in (
            ('ports: [{outcome: never}]', 'ports[0].outcome'),
            ('ports: [{probability: 2}]', 'ports[0].probability'),
            ('ports: [{match: {server: x}}]', 'ports[0].match'),
            ('ports: [{delay: soon}]', 'ports[0].delay'),
        ):
            error = self.assertRaises(profile.ProfileError, profile.parse, text)
            self.assertIn(place, str(error))

    def test_probability_and_speed(self):
        rules = port_rules.PortRules(
            profile.parse('ports: [{delay: 4}, {outcome: lost, probability: 0}]').ports, speed=2
        )
        plug = rules.draw(host='h', network='n', port='')
        self.assertEqual((2.0, 'completed'), (plug.delay_s, plug.outcome))
