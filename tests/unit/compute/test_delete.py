"""Deletion: nothing is left, whenever it comes and however often."""

import itertools
import logging

import fixtures
import testscenarios
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import release
from nova_lite.compute import device_calls
from nova_lite.compute import guest_work
from nova_lite.db.cell import instances
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.fixtures import clock

TRIES = len(guest_work.PERSIST_PAUSES_S) + 1
EVENT = 'compute_terminate_instance'
VOLUME = '33333333-3333-4333-8333-333333333333'
IMAGE = '55555555-5555-4555-8555-555555555555'
PORT = '44444444-4444-4444-8444-444444444444'
DEVICES = (
    {'source_type': 'image', 'destination_type': 'local', 'boot_index': 0},
    {
        'source_type': 'volume',
        'destination_type': 'volume',
        'volume_id': VOLUME,
        'volume_size': 1,
    },
    {
        'source_type': 'blank',
        'destination_type': 'volume',
        'volume_size': 1,
        'delete_on_termination': True,
    },
)
NETWORKS = [{'network_id': 'net'}, {'port_id': PORT}]


class Base(testtools.TestCase):
    profile = 'instant'

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell(hosts=('host-1', 'host-2'), profile=self.profile))
        self.cell.volume.add_volume(VOLUME)
        self.cell.network.add_port(PORT)
        self.before = self.cell.leftovers()

    def boot(self):
        return self.cell.boot(networks=NETWORKS, devices=DEVICES)

    def check_gone(self, uuid):
        row = self.cell.row(uuid)
        self.assertTrue(row.deleted)
        self.assertEqual(('deleted', None), (row.vm_state, row.task_state))
        self.assertEqual([], self.cell.devices(uuid))
        self.assertEqual(self.before, self.cell.leftovers())
        self.assertEqual((EVENT, 'host-1', 'Success'), self.cell.events(uuid)[-1])


class TestDelete(Base):
    def test_everything_goes_back(self):
        uuid = self.boot()
        self.cell.delete(uuid)
        self.check_gone(uuid)

    def test_port_that_is_reported_as_deleted_later(self):
        """Neutron reports also the ports that are deleted with their server."""
        uuid = self.boot()
        self.cell.delete(uuid)
        log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        calls = device_calls.DeviceCalls(self.cell.compute.site)
        calls.drop_interface(context.admin(), 'host-1', uuid, PORT)
        self.assertEqual('', log.output)

    def test_calls(self):
        uuid = self.boot()
        self.cell.lossy.calls.clear()
        self.cell.delete(uuid)
        self.assertEqual(['delete_started', 'instance_deleted'], self.cell.lossy.calls)
        self.assertEqual(['delete_allocations'], self.cell.placement.calls)

    def test_repeated(self):
        uuid = self.boot()
        ctxt = self.cell.ask(uuid, 'delete', 'deleting')
        message = self.cell.instance(uuid)
        self.cell.compute.delete_instance(ctxt, 'host-1', message)
        self.cell.compute.delete_instance(ctxt, 'host-1', message)
        self.check_gone(uuid)

    def test_nobody_asked_for_it(self):
        uuid = self.boot()
        running = self.cell.leftovers()
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        self.cell.compute.delete_instance(ctxt, 'host-1', self.cell.instance(uuid))
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(running, self.cell.leftovers())

    def test_server_of_another_host(self):
        uuid = self.boot()
        running = self.cell.leftovers()
        ctxt = self.cell.ask(uuid, 'delete', 'deleting')
        self.cell.compute.delete_instance(ctxt, 'host-2', self.cell.instance(uuid))
        self.assertEqual(running, self.cell.leftovers())

    def test_never_sent_to_its_host(self):
        _ctxt, uuid = self.cell.accept(networks=NETWORKS, devices=DEVICES)
        self.cell.delete(uuid)
        self.check_gone(uuid)

    def test_volume_that_cannot_be_deleted_stays(self):
        """One that has snapshots, for instance: the server goes all the same, as in nova."""
        uuid = self.boot()
        made = set(self.cell.volume.volumes) - {VOLUME}
        error = exception.Conflict('Invalid volume: Volume must not have snapshots.')
        self.cell.volume.fail('delete', error)
        self.cell.delete(uuid)
        left = set(self.cell.volume.volumes) - {VOLUME}
        self.assertEqual(made, left)
        for volume_id in made:
            self.cell.volume.volumes.pop(volume_id)
        self.check_gone(uuid)

    def shelved(self):
        """A server whose guest is on its host and whose disk is an image too."""
        uuid = self.boot()
        self.cell.image.add_image(IMAGE, image_type='snapshot', instance_uuid=uuid, status='active')
        values = {'vm_state': 'shelved', 'system_metadata': {release.SHELVED_IMAGE: IMAGE}}
        self.cell.db.write(instances.force, uuid, values)
        return uuid

    def test_the_image_it_is_shelved_in_goes_too(self):
        uuid = self.shelved()
        away = exception.Unavailable(service='image', reason='test')
        self.cell.image.fail('delete', away, times=1)
        self.cell.delete(uuid)
        self.cell.run_dry()
        self.assertEqual({}, self.cell.image.images)
        self.check_gone(uuid)

    def test_a_protected_image_stays(self):
        uuid = self.shelved()
        self.cell.image.fail('delete', exception.Forbidden('Image is protected.'))
        self.cell.delete(uuid)
        self.assertEqual([IMAGE], list(self.cell.image.images))
        self.cell.image.images.clear()
        self.check_gone(uuid)

    def test_guest_is_lost(self):
        uuid = self.boot()
        self.cell.driver.destroy('host-1', uuid, key='an accident')
        self.cell.delete(uuid)
        self.check_gone(uuid)


