"""Volumes whose attachments somebody deletes in Cinder while a server moves."""

import testscenarios

from nova_lite import exception
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.moves import detach_volume
from nova_lite.moves import kinds
from nova_lite.moves import move_records
from nova_lite.moves import resize
from nova_lite.moves import revert
from nova_lite.moves import steps
from nova_lite.saga import cleaning
from nova_lite.virt import model
from tests.unit.moves import moves_base
from tests.unit.moves import test_device_sagas


class LostCase(moves_base.MoveTestCase):
    """The server has two volumes."""

    def boot(self):
        volume = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}
        return self.cell.boot(devices=[volume, volume])

    def setUp(self):
        super().setUp()
        self.kept, self.lost = self.cell.devices(self.server)

    def take(self, *, volume=False):
        """Delete the attachments of a volume, or the volume."""
        attachments = self.cell.volume.attachments
        for each in [a for a in attachments if attachments[a]['volume_id'] == self.lost.volume_id]:
            del attachments[each]
        if volume:
            del self.cell.volume.volumes[self.lost.volume_id]

            def missing(ctxt, volume_id, *args, **options):
                self.cell.volume._require(volume_id)
                return make(ctxt, volume_id, *args, **options)

            make = self.cell.volume.create_attachment
            self.cell.volume.create_attachment = missing

    def run_all(self, made):
        self.do(made, made.steps())


class MovesTest(LostCase):
    """The attachment is lost before."""

    def check_arrived(self, *volumes):
        devices = self.cell.devices(self.server)
        self.assertEqual([*volumes], [each.volume_id for each in devices])
        guest = self.cell.driver.get_guest(moves_base.DEST, self.server)
        self.assertEqual(sorted(volumes), sorted(device.id for device in guest.spec.devices))
        named = {each.attachment_id for each in devices}
        listed = self.cell.volume.list_attachments(None, self.server)
        self.assertLessEqual(named, {each['id'] for each in listed})

    def test_attached_again(self):
        """The attachment was lost before: the volume gets another one."""
        self.take()
        self.run_all(self.resize())
        self.check_arrived(self.kept.volume_id, self.lost.volume_id)

    def test_volume_is_gone(self):
        self.take(volume=True)
        self.run_all(self.resize())
        self.check_arrived(self.kept.volume_id)

    def test_volume_of_somebody_else(self):
        self.take()
        used = exception.VolumeNotUsable(volume_id=self.lost.volume_id, reason='in-use')
        make = self.cell.volume.create_attachment

        def refuse(ctxt, volume_id, *args, **options):
            if volume_id == self.lost.volume_id:
                raise used
            return make(ctxt, volume_id, *args, **options)

        self.cell.volume.create_attachment = refuse
        self.run_all(self.resize())
        self.check_arrived(self.kept.volume_id)

    def test_refused_though_it_is_attached(self):
        """The move fails, and the server has lost nothing."""
        made = self.resize()
        refused = exception.VolumeNotUsable(volume_id=self.lost.volume_id, reason='it is extending')
        self.cell.volume.fail('create_attachment', refused)
        number = [step.id for step in made.steps()].index(steps.RESERVE)
        before = made.steps()[:number]
        self.do(made, before)
        reserve = made.steps()[number]
        self.assertRaises(exception.VolumeNotUsable, reserve.do)
        self.undo(made, [*before, reserve])
        self.assertEqual(2, len(self.cell.devices(self.server)))

    def test_root_disk(self):
        """A server does not lose it: the move fails."""
        self.cell.db.write(children.update_block_device, self.lost.uuid, {'boot_index': 0})
        self.take(volume=True)
        self.assertRaises(exception.VolumeNotFound, self.run_all, self.resize())
        self.assertEqual(2, len(self.cell.devices(self.server)))


def _each_step(kind):
    return [(step.id, {'number': i}) for i, step in enumerate(kinds.plans(kind)[0])]


class ResizeTest(testscenarios.WithScenarios, LostCase):
    """Wherever the volume goes, the steps go on, and the guest gets what there is."""

    scenarios = _each_step('resize')

    def test_goes_on(self):
        made = self.resize()
        self.do(made, made.steps()[: self.number])
        self.take(volume=True)
        self.do(made, made.steps()[self.number :])
        self.cell.driver.get_guest(moves_base.DEST, self.server)


class RevertTest(testscenarios.WithScenarios, LostCase):
    """The same, after the server has been resized."""

    scenarios = _each_step('revert-resize')

    def test_goes_on(self):
        made = self.revert()
        self.do(made, made.steps()[: self.number])
        self.take(volume=True)
        self.do(made, made.steps()[self.number :])
        self.cell.driver.get_guest(moves_base.SOURCE, self.server)


class RootCase(LostCase):
    """Administrators delete the attachments of the root disk, which the server gets back."""

    def setUp(self):
        super().setUp()
        self.cell.db.write(children.update_block_device, self.lost.uuid, {'boot_index': 0})

    def root(self):
        """Return the block device of the root disk."""
        return next(each for each in self.cell.devices(self.server) if each.boot_index == 0)

    def check_taken(self, made, number, node, last):
        """Take the root disk before the step with this number, and check the guest on a node.

        last: id of the step that makes the guest. The record names an attachment that exists if
        that step came after the deletion.
        """
        self.do(made, made.steps()[:number])
        self.take()
        self.do(made, made.steps()[number:])
        self.assertEqual(2, len(self.cell.devices(self.server)))
        guest = self.cell.driver.get_guest(node, self.server)
        self.assertIn(self.lost.volume_id, [device.id for device in guest.spec.devices])
        if number < len(moves_base.through(made, last)):
            self.check_attached()

    def check_attached(self):
        device = self.root()
        listed = self.cell.volume.list_attachments(None, self.server)
        own = [each for each in listed if each['volume_id'] == device.volume_id]
        self.assertEqual(
            [(device.attachment_id, 'attached')], [(e['id'], e['status']) for e in own]
        )
        self.assertTrue(device.connection_info)


