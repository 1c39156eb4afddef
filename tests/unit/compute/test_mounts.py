"""Shares that a host mounts before a guest starts and unmounts after it stopped."""

from nova_lite.db.cell import shares
from nova_lite.virt import model
from tests.unit.compute import test_power


class MountsTest(test_power.Base):
    def setUp(self):
        super().setUp()
        self.act('stop')
        self.add('one')

    def add(self, name, status='inactive', granted=True):
        columns = {
            'uuid': name,
            'share_id': f'share {name}',
            'tag': name,
            'share_proto': 'NFS',
            'export_location': 'there',
            'access_type': 'ip',
            'access_to': '10.0.0.1',
            'granted': granted,
        }
        self.cell.db.write(shares.add, self.uuid, columns)
        self.cell.db.write(shares.change, name, {'status': status}, status=('attaching',))

    def statuses(self):
        found = self.cell.db.read(shares.of, [self.uuid])[self.uuid]
        return {row.uuid: row.status for row in found}

    def mounted(self):
        guest = self.cell.driver.get_guest('host-1', self.uuid)
        return [each.id for each in guest.spec.devices if each.kind is model.DeviceKind.SHARE]

    def test_start_and_stop(self):
        self.act('start')
        self.assertEqual(({'one': 'active'}, ['share one']), (self.statuses(), self.mounted()))
        self.act('stop')
        self.assertEqual(({'one': 'inactive'}, []), (self.statuses(), self.mounted()))

    def test_shares_that_sagas_change_are_left_alone(self):
        self.add('two', 'attaching')
        self.add('three', 'detaching')
        self.act('start')
        self.assertEqual(['share one'], self.mounted())
        self.assertEqual(
            {'one': 'active', 'two': 'attaching', 'three': 'detaching'}, self.statuses()
        )

    def test_access_that_was_not_granted(self):
        self.add('two', 'error', granted=False)
        self.act('start')
        self.assertEqual('error', self.cell.row(self.uuid).vm_state)
        # The guest is off, so the other one is not mounted either.
        self.assertEqual({'one': 'inactive', 'two': 'error'}, self.statuses())
        self.assertEqual([], self.mounted())

    def test_a_share_that_was_left_is_unmounted(self):
        left = model.Device(model.DeviceKind.SHARE, 'left')
        self.cell.driver.attach('host-1', self.uuid, left, key='k')
        self.act('start')
        self.assertEqual(['share one'], self.mounted())

    def test_a_guest_that_goes_off_by_itself(self):
        self.act('start')
        off = model.PowerAction.OFF
        self.cell.driver.change_power('host-1', self.uuid, off, key='inside')
        self.cell.compute.audit()
        self.assertEqual('stopped', self.cell.row(self.uuid).vm_state)
        self.assertEqual({'one': 'inactive'}, self.statuses())
        self.cell.compute.audit()
        self.assertEqual([], self.mounted())

    def test_an_audit_reports_what_it_unmounts(self):
        plugged = model.Device(model.DeviceKind.SHARE, 'share one')
        self.cell.driver.attach('host-1', self.uuid, plugged, key='k')
        # As a failed start leaves it if the hypervisor did not answer afterwards.
        self.cell.db.write(shares.change, 'one', {'status': 'active'}, status=('inactive',))
        self.add('two', 'attaching')
        self.add('three', 'error')
        self.cell.compute.audit()
        self.assertEqual([], self.mounted())
        self.assertEqual({'one': 'inactive', 'two': 'attaching', 'three': 'error'}, self.statuses())

    def test_an_attachment_that_ends_while_a_lost_guest_is_made_again(self):
        self.cell.driver.destroy('host-1', self.uuid, key='lost')
        self.add('two', 'attaching')
        ended = {'status': 'inactive', 'granted': True}
        self.cell.lossy.meanwhile(
            'instance_records',
            lambda: self.cell.db.write(shares.change, 'two', ended, status=('attaching',)),
        )
        self.act('reboot_hard')
        self.assertEqual({'one': 'active', 'two': 'inactive'}, self.statuses())
        self.assertEqual(['share one'], self.mounted())

    def test_a_guest_that_is_lost(self):
        self.cell.driver.destroy('host-1', self.uuid, key='lost')
        self.act('start')
        # Else it could not be detached before a hard reboot.
        self.assertEqual({'one': 'inactive'}, self.statuses())
        self.act('reboot_hard')
        self.assertEqual(({'one': 'active'}, ['share one']), (self.statuses(), self.mounted()))