class TestFailures(testscenarios.WithScenarios, Base):
    scenarios = testscenarios.multiply_scenarios(
        [
            ('ports', {'at': ('network', 'deallocate')}),
            ('attachments', {'at': ('volume', 'delete_attachment')}),
            ('volumes', {'at': ('volume', 'delete')}),
            ('allocations', {'at': ('placement', 'delete_allocations')}),
        ],
        [('before', {'after': False}), ('after', {'after': True})],
    )

    def test_waits_for_it(self):
        if self.after and self.at == ('volume', 'delete_attachment'):
            return  # its effect took place: asked again, it has nothing left to fail at
        uuid = self.boot()
        neighbour, method = self.at
        error = exception.Unavailable(service=neighbour, reason='test')
        getattr(self.cell, neighbour).fail(method, error, times=TRIES, after=self.after)
        self.cell.delete(uuid)
        self.cell.run_dry()
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(uuid))
        self.cell.compute._resume.run(0)
        self.check_gone(uuid)

    def test_away_for_a_moment(self):
        uuid = self.boot()
        neighbour, method = self.at
        error = exception.Unavailable(service=neighbour, reason='test')
        getattr(self.cell, neighbour).fail(method, error, times=1, after=self.after)
        self.cell.delete(uuid)
        self.cell.run_dry()
        self.check_gone(uuid)


class TestRefusals(testscenarios.WithScenarios, Base):
    """Of all but a volume's deletion, see above: the user is told, and may delete again."""

    scenarios = [
        ('ports', {'at': ('network', 'deallocate')}),
        ('attachments', {'at': ('volume', 'delete_attachment')}),
        ('allocations', {'at': ('placement', 'delete_allocations')}),
    ]

    def test_refused(self):
        uuid = self.boot()
        neighbour, method = self.at
        error = exception.Forbidden('not yours')
        getattr(self.cell, neighbour).fail(method, error, times=1)
        self.cell.delete(uuid)
        self.cell.run_dry()
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual((EVENT, 'host-1', 'Error'), self.cell.events(uuid)[-1])
        self.assertIn('not yours', self.cell.fault(uuid))
        self.cell.delete(uuid)
        self.check_gone(uuid)


class TestGuestStays(Base):
    profile = profile.parse('extends: instant\nfailures:\n  - {verb: destroy, first: 1}\n')

    def test_error_then_again(self):
        uuid = self.boot()
        self.cell.delete(uuid)
        self.assertEqual(('error', None, 'host-1'), self.cell.state(uuid))
        self.cell.delete(uuid)
        self.check_gone(uuid)


class Timed(Base):
    def setUp(self):
        self.clock = self.useFixture(clock.ManualClock())
        super().setUp()

    def settle(self, seconds=0):
        self.clock.advance(seconds)
        self.cell.compute.site.jobs.wake_due()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))


class TestHostWithoutPower(Timed):
    """A deletion that was accepted is finished when its host's hypervisor answers again."""

    profile = profile.parse('extends: instant\nhosts:\n  - {delays: {destroy: 10}}\n')

    def check_is_owed(self, uuid):
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(uuid))
        self.settle(61)
        self.cell.compute.audit()
        self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(uuid))
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.settle(61)
        self.cell.compute.audit()
        self.settle(10)
        self.check_gone(uuid)

    def test_off_before(self):
        uuid = self.boot()
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.cell.delete(uuid)
        self.check_is_owed(uuid)

    def test_off_while_the_guest_is_destroyed(self):
        uuid = self.boot()
        self.cell.delete(uuid)
        self.settle(5)
        hostpower.power_off(self.cell.guests_path, 'host-1')
        self.settle(5)
        self.check_is_owed(uuid)

    def test_off_and_on_while_the_guest_is_destroyed(self):
        uuid = self.boot()
        self.cell.delete(uuid)
        self.settle(5)
        hostpower.power_off(self.cell.guests_path, 'host-1')
        hostpower.power_on(self.cell.guests_path, 'host-1')
        self.settle(5)
        self.settle(10)
        self.check_gone(uuid)


