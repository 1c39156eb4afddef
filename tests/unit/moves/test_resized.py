"""Steps of a confirmation and of a revert, one by one; see moves_base."""

import datetime

from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.cell import services
from nova_lite.moves import confirm
from nova_lite.moves import revert
from nova_lite.states import transitions
from tests.unit.moves import moves_base

SOURCE, DEST = moves_base.SOURCE, moves_base.DEST


class ResizedTest(moves_base.MoveTestCase):
    def confirm(self, migration):
        return self.make(
            confirm.ConfirmResize,
            transitions.CONFIRM_RESIZE,
            'confirmResize',
            migration=migration,
            status='confirming',
        )

    def test_a_source_that_is_not_up_is_not_awaited(self):
        """Its audits remove the guest. Until then the server could not be evacuated."""
        made = self.confirm(self.resized())
        self.do(made, moves_base.until(made, confirm.CLEAN))
        clean, *_rest = moves_base.since(made, confirm.CLEAN)
        service = self.cell.db.read(services.find, SOURCE)
        long_ago = runtime.naive_now() - datetime.timedelta(hours=1)
        for values in ({'last_seen_up': long_ago}, {'forced_down': True}):
            self.cell.db.write(services.update, service.uuid, values)
            self.assertIsInstance(clean.do(), saga.Skipped, values)
        self.assertIn((SOURCE, 'departed', 4), self.cell.guests()[self.server])

    def test_confirm(self):
        migration = self.resized()
        made = self.confirm(migration)
        self.do(made, made.steps(), times=2)
        self.assertEqual(('active', None, DEST), self.cell.state(self.server))
        self.assertEqual('confirmed', self.status(migration))
        self.assertEqual([(DEST, 'resident', 1)], self.cell.guests()[self.server])
        self.assertNotIn(migration, self.cell.placement.allocations)

    def test_revert(self):
        start = self.cell.leftovers()
        made = self.revert()
        self.do(made, made.steps(), times=2)
        self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
        self.assertEqual('m1.tiny', self.cell.row(self.server).flavor['name'])
        self.assertEqual('reverted', self.status(made.scope.migration_uuid))
        self.assertEqual(start, self.cell.leftovers())

    def test_revert_is_undone_while_the_destination_has_the_guest(self):
        made = self.revert()
        waiting = self.cell.leftovers()
        steps = made.steps()[:3]
        self.do(made, steps)
        self.undo(made, steps)
        self.assertEqual(('resized', None, DEST), self.cell.state(self.server))
        self.assertEqual('finished', self.status(made.scope.migration_uuid))
        self.assertEqual(waiting, self.cell.leftovers())

    def test_revert_whose_undo_fails_can_be_asked_for_again(self):
        made = self.revert()
        steps = made.steps()[:3]
        self.do(made, steps)
        made.data['_not_undone'] = {
            name: {'message': 'the service does not answer'}
            for name in (revert.RESERVE, revert.ACTIVATE)
        }
        self.undo(made, steps[:1])
        self.assertEqual(('resized', None, DEST), self.cell.state(self.server))
        self.assertEqual('finished', self.status(made.scope.migration_uuid))

    def test_source_that_fails_a_revert_leaves_an_error(self):
        made = self.revert()
        steps = made.steps()
        self.do(made, [step for step in steps if step.id != revert.FINISH][:-1])
        made.data['_left'] = {revert.FINISH: {'message': 'broken', 'traceback': 't'}}
        steps[-1].do()
        self.assertEqual(('error', None, SOURCE), self.cell.state(self.server))
        self.assertEqual('error', self.status(made.scope.migration_uuid))
        self.assertEqual('broken', self.cell.fault(self.server))
