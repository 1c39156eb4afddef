"""Builds: what a running guest takes, and that nothing stays of one that fails."""

import json

import testscenarios
import testtools

from nova_lite import exception
from nova_lite.clients import volume as volume_client
from nova_lite.compute import guest_work
from nova_lite.metadata import drive
from nova_lite.virt.sim import census
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.fixtures import cell

TRIES = len(guest_work.PERSIST_PAUSES_S) + 1
EVENT = 'compute__do_build_and_run_instance'
VOLUME = '33333333-3333-4333-8333-333333333333'
PORT = '44444444-4444-4444-8444-444444444444'
IMAGE_DISK = {
    'source_type': 'image',
    'destination_type': 'local',
    'boot_index': 0,
    'delete_on_termination': True,
}
EXISTING = {
    'source_type': 'volume',
    'destination_type': 'volume',
    'volume_id': VOLUME,
    'volume_size': 1,
}
NEW = {
    'source_type': 'blank',
    'destination_type': 'volume',
    'volume_size': 1,
    'delete_on_termination': True,
}


class TestBuild(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell())

    def test_plain(self):
        uuid = self.cell.boot()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        row = self.cell.row(uuid)
        self.assertEqual(1, row.power_state)
        self.assertIsNotNone(row.launched_at)
        self.assertIsNone(row.build)
        self.assertEqual({uuid: [('host-1', 'resident', 1)]}, self.cell.guests())
        self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_budget(self):
        self.cell.boot()
        self.assertEqual(['build_started', 'build_finished'], self.cell.lossy.calls)
        self.assertEqual([], self.cell.placement.calls)
        self.assertEqual([], self.cell.network.calls)
        self.assertEqual([], self.cell.volume.calls)

    def test_several_of_one_message(self):
        accepted = [self.cell.accept() for _ in range(3)]
        builds = [
            {
                'context': ctxt.to_wire(),
                'instance': self.cell.instance(uuid),
                'selection': self.cell.selection('host-1'),
                'block_devices': [],
                'requested_networks': 'none',
                'options': {},
            }
            for ctxt, uuid in accepted
        ]
        self.cell.compute.build_instances(accepted[0][0], 'host-1', builds)
        self.cell.run_dry()
        for _ctxt, uuid in accepted:
            self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
            self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_everything(self):
        self.cell.volume.add_volume(VOLUME)
        self.cell.network.add_port(PORT)
        uuid = self.cell.boot(
            networks=[{'network_id': 'net'}, {'port_id': PORT}], devices=[IMAGE_DISK, EXISTING, NEW]
        )
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(2, len(self.cell.row(uuid).network_info))
        self.assertEqual(
            ['/dev/vda', '/dev/vdb', '/dev/vdc'],
            [device.device_name for device in self.cell.devices(uuid)],
        )
        for entry in self.cell.volume.attachments.values():
            self.assertEqual(('host-1', True), (entry['host'], entry['complete']))
        self.assertEqual(
            ['/dev/vdb', '/dev/vdc'],
            sorted(entry['mountpoint'] for entry in self.cell.volume.attachments.values()),
        )
        self.assertEqual(2, len(self.cell.volume.volumes))
        guest = self.cell.driver.get_guest('host-1', uuid)
        self.assertEqual(4, len(guest.spec.devices))

    def test_new_volumes_are_asked_into_the_zone_of_the_server(self):
        """The client leaves it out where volumes of other zones may be used."""
        self.cell.boot(devices=[IMAGE_DISK, NEW], availability_zone='moon')
        self.assertEqual(['moon'], list(self.cell.volume.zones.values()))

    def test_config_drive(self):
        options = {
            'injected_files': [['/etc/motd', 'aGVsbG8=']],
            'admin_pass': 'open sesame',
        }
        uuid = self.cell.boot(
            networks=[{'network_id': 'net'}],
            options=options,
            config_drive='True',
            user_data='IyEvYmluL3No',
        )
        files = drive.unpack(census.drive(self.cell.guests_path, uuid))
        meta_data = json.loads(files['openstack/latest/meta_data.json'])
        self.assertEqual((uuid, 'open sesame'), (meta_data['uuid'], meta_data['admin_pass']))
        self.assertEqual(b'hello', files['openstack/content/0000'])
        self.assertEqual(b'#!/bin/sh', files['openstack/latest/user_data'])
        links = json.loads(files['openstack/latest/network_data.json'])['links']
        self.assertEqual(1, len(links))
        self.assertNotIn('open sesame', str(self.cell.row(uuid)))

    def test_no_config_drive(self):
        uuid = self.cell.boot(options={'injected_files': [['/etc/motd', 'aGVsbG8=']]})
        self.assertIsNone(census.drive(self.cell.guests_path, uuid))

    def test_reserved_volume_keeps_its_attachment(self):
        self.cell.volume.add_volume(VOLUME)
        ctxt, uuid = self.cell.accept(devices=[IMAGE_DISK])
        reserved = self.cell.volume.create_attachment(ctxt, VOLUME, uuid)['id']
        ctxt, uuid = self.cell.accept(devices=[IMAGE_DISK, {**EXISTING, 'attachment_id': reserved}])
        self.cell.send(ctxt, uuid)
        self.assertEqual([reserved], list(self.cell.volume.attachments))

    def test_repeated_message(self):
        ctxt, uuid = self.cell.accept()
        row_then = self.cell.row(uuid)
        self.cell.send(ctxt, uuid)
        before = self.cell.leftovers()
        self.cell.compute.build_instance(
            ctxt,
            'host-1',
            self.cell.instance(uuid),
            selection=self.cell.selection('host-1'),
            block_devices=[],
            requested_networks=row_then.build['requested_networks'],
            options={},
        )
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(before, self.cell.leftovers())

    def test_message_of_a_killed_daemon_finds_what_it_made(self):
        ctxt, uuid = self.cell.accept(networks=[{'network_id': 'net'}], devices=[IMAGE_DISK, NEW])
        row, device = self.cell.row(uuid), self.cell.devices(uuid)[1]
        self.cell.conductor.build_started(ctxt, 'host-1', uuid, row.node, None)
        marks = volume_client.marks_of(uuid, device)
        made = self.cell.volume.create(ctxt, size=1, **marks)['id']
        self.cell.send(ctxt, uuid)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual([made], list(self.cell.volume.volumes))
        self.assertEqual([made], [d.volume_id for d in self.cell.devices(uuid) if d.volume_id])

    def test_lost_replies(self):
        for method in ('build_started', 'build_finished'):
            for after in (False, True):
                ctxt, uuid = self.cell.accept()
                self.cell.lossy.lose(method, times=2, after=after)
                self.cell.send(ctxt, uuid)
                self.cell.run_dry()
                self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
                self.assertEqual([(EVENT, 'host-1', 'Success')], self.cell.events(uuid))

    def test_network_service_is_away_for_a_moment(self):
        for after in (False, True):
            error = exception.Unavailable(service='network', reason='test')
            self.cell.network.fail('allocate', error, times=2, after=after)
            uuid = self.cell.boot(['host-1'], networks=[{'network_id': 'net'}])
            self.cell.run_dry()
            self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
            own = [port for port in self.cell.network.ports.values() if port['server'] == uuid]
            self.assertEqual(1, len(own))

    def test_deleted_before(self):
        ctxt, uuid = self.cell.accept()
        self.cell.ask(uuid, 'delete', 'deleting')
        self.cell.send(ctxt, uuid)
        self.assertEqual(('building', 'deleting', 'host-1'), self.cell.state(uuid))
        self.assertEqual({}, self.cell.guests())

    def test_deleted_meanwhile(self):
        ctxt, uuid = self.cell.accept(networks=[{'network_id': 'net'}], devices=[NEW])
        finish = self.cell.conductor.build_finished

        def delete_first(*args, **kwargs):
            self.cell.ask(uuid, 'delete', 'deleting')
            return finish(*args, **kwargs)

        self.cell.conductor.build_finished = delete_first
        self.cell.send(ctxt, uuid)
        left = self.cell.leftovers()
        self.assertEqual({}, left['guests'])
        self.assertEqual({}, left['ports'])
        self.assertEqual({}, left['volumes'])
        self.assertEqual([], left['attachments'])
        self.assertEqual({}, left['allocations'])
        self.assertEqual(0, left['claims']['host-1']['VCPU'])

    def test_group_goes_elsewhere(self):
        group = {'uuid': 'group', 'policy': 'anti-affinity', 'rules': {}}
        member = {'options': {'group': group}, 'group_uuid': 'group'}
        first_ctxt, first = self.cell.accept(**member)
        second_ctxt, second = self.cell.accept(['host-1', 'host-2'], **member)
        for ctxt, uuid in ((first_ctxt, first), (second_ctxt, second)):
            self.cell.send(ctxt, uuid)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(first))
        self.assertEqual(('active', None, 'host-2'), self.cell.state(second))

    def test_hypervisor_is_off(self):
        hostpower.power_off(self.cell.guests_path, 'host-1')
        uuid = self.cell.boot(['host-1', 'host-2'])
        self.assertEqual(('active', None, 'host-2'), self.cell.state(uuid))

    def test_no_room_goes_elsewhere(self):
        ctxt, uuid = self.cell.accept(['host-1', 'host-2'])
        limits = self.cell.compute.site.inventory.limits('host-1')
        self.cell.compute.site.claims.claim('host-1', 'another', limits, limits)
        self.cell.send(ctxt, uuid)
        self.assertEqual(('active', None, 'host-2'), self.cell.state(uuid))
        self.assertEqual(
            [(EVENT, 'host-1', 'Error'), (EVENT, 'host-2', 'Success')], self.cell.events(uuid)
        )
        self.assertEqual(
            [self.cell.provider('host-2')], list(self.cell.placement.allocations[uuid])
        )


