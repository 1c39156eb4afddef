"""An unshelve whose server is deleted when the outcome of the pivot is unknown."""

from nova_lite import exception
from nova_lite import transitions
from nova_lite.db.cell import instances
from nova_lite.moves import unshelve
from nova_lite.moves.parts import shelving
from tests.unit.moves import moves_base

IMAGE = 'the-image'


class DeletedTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.images = self.cell.image.images
        self.cell.image.add_image(IMAGE)
        shelf = {shelving.IMAGE_ID: IMAGE}
        values = {'vm_state': 'shelved', 'system_metadata': shelf}
        self.cell.db.write(instances.force, self.server, values)

    def unshelve(self, **arguments):
        return self.make(unshelve.Unshelve, transitions.UNSHELVE, 'unshelve', **arguments)

    def test_image_of_a_server_on_its_host(self):
        made = self.unshelve(offloaded=False)
        steps = self.before_pivot(made.steps())
        self.do(made, steps)
        made.record_running()
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
        self.assertRaises(exception.StateChanged, made.record_running)
        self.undo(made, steps)
        self.assertNotIn(IMAGE, self.images)

    def test_image_of_an_offloaded_server(self):
        values = {'vm_state': 'shelved_offloaded', 'host': None, 'node': None}
        self.cell.db.write(instances.force, self.server, values)
        made = self.unshelve(offloaded=True)
        steps = self.before_pivot(made.steps())
        self.do(made, steps)
        made.switch()
        self.cell.delete(self.server)
        self.assertRaises(exception.InstanceNotFound, made.switch)
        self.assertIn(IMAGE, self.images)
        self.undo(made, steps)
        self.assertNotIn(IMAGE, self.images)

    def test_image_that_the_deletion_knows(self):
        made = self.unshelve(offloaded=False)
        steps = self.before_pivot(made.steps())
        self.do(made, steps)
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
        self.undo(made, steps)
        self.assertIn(IMAGE, self.images)
