"""The turn of a live migration among those that leave its host."""

from nova_lite import runtime
from nova_lite.db.cell import migrations
from nova_lite.moves import steps as move_steps
from nova_lite.moves.parts import live_checks
from tests.unit.moves import moves_base


class TurnTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.asked = []
        self.cell.answers.take_live_migration_turn = self.answer

    def answer(self, *_args, **_kwargs):
        self.asked.append(self.status())
        return {'pending': 1.0}

    def status(self):
        return self.cell.db.read(migrations.get, self.made.uuid).status

    def other(self):
        """Another live migration leaves the host."""
        values = {'migration_type': 'live-migration', 'status': 'running', 'data': {}}
        values |= {'source_compute': moves_base.SOURCE, 'source_node': moves_base.SOURCE}
        values |= {'uuid': runtime.new_uuid(), 'instance_uuid': self.boot()}
        self.cell.db.write(migrations.create, values)

    def accept(self, **source_replied):
        """Do what follows the checks of the hosts. Return the result of the turn's step."""
        self.made = self.live_migration()
        steps = self.made.steps()
        names = [str(step.id) for step in steps]
        self.do(self.made, steps[: names.index(move_steps.RECORD) + 1])
        self.made.results.keep(live_checks.CHECK_SOURCE, source_replied)
        self.do(self.made, [steps[names.index('accept-destination')]], times=2)
        return steps[names.index('wait-for-turn')].do()

    def test_it_is_taken_with_the_checks(self):
        self.assertIsNone(self.accept(max_concurrent=1))
        self.assertEqual(('preparing', []), (self.status(), self.asked))

    def test_one_that_has_to_wait_is_queued_with_them(self):
        self.other()
        self.assertEqual(1.0, self.accept(max_concurrent=1).wake_in)
        self.assertEqual(['queued'], self.asked)

    def test_any_number_may_leave(self):
        self.other()
        self.assertIsNone(self.accept(max_concurrent=0))
        self.assertEqual('preparing', self.status())

    def test_a_host_that_has_not_said_its_limit_is_asked(self):
        """It is of a former release, whose reply has more than is needed."""
        self.assertEqual(1.0, self.accept(facts={}, block_migration=False).wake_in)
        self.assertEqual(['accepted'], self.asked)