class TestPowerLostAtEachTry(Base):
    profile = profile.parse(
        'extends: instant\nfailures:\n  - {verb: destroy, first: 6, error: HypervisorUnavailable}\n'
    )

    def test_ends_in_the_end(self):
        """Each time it is taken up it tries twice at most; it is tried at looks 1, 2, 4, 8, 12."""
        uuid = self.boot()
        self.cell.delete(uuid)
        tries = 0
        while not self.cell.row(uuid).deleted:
            self.assertEqual(('active', 'deleting', 'host-1'), self.cell.state(uuid))
            self.cell.compute._resume.run(0)
            tries += 1
        self.assertEqual(12, tries)
        self.check_gone(uuid)


class TestWhileBuilding(Timed):
    profile = profile.parse(
        'extends: instant\nhosts:\n  - {delays: {spawn: 10, power_off: 10, snapshot: 10}}\n'
    )

    def test_interrupts_a_build(self):
        uuid = self.boot()
        self.assertEqual(('building', 'spawning', 'host-1'), self.cell.state(uuid))
        self.cell.delete(uuid)
        self.settle()
        self.check_gone(uuid)
        self.assertEqual('Error', self.cell.events(uuid)[0][2])

    def test_interrupts_an_action(self):
        uuid = self.boot()
        self.settle(10)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        ctxt = self.cell.ask(uuid, 'stop', 'powering-off')
        self.cell.compute.stop_instance(ctxt, 'host-1', self.cell.instance(uuid))
        self.cell.delete(uuid)
        self.settle()
        self.check_gone(uuid)

    def test_a_hard_reboot_ends_what_it_interrupts(self):
        uuid = self.boot()
        self.settle(10)
        asked = self.cell.ask(uuid, 'stop', 'powering-off')
        self.cell.compute.stop_instance(asked, 'host-1', self.cell.instance(uuid))
        again = self.cell.ask(uuid, 'reboot', 'rebooting_hard')
        self.cell.compute.reboot_instance(again, 'host-1', self.cell.instance(uuid), 'HARD')
        for _ in range(3):
            self.settle(10)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(
            [
                ('compute_stop_instance', 'host-1', 'Error'),
                ('compute_reboot_instance', 'host-1', 'Success'),
            ],
            self.cell.events(uuid)[-2:],
        )

    def test_a_hard_reboot_drops_the_image_of_what_it_interrupts(self):
        uuid = self.boot()
        self.settle(10)
        self.cell.image.add_image(IMAGE, instance_uuid=uuid)
        asked = self.cell.ask(uuid, 'createImage', 'image_snapshot_pending')
        self.cell.compute.snapshot_instance(asked, 'host-1', self.cell.instance(uuid), IMAGE)
        again = self.cell.ask(uuid, 'reboot', 'rebooting_hard')
        self.cell.compute.reboot_instance(again, 'host-1', self.cell.instance(uuid), 'HARD')
        for _ in range(3):
            self.settle(10)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual({}, self.cell.image.images)
        self.assertNotIn(None, [result for _event, _host, result in self.cell.events(uuid)])

    def test_asked_again_and_again(self):
        """Repeated requests neither restart the deletion, nor is each kept for later."""
        self.cell.driver.use_profile(
            profile.parse('extends: instant\nhosts:\n  - {delays: {destroy: 10}}\n')
        )
        uuid = self.boot()
        requests = [self.cell.ask(uuid, 'delete', 'deleting') for _time in range(20)]
        message = self.cell.instance(uuid)
        for ctxt in requests:
            self.cell.compute.delete_instance(ctxt, 'host-1', message)
            self.settle(0.4)
        self.settle(2)
        self.check_gone(uuid)
        calls = self.cell.lossy.calls
        self.assertEqual(1, calls.count('instance_deleted'))
        self.assertLessEqual(calls.count('delete_started'), 2)

    def test_waits_for_a_volume(self):
        self.cell.volume.created_as = 'creating'
        uuid = self.boot()
        self.assertEqual(2, len(self.cell.volume.volumes))
        self.cell.delete(uuid)
        self.settle()
        self.check_gone(uuid)

    def test_looks_at_a_volume_ever_less_often(self):
        self.cell.volume.created_as = 'creating'
        self.boot()
        looks = [0]
        for hundredth in range(1, 260):
            before = self.cell.volume.calls.count('get')
            self.settle(0.01)
            if self.cell.volume.calls.count('get') > before:
                looks.append(hundredth)
        pauses = [later - sooner for sooner, later in itertools.pairwise(looks)]
        wanted = [5, 10, 20, 40, 80, 100]
        self.assertEqual(len(wanted), len(pauses), pauses)
        for number, pause in zip(wanted, pauses, strict=True):
            self.assertIn(pause, (number, number + 1))
