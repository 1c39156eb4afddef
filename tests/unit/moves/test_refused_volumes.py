"""Cinder refuses to reserve the volumes of a server that is offloaded: a duty goes on."""

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.moves import shelve
from nova_lite.moves.parts import shelving
from nova_lite.saga import cleaning
from nova_lite.saga import failures
from nova_lite.states import transitions
from tests.unit.moves import moves_base

VOLUME = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}


class OffloadTest(moves_base.MoveTestCase):
    error = exception.NeighbourError(
        service='volume', status=403, reason='a test says so', request='POST'
    )

    def boot(self):
        return self.cell.boot(devices=[VOLUME, VOLUME])

    def setUp(self):
        super().setUp()
        self.former = {each.attachment_id for each in self.cell.devices(self.server)}
        changes = {'vm_state': 'shelved', 'power_state': 4}
        self.cell.db.write(instances.force, self.server, changes)
        offload = shelve.ShelveOffload, transitions.SHELVE_OFFLOAD, 'shelveOffload'
        self.made = self.make(*offload)
        self.cell.network.unbind = lambda ctxt, uuid, info: None
        self.create = self.cell.volume.create_attachment
        self.cell.volume.create_attachment = self.refuse
        self.run_all()
        self.cell.volume.create_attachment = self.create

    def run_all(self):
        """Run the saga. The first volume is reserved, the second one is not."""
        for step in self.made.steps():
            if step.id == shelving.RESERVE:
                self.give_up(step)
                continue
            while isinstance(result := step.do(), saga.Pending):
                continue
            if result is not None and not isinstance(result, saga.Skipped):
                self.made.results.keep(step.id, result)

    def refuse(self, ctxt, volume_id, *args, **options):
        if volume_id == self.cell.devices(self.server)[1].volume_id:
            raise self.error
        return self.create(ctxt, volume_id, *args, **options)

    def give_up(self, step):
        self.assertTrue(step.best_effort)
        error = self.assertRaises(exception.NeighbourError, step.do)
        self.made.data['_left'] = {step.id: failures.describe(error)}
        cleaning.add(self.made, step, failures.describe(error))
        self.clean = step.clean

    def attachments(self):
        return {each['id']: each for each in self.cell.volume.list_attachments(None, self.server)}

    def recorded(self):
        return {each.attachment_id for each in self.cell.devices(self.server)}

    def test_saga_ends(self):
        self.assertEqual(('shelved_offloaded', None, None), self.cell.state(self.server))
        self.assertEqual(self.former, self.recorded())

    def test_duty(self):
        """The new attachments connect no host, so that any other one can be connected."""
        self.assertTrue(self.clean.alone)
        self.assertIsNone(self.clean.do())
        self.assertEqual(set(self.attachments()), self.recorded())
        self.assertEqual(set(), self.former & self.recorded())
        again = self.recorded()
        self.assertIsNone(self.clean.do())
        self.assertEqual(again, self.recorded())

    def test_duty_for_a_volume_that_cannot_be_used(self):
        """Its status may never change: the duty ends, and the unshelve repeats the attachment."""
        self.check_refused(
            exception.VolumeNotUsable(volume_id='the second', reason='it is detaching')
        )

    def test_duty_for_a_lost_volume(self):
        """The volume service still has the attachment of a volume that it has lost."""
        self.check_refused(exception.VolumeNotFound(volume_id='the second'))

    def check_refused(self, error):
        """Refuse the second attachment."""
        self.error = error
        self.cell.volume.create_attachment = self.refuse
        self.assertIsNone(self.clean.do())
        self.assertEqual(set(self.attachments()), self.recorded())
        self.assertEqual(1, len(self.former & self.recorded()))

    def test_server_that_is_deleted(self):
        changes = {'task_state': 'deleting'}
        self.cell.db.write(instances.force, self.server, changes)
        self.assertIsInstance(self.clean.do(), saga.Pending)
        self.cell.db.write(instances.mark_deleted, self.server)
        self.assertIsNone(self.clean.do())
        self.assertEqual({}, self.attachments())

    def test_server_is_on_a_host_again(self):
        """Only the attachments that the step has made are deleted."""
        changes = {'host': moves_base.DEST, 'node': moves_base.DEST}
        self.cell.db.write(instances.force, self.server, changes)
        self.assertIsNone(self.clean.do())
        self.assertEqual(self.former, set(self.attachments()))