def failing_spawn(*, when, reschedule, host='*'):
    """A profile whose hosts that match fail the first spawn."""
    return profile.parse(f"""
extends: instant
failures:
  - verb: spawn
    match: {{host: '{host}'}}
    when: {when}
    reschedule: {str(reschedule).lower()}
""")


class TestFailedStages(testscenarios.WithScenarios, testtools.TestCase):
    """Each stage fails, before and after its effect: nothing stays but the fault."""

    scenarios = testscenarios.multiply_scenarios(
        [
            ('networks', {'at': ('network', 'allocate'), 'times': TRIES}),
            ('volume create', {'at': ('volume', 'create'), 'times': 1}),
            ('attach new', {'at': ('volume', 'create_attachment'), 'times': 1}),
            ('complete', {'at': ('volume', 'complete_attachment'), 'times': 1}),
        ],
        [('before', {'after': False}), ('after', {'after': True})],
    )

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell())
        self.cell.volume.add_volume(VOLUME)

    def test_aborts(self):
        neighbour, method = self.at
        before = self.cell.leftovers()
        error = exception.Unavailable(service=neighbour, reason='test')
        getattr(self.cell, neighbour).fail(method, error, times=self.times, after=self.after)
        uuid = self.cell.boot(
            ['host-1', 'host-2'],
            networks=[{'network_id': 'net'}],
            devices=[IMAGE_DISK, EXISTING, NEW],
        )
        self.cell.run_dry()
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertIn('aborted', self.cell.fault(uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))
        self.assertEqual(before, self.cell.leftovers())


