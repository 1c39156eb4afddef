"""The scope that the parts of a saga get instead of the saga, and the ends of its route."""

import testtools

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.moves import move
from nova_lite.moves import resize
from nova_lite.moves import steps
from tests.unit.moves import moves_base

SOURCE, DEST = moves_base.SOURCE, moves_base.DEST


class MoveTest(testtools.TestCase):
    def test_its_public_members_are_few(self):
        """They are all that a reader of a saga meets; what sagas share beyond them is a part."""
        public = [name for name in dir(move.Move) if not name.startswith('_')]
        self.assertLessEqual(len(public), 35, public)


class ScopeTest(moves_base.MoveTestCase):
    def begun(self, made):
        self.do(made, made.steps()[:1])
        return made

    def test_an_end_is_known_once_its_step_has_ended(self):
        made = self.resize()
        self.assertRaises(KeyError, getattr, made.source, 'host')
        self.begun(made)
        self.assertEqual((SOURCE, SOURCE), (made.source.host, made.source.node))
        self.assertRaises(KeyError, getattr, made.dest, 'host')
        self.do(made, moves_base.through(made, steps.CHOOSE))
        self.assertEqual({'host': DEST, 'node': DEST}, made.dest.columns)
        self.assertFalse(made.route.stays)

    def test_calls_name_the_host_the_server_and_the_step(self):
        made = self.begun(self.resize())
        named = {'host': SOURCE, 'node': SOURCE, 'instance_uuid': self.server}
        self.assertEqual({**named, 'key': f'{made.uuid}/any'}, made.source.asked('any'))

    def test_a_revert_goes_back(self):
        made = self.begun(self.revert())
        back = made.route.back()
        self.assertEqual([SOURCE, DEST], [made.route.source.host, made.route.dest.host])
        self.assertEqual([DEST, SOURCE], [back.source.host, back.dest.host])

    def test_a_server_that_has_left_the_saga(self):
        made = self.begun(self.resize())
        made.scope.require_task(made.scope.row())
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        row = made.scope.row()
        self.assertRaises(exception.StateChanged, made.scope.require_task, row)
        self.assertRaises(exception.StateChanged, made.scope.require_task, None)

    def test_parts_are_made_once(self):
        made = self.resize()
        self.assertIs(made.ports, made.ports)
        self.assertIsNone(getattr(resize.Resize, 'ports', None))
