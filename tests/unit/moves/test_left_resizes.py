"""A failed resize that is left as nova leaves it, while a service refuses what settles it."""

from nova_lite import exception
from nova_lite import states
from nova_lite.saga import step as step_module
from nova_lite.states import nova_failures
from tests.unit.moves import moves_base
from tests.unit.moves import test_lost_attachments

NAME, FINISH = 'resize-on-destination', 'finish-on-destination'


class LeftResizeTest(test_lost_attachments.LostCase):
    def setUp(self):
        super().setUp()
        self.move = self.resize()
        self.move.steps()
        self.do(self.move, moves_base.until(self.move, FINISH))
        keeps = [*nova_failures.BY_NAME[NAME].keeps]
        self.move.data[step_module.LEFT_AS] = {'name': NAME, 'step': FINISH, 'keeps': keeps}
        self.move.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}

    def test_a_refused_change_of_an_attachment(self):
        for name in ('complete_attachment', 'delete_attachment'):
            with self.subTest(name):
                setattr(self.cell.volume, name, self.refuse)
                self.move.steps()[0].undo()
                row = self.cell.row(self.server)
                self.assertEqual((states.VmState.ERROR, None), (row.vm_state, row.task_state))

    def refuse(self, *args, **options):
        raise exception.NeighbourError(
            service='volume', status=409, request='an attachment', reason='the volume is in error'
        )