class TestFailedRelease(testscenarios.WithScenarios, testtools.TestCase):
    """A build fails, and placement does not answer what it holds no longer."""

    scenarios = [
        (f'{times} times, {when} it released', {'times': times, 'after': when == 'after'})
        for times in (1, TRIES)
        for when in ('before', 'after')
    ]

    def test_keeps_no_host(self):
        self.cell = self.useFixture(cell.Cell())
        error = exception.Unavailable(service='volume', reason='test')
        self.cell.volume.fail('create', error, times=1)
        error = exception.Unavailable(service='placement', reason='test')
        self.cell.placement.fail('delete_allocations', error, times=self.times, after=self.after)
        uuid = self.cell.boot(devices=[NEW])
        self.cell.run_dry()
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        stays = self.times == TRIES and not self.after
        self.assertEqual([uuid] * stays, list(self.cell.leftovers()['allocations']))


class TestFailedSpawn(testscenarios.WithScenarios, testtools.TestCase):
    scenarios = [(when, {'when': when}) for when in ('before', 'during', 'after')]

    def build(self, *hosts, reschedule, match='*'):
        failing = failing_spawn(when=self.when, reschedule=reschedule, host=match)
        self.cell = self.useFixture(cell.Cell(profile=failing))
        self.cell.volume.add_volume(VOLUME)
        self.cell.network.add_port(PORT)
        self.before = self.cell.leftovers()
        return self.cell.boot(
            hosts,
            networks=[{'network_id': 'net'}, {'port_id': PORT}],
            devices=[IMAGE_DISK, EXISTING, NEW],
        )

    def test_aborts(self):
        uuid = self.build('host-1', 'host-2', reschedule=False)
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertIn('injected failure of spawn', self.cell.fault(uuid))
        self.assertEqual(self.before, self.cell.leftovers())

    def test_goes_elsewhere(self):
        uuid = self.build('host-1', 'host-2', 'host-3', reschedule=True, match='host-1')
        self.assertEqual(('active', None, 'host-2'), self.cell.state(uuid))
        self.assertEqual({uuid: [('host-2', 'resident', 1)]}, self.cell.guests())
        left = self.cell.leftovers()
        self.assertEqual({uuid: {self.cell.provider('host-2')}}, _held(left['allocations']))
        self.assertEqual({'host-2'}, {port['host'] for port in left['ports'].values()})
        self.assertEqual(2, len(left['ports']))
        self.assertEqual(2, len(left['volumes']))
        self.assertEqual(['host-2', 'host-2'], [host for _, _, host in left['attachments']])
        self.assertEqual(0, left['claims']['host-1']['VCPU'])

    def test_all_hosts_fail(self):
        uuid = self.build('host-1', 'host-2', 'host-3', reschedule=True)
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertIn('Exceeded maximum number of retries', self.cell.fault(uuid))
        self.assertEqual(
            [(EVENT, f'host-{number}', 'Error') for number in (1, 2, 3)], self.cell.events(uuid)
        )
        self.assertEqual({}, self.cell.leftovers()['guests'])
        self.assertEqual({}, self.cell.leftovers()['allocations'])

    def test_guest_cannot_be_destroyed(self):
        failing = profile.parse(f"""
extends: instant
failures:
  - {{verb: spawn, when: {self.when}, reschedule: true}}
  - {{verb: destroy}}
""")
        self.cell = self.useFixture(cell.Cell(profile=failing))
        uuid = self.cell.boot(['host-1', 'host-2'])
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))
        self.cell.driver.use_profile(profile.parse('extends: instant'))
        self.assertEqual(self.when != 'before', uuid in self.cell.guests())
        self.cell.compute._resume.run(0)
        self.assertEqual({}, self.cell.guests())
        self.assertEqual({}, self.cell.leftovers()['allocations'])
        self.assertEqual(('error', None, None), self.cell.state(uuid))

    def test_may_not_be_retried(self):
        failing = failing_spawn(when=self.when, reschedule=True)
        self.cell = self.useFixture(cell.Cell(profile=failing))
        uuid = self.cell.boot(options={'retry': False})
        self.assertIn('re-scheduled: spawn of guest', self.cell.fault(uuid))


def _held(allocations):
    return {consumer: set(held) for consumer, held in allocations.items()}