class RootResizeTest(testscenarios.WithScenarios, RootCase):
    scenarios = _each_step('resize')

    def test_attached_again(self):
        self.check_taken(self.resize(), self.number, moves_base.DEST, resize.FINISH)


class RootRevertTest(testscenarios.WithScenarios, RootCase):
    scenarios = _each_step('revert-resize')

    def test_attached_again(self):
        self.check_taken(self.revert(), self.number, moves_base.SOURCE, revert.FINISH)


class RootStepTest(RootCase):
    """One step that connects the root disk."""

    def claim(self):
        """Return a resize whose root disk is lost, and the step that connects the volumes."""
        made = self.resize()
        self.do(made, moves_base.until(made, steps.CLAIM))
        self.take()
        return made, moves_base.since(made, steps.CLAIM)[0]

    def attach(self):
        """Return a new attachment of the root disk to the destination."""
        connector = {'host': moves_base.DEST}
        return self.cell.volume.create_attachment(
            None, self.lost.volume_id, self.server, connector=connector
        )

    def test_killed_after_it_was_attached(self):
        """An attachment that nothing names is deleted, and another one is made."""
        made, step = self.claim()
        self.attach()
        made.repeated = True
        step.do()
        listed = self.cell.volume.list_attachments(None, self.server)
        self.assertEqual(1, len([e for e in listed if e['volume_id'] == self.lost.volume_id]))

    def test_killed_after_it_was_recorded(self):
        """The journal does not have the attachment that the record has: no other one is made."""
        made = self.resize()
        self.do(made, moves_base.until(made, resize.FINISH))
        self.take()
        new = self.attach()
        device = self.root()
        self.cell.db.write(
            move_records.replace_attachment, device.uuid, device.attachment_id, new['id']
        )
        self.do(made, moves_base.since(made, resize.FINISH), times=2)
        self.check_attached()

    def test_another_server_has_it(self):
        made, step = self.claim()
        used = exception.VolumeNotUsable(volume_id=self.lost.volume_id, reason='in-use')
        self.cell.volume.fail('create_attachment', used)
        self.assertRaises(exception.VolumeNotUsable, step.do)
        self.undo(made, moves_base.through(made, steps.CLAIM))
        self.assertEqual(2, len(self.cell.devices(self.server)))


class DutyTest(test_device_sagas.DeviceSagasCase):
    """A volume that a detachment has unplugged and cannot plug in again."""

    def test_record_follows(self):
        made = self.detach_volume()
        before = made.steps()[: self.pivot(made)]
        self.do(made, before)
        self.cell.volume.delete_attachment(None, self.device.attachment_id)
        plug = next(step for step in before if step.id == detach_volume.UNPLUG)
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        self.assertRaises(exception.AttachmentNotFound, plug.undo)
        cleaning.add(made, plug, made.error)
        self.assertIsNone(plug.clean.do())
        self.assertEqual([], self.cell.devices(self.server))

    def test_mark_of_a_volume_whose_status_was_reset(self):
        made = self.detach_volume()
        before = made.steps()[:2]
        self.do(made, before)
        used = exception.VolumeNotUsable(volume_id=self.device.volume_id, reason='available')
        self.cell.volume.fail('roll_detaching', used)
        self.undo(made, before)
        self.assertEqual(1, len(self.cell.devices(self.server)))

    def test_attachment_of_a_new_volume(self):
        """It fails, and is undone."""
        before = self.picture()
        made = self.attach_volume()
        first = made.steps()[: self.pivot(made)]
        self.do(made, first[:2])
        for each in self.cell.volume.list_attachments(None, self.server):
            if each['volume_id'] == self.new:
                self.cell.volume.delete_attachment(None, each['id'])
        self.assertRaises(exception.AttachmentNotFound, first[2].do)
        self.undo(made, first)
        self.assertEqual(before, self.picture())


class RebootedTest(testscenarios.WithScenarios, test_device_sagas.DeviceSagasCase):
    """A hard reboot, requested before a volume is recorded, delays the end of its saga."""

    scenarios = [(name, {'name': name}) for name in ('attach_volume', 'swap_volume')]

    def test_attachment_deleted_while_it_waits(self):
        """The guest was given the volume: it is unplugged, and removed from the record."""
        made = getattr(self, self.name)()
        before = made.steps()[: self.pivot(made)]
        self.do(made, before)
        self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        self.do(made, made.steps()[len(before) : len(before) + 1])
        for each in self.cell.volume.list_attachments(None, self.server):
            if each['volume_id'] == self.new:
                self.cell.volume.delete_attachment(None, each['id'])
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        self.do(made, made.steps()[len(before) + 1 :])
        recorded = {each.volume_id for each in self.cell.devices(self.server)}
        self.assertNotIn(self.new, recorded)
        self.assertEqual(recorded, self.plugged())

    def plugged(self):
        guest = self.cell.driver.get_guest(test_device_sagas.HOST, self.server)
        volumes = (each for each in guest.spec.devices if each.kind is model.DeviceKind.VOLUME)
        return {each.id for each in volumes}
