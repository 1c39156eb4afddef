"""An unshelve whose server is deleted when the outcome of the pivot is unknown."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import instances
from nova_lite.moves import unshelve
from nova_lite.moves.parts import shelving
from nova_lite.saga import step as saga_step
from nova_lite.states import transitions
from tests.unit.moves import moves_base

IMAGE = 'the-image'


class DeletedTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.images = self.cell.image.images
        self.cell.image.add_image(IMAGE, status='active')
        shelf = {shelving.IMAGE_ID: IMAGE}
        values = {'vm_state': 'shelved', 'system_metadata': shelf}
        self.cell.db.write(instances.force, self.server, values)

    def unshelve(self, **arguments):
        return self.make(unshelve.Unshelve, transitions.UNSHELVE, 'unshelve', **arguments)

    def fail_at_pivot(self, made, pivot):
        """The pivot fails, and the saga is undone. Return the step of the pivot."""
        *steps, step = self.until_pivot(made)
        self.do(made, steps)
        pivot(made)
        self.undo(made, [*steps, step])
        return step

    def until_pivot(self, made):
        steps = made.steps()
        return steps[: len(self.before_pivot(steps)) + 1]

    def test_image_of_a_server_on_its_host(self):
        def pivot(made):
            made.record_running()
            self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
            self.assertRaises(exception.StateChanged, made.record_running)

        self.fail_at_pivot(self.unshelve(offloaded=False), pivot)
        self.assertNotIn(IMAGE, self.images)

    def test_image_of_a_server_that_was_deleted_softly(self):
        """It may be restored, and is not shelved then."""

        def pivot(made):
            made.record_running()
            gone = {
                'task_state': None,
                'vm_state': 'soft-delete',
                'deleted_at': runtime.naive_now(),
            }
            self.cell.db.write(instances.force, self.server, gone)
            self.assertRaises(exception.StateChanged, made.record_running)

        self.fail_at_pivot(self.unshelve(offloaded=False), pivot)
        self.assertNotIn(IMAGE, self.images)

    def test_image_of_an_offloaded_server(self):
        def pivot(made):
            made.switch()
            self.cell.delete(self.server)
            self.assertRaises(exception.InstanceNotFound, made.switch)
            self.assertIn(IMAGE, self.images)

        values = {'vm_state': 'shelved_offloaded', 'host': None, 'node': None}
        self.cell.db.write(instances.force, self.server, values)
        self.fail_at_pivot(self.unshelve(offloaded=True), pivot)
        self.assertNotIn(IMAGE, self.images)

    def test_image_that_the_deletion_knows(self):
        def pivot(made):
            self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
            self.assertRaises(exception.StateChanged, made.record_running)

        self.fail_at_pivot(self.unshelve(offloaded=False), pivot)
        self.assertIn(IMAGE, self.images)

    def test_image_that_glance_refuses_to_delete(self):
        """It is protected, for instance: it stays, and the saga ends."""
        refused = exception.Forbidden(reason='protected')
        self.cell.image.fail('delete', refused)
        step = self.fail_at_pivot(self.unshelve(offloaded=False), self.lose_record)
        step.clean.do()
        self.assertIn(IMAGE, self.images)

    def test_image_while_glance_is_down(self):
        """A duty deletes it."""
        made = self.unshelve(offloaded=False)
        *steps, step = self.until_pivot(made)
        self.do(made, steps)
        self.lose_record(made)
        down = exception.Unavailable(service='image', reason='down')
        self.cell.image.fail('delete', down, times=1)
        self.assertRaises(exception.Unavailable, step.undo)
        self.undo(made, steps)
        self.assertIn(IMAGE, self.images)
        step.clean.do()
        self.assertNotIn(IMAGE, self.images)

    def test_image_of_a_server_whose_cell_is_not_mapped_any_more(self):
        """A duty deletes it after the server and its cell were deleted."""
        made = self.unshelve(offloaded=False)
        *steps, step = self.until_pivot(made)
        self.do(made, steps)
        del made.scope.cell

        def gone(uuid):
            raise exception.CellMappingNotFound(cell=uuid)

        def unknown(uuid):
            raise exception.InstanceNotFound(instance_id=uuid)

        self.world.cells.get, self.world.cells.of_instance = gone, unknown
        step.clean.do()
        self.assertNotIn(IMAGE, self.images)

    def test_server_whose_image_could_not_be_looked_for(self):
        """It is shelved as before; the duty looks for the image."""
        for offloaded in (False, True):
            made = self.unshelve(offloaded=offloaded)
            *steps, step = self.until_pivot(made)
            self.do(made, steps[:1])
            made.data[saga_step.NOT_UNDONE] = {step.id: {'message': 'the cell did not answer'}}
            self.undo(made, steps[:1])
            row = self.cell.db.read(instances.find, self.server)
            self.assertEqual(('shelved', None), (row.vm_state, row.task_state))

    def test_server_of_which_no_step_could_be_undone(self):
        """It is shelved as before, and can be unshelved again: duties and audits clean up."""
        for offloaded in (False, True):
            state = 'shelved'
            if offloaded:
                state = 'shelved_offloaded'
                values = {'vm_state': state, 'host': None, 'node': None}
                self.cell.db.write(instances.force, self.server, values)
            made = self.unshelve(offloaded=offloaded)
            *steps, step = self.until_pivot(made)
            self.do(made, steps)
            left = [each for each in (*steps[1:], step) if each.undo is not None]
            made.data[saga_step.NOT_UNDONE] = {each.id: {'message': 'why'} for each in left}
            self.undo(made, steps[:1])
            row = self.cell.db.read(instances.find, self.server)
            self.assertEqual((state, None), (row.vm_state, row.task_state))

    def lose_record(self, made):
        made.record_running()
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
