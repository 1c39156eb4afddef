"""Guests against records (I3, I5, I6, I9)."""

import dataclasses
import datetime

from nova_lite import states
from nova_lite.virt import model
from tests.unit.verify import base

POWER = 'I9 power of server a server: '
SHUTDOWN, RUNNING = 4, 1


class GuestsTest(base.VerifyTest):
    def have(self, *guests, **columns):
        """Return what is found of these guests, the server's record being as said."""
        self.set(**columns)
        self.snapshot.guests = list(guests)
        return self.found()

    def test_sound(self):
        self.assertEqual([], self.found())

    def test_double_run(self):
        self.assertEqual(
            [
                "I3 server a server: runs on ['host-1', 'host-2']",
                'I5 guest a server: is on host-2 without a record',
            ],
            self.have(base.guest(), base.guest(node='host-2')),
        )

    def test_config_drive_without_a_guest(self):
        self.snapshot.ownerless_drives.append(('g', 'host-1'))
        self.assertEqual(
            ['I5 config drive of guest g: is on host-1 without the guest'], self.found()
        )

    def test_a_row_that_is_no_resident_guest_is_none(self):
        for role in (model.Role.DEPARTED, model.Role.INCOMING, model.Role.DISKS_ONLY):
            self.assertEqual(
                ['I5 server a server: has no guest on host-1'], self.have(base.guest(role=role))
            )

    def test_rescued_servers_have_guests(self):
        self.assertEqual(
            ['I5 server a server: has no guest on host-1'], self.have(vm_state='rescued')
        )

    def test_power(self):
        off = base.guest(power_state=states.PowerState.SHUTDOWN)
        on = base.guest(power_state=states.PowerState.RUNNING)
        self.assertEqual([f'{POWER}is SHUTDOWN, the server is active'], self.have(off))
        self.assertEqual(
            [f'{POWER}is RUNNING, the server is stopped'],
            self.have(on, vm_state='stopped', power_state=SHUTDOWN),
        )
        self.assertEqual(
            [f'{POWER}is SHUTDOWN, on record is RUNNING'],
            self.have(off, vm_state='resized', power_state=RUNNING),
        )
        self.assertEqual([], self.have(off, vm_state='stopped', power_state=SHUTDOWN))
        self.assertEqual([], self.have(off, vm_state='error'))

    def test_power_that_the_audit_may_have_to_see_yet(self):
        young = base.NOW - datetime.timedelta(seconds=50)
        off = base.guest(power_state=states.PowerState.SHUTDOWN)
        for guest, columns in (
            (dataclasses.replace(off, changed_at=young), {}),
            (off, {'updated_at': young}),
            (off, {'updated_at': None, 'created_at': young}),
        ):
            self.set(updated_at=base.LONG_AGO)
            self.assertEqual([], self.have(guest, **columns))
            self.assertEqual([f'{POWER}is SHUTDOWN, the server is active'], self.found(power=40))

    def test_power_on_a_host_that_is_down(self):
        self.cell.down = frozenset((base.HOST,))
        off = base.guest(power_state=states.PowerState.SHUTDOWN)
        self.assertEqual([], self.have(off))

    def test_jobs_of_servers_at_rest(self):
        working = base.guest(jobs=1)
        self.assertEqual(['I6 guest a server: has 1 jobs on host-1'], self.have(working))
        self.assertEqual([], self.have(working, task_state='powering-off', updated_at=base.NOW))

    def test_size(self):
        self.assertEqual(
            ['I5 size of guest a server: is (1, 64), the flavor says (2, 64)'],
            [
                each
                for each in self.have(
                    base.guest(), flavor={**base.FLAVOR, 'vcpus': 2, 'extra_specs': {}}
                )
                if 'size' in each
            ],
        )

    def test_devices(self):
        port = model.Device(model.DeviceKind.INTERFACE, base.PORT)
        other = model.Device(model.DeviceKind.VOLUME, 'other')
        lacks = base.guest(devices=(port,))
        more = base.guest(devices=(*base.guest().spec.devices, other))
        self.assertEqual(["I5 volumes of guest a server: lack ['a volume']"], self.have(lacks))
        surplus = ["I5 volumes of guest a server: ['other'] are not on record"]
        self.assertEqual(surplus, self.have(more))
        # Of a server that failed there may be less, and never more.
        self.assertEqual(surplus, self.have(more, vm_state='error'))
        self.assertEqual([], self.have(lacks, vm_state='error'))


class EvacuatedTest(base.VerifyTest):
    """Guests left on the host that a server was evacuated from."""

    def setUp(self):
        super().setUp()
        self.cell.migrations = [base.migration(migration_type='evacuation', status='done')]
        self.snapshot.guests = [
            base.guest(),
            base.guest(node='host-2', power_state=states.PowerState.SHUTDOWN),
        ]

    def test_may_stay_while_the_host_is_down(self):
        self.cell.down = frozenset(('host-2',))
        self.assertEqual([], self.found())

    def test_may_stay_if_its_service_was_deleted(self):
        self.assertEqual([], self.found())

    def test_must_go_when_the_host_is_back(self):
        self.cell.services.append(base.service('host-2'))
        self.cell.nodes.append(base.node('host-2'))
        self.assertIn('I5 guest a server: is on host-2 without a record', self.found())

    def test_does_not_stay_after_it_was_cleaned(self):
        self.cell.down = frozenset(('host-2',))
        self.cell.migrations[0].status = 'completed'
        self.assertEqual(['I5 guest a server: is on host-2 without a record'], self.found())
