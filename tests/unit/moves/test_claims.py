"""Claims of moves: one request for the destination and for what the migration takes over."""

import types

from nova_lite import exception
from nova_lite import states
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.moves import steps
from nova_lite.moves.parts import choice
from nova_lite.saga import step as saga_step
from tests.fixtures import reported
from tests.unit.moves import moves_base

SOURCE, DEST, OTHER = moves_base.SOURCE, moves_base.DEST, moves_base.OTHER


class ClaimsTest(moves_base.MoveTestCase):
    def choose(self, made, **options):
        self.do(made, moves_base.through(made, steps.CHOOSE), **options)

    def check(self, made, server, migration):
        """The hosts of the allocations of the server and of its migration."""
        held = self.cell.placement.allocations
        found = [set(held.get(uuid, ())) for uuid in (self.server, made.uuid)]
        wanted = [{self.cell.provider(host) for host in hosts} for hosts in (server, migration)]
        self.assertEqual(wanted, found)

    def begun_before(self, made):
        """The same saga, as the release before has begun it."""
        record = types.SimpleNamespace(
            kind=made.kind,
            uuid=made.uuid,
            instance_uuid=self.server,
            epoch=made.epoch,
            arguments=made.plain_arguments,
            data={**made.data, saga_step.PLAN: {'version': 1, 'steps': []}},
            error=None,
        )
        return type(made)(self.world, record, made.ctxt)

    def chosen_next(self, *hosts):
        """The scheduler chooses these, one at each question. Return the list of questions."""
        asked, left = [], list(hosts)

        def select(ctxt, **question):
            asked.append(question)
            return [[self.cell.selection(left.pop(0))]]

        self.world.scheduler.select_destinations = select
        return asked

    def check_choice(self, made):
        for times in (1, 2):
            self.choose(made, times=times)
            self.check(made, [DEST], [SOURCE])
        self.undo(made, moves_base.through(made, steps.CHOOSE))
        self.check(made, [SOURCE], [])

    def test_a_resize(self):
        self.check_choice(self.resize())

    def test_a_live_migration(self):
        self.check_choice(self.live_migration())

    def test_nothing_to_undo(self):
        made = self.resize()
        self.undo(made, moves_base.through(made, steps.CHOOSE))
        self.check(made, [SOURCE], [])

    def test_a_saga_that_goes_back_keeps_both_until_it_has_chosen_again(self):
        made = self.resize()
        self.choose(made)
        step = moves_base.through(made, steps.CHOOSE)[-1]
        claim = next(each for each in made.steps() if each.id == steps.CLAIM)
        refused = exception.ServiceIsDown(binary='nova-compute', host=DEST)
        refused.reschedule = True
        made.data[saga_step.GO_BACK] = made.go_back(claim, refused)
        step.undo()
        self.check(made, [DEST], [SOURCE])
        del made.data[saga_step.GO_BACK]
        self.assertEqual(OTHER, step.do().service_host)
        self.check(made, [OTHER], [SOURCE])
        # There is no third host, and the saga fails.
        self.assertRaises(exception.MaxRetriesExceeded, step.do)
        self.undo(made, [step])
        self.check(made, [SOURCE], [])

    def test_who_takes_over_replaces_the_claim(self):
        made = self.live_migration()
        self.choose(made)
        self.chosen_next(OTHER)
        made.repeated = True
        moves_base.through(made, steps.CHOOSE)[-1].do()
        self.check(made, [OTHER], [SOURCE])

    def test_a_claim_that_placement_refuses(self):
        self.cell.placement.full = {self.cell.provider(DEST)}
        made, asked = self.live_migration(), self.chosen_next(DEST, OTHER)
        self.choose(made)
        self.assertEqual([False, False], [question['claims'] for question in asked])
        self.assertEqual([False, True], [question['fresh'] for question in asked])
        self.check(made, [OTHER], [SOURCE])

    def test_claims_that_placement_refuses_again_and_again(self):
        self.cell.placement.full = {self.cell.provider(DEST)}
        made, asked = self.resize(), self.chosen_next(*[DEST] * choice.TRIES)
        self.assertRaises(exception.NoValidHost, self.choose, made)
        self.assertEqual(choice.TRIES, len(asked))
        self.check(made, [SOURCE], [])

    def test_a_server_that_has_nothing_at_its_source(self):
        node = reported.node_of(SOURCE, self.cell.provider(SOURCE))
        self.cell.db.write(compute_nodes.report, [node])
        del self.cell.placement.allocations[self.server]
        made = self.resize()
        self.choose(made)
        self.check(made, [DEST], [])
        self.undo(made, moves_base.through(made, steps.CHOOSE))
        self.check(made, [], [])

    def test_an_undo_leaves_what_the_server_has_elsewhere(self):
        """A provider of disks that several hosts share, and no claim that was made or lost."""
        held = self.cell.placement.allocations[self.server]
        held['shared disks'] = {'DISK_GB': 1}
        made = self.resize()
        self.undo(made, moves_base.through(made, steps.CHOOSE))
        self.assertEqual(
            {self.cell.provider(SOURCE), 'shared disks'},
            set(self.cell.placement.allocations[self.server]),
        )

    def test_a_server_that_is_deleted_meanwhile(self):
        made = self.resize()
        self.choose(made)
        task = {'task_state': str(states.TaskState.DELETING)}
        self.cell.db.write(instances.force, self.server, task)
        self.undo(made, moves_base.through(made, steps.CHOOSE))
        self.check(made, [], [])

    def check_begun_before(self, begun):
        """A step of its own has given the migration the allocation before the choice."""
        made = self.begun_before(begun)
        self.assertIn(steps.HOLD, [step.id for step in made.steps()])
        self.do(made, moves_base.through(made, steps.HOLD))
        self.check(made, [], [SOURCE])
        self.choose(made)
        self.check(made, [DEST], [SOURCE])
        self.undo(made, moves_base.through(made, steps.CHOOSE))
        self.check(made, [SOURCE], [])

    def test_a_resize_that_the_release_before_has_begun(self):
        self.check_begun_before(self.resize())

    def test_a_live_migration_that_the_release_before_has_begun(self):
        self.check_begun_before(self.live_migration())
