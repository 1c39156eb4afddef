"""Steps whose undo may fail: a duty goes on with each, or a test shows what repairs it."""

import pathlib

import testtools

from nova_lite.moves import kinds
import tests
from tests.fixtures import saga_faults
from tests.fixtures import scenarios

# What placement holds for a move that is over is given up (superconductor/audits/orphans.py).
ORPHANS = 'functional/test_orphans.py', 'test_of_an_undone_move_that_could_not_give_it_back'
# A host forgets promises to guests that will not come (compute.audit).
PROMISES = 'unit/compute/test_claims.py', 'test_refresh_forgets_what_is_gone'
# A host powers off guests whose servers are stopped or shelved (compute.power_audit).
OFF = 'unit/compute/test_audit.py', 'test_runs_though_shelved'
# A host removes guests that are none of its servers' (compute.audit).
STRANGERS = 'functional/test_dead_hosts.py', 'test_unshelved_to_a_host_that_is_lost'
DEPARTED = 'unit/compute/test_audit.py', 'test_departed_guest_goes_when_its_move_is_over'
# A host ends what a move has left half done of its own servers (compute.move_audit).
AWAITED = 'unit/compute/test_move_audit.py', 'test_a_guest_of_an_earlier_move_is_dropped'
BACK = 'unit/compute/test_move_audit.py', 'test_a_guest_that_had_left_is_back_and_off'
COPIED = 'functional/test_live_kills.py', 'test_the_source_is_down_for_too_long_while_it_copies'
# The server is in error, and its user decides.
NOT_STARTED = 'functional/test_live_migration_failures.py', 'test_a_guest_that_does_not_start'
NOT_MADE = 'functional/test_rebuild.py', 'test_a_guest_that_cannot_be_made'
NOT_WRITTEN = 'functional/test_rebuild.py', 'test_a_volume_that_cannot_be_written'
NOT_RESTORED = (
    'functional/test_cross_cell_failures.py',
    'test_source_cannot_start_it_after_a_revert',
)

AUDITED = {
    'choose-destination': ORPHANS,
    'claim-on-destination': PROMISES,
    'finish-on-destination': STRANGERS,
    'spawn-on-destination': STRANGERS,
    'rebuild-on-destination': STRANGERS,
    'clean-up-at-source': DEPARTED,
    'clean-up-source': DEPARTED,
    'prepare-destination': AWAITED,
    'resize-at-source': BACK,
    'stop-and-snapshot': BACK,
    'stop-and-snapshot-at-source': BACK,
    'copy': COPIED,
    'start-guest-on-destination': NOT_STARTED,
    'finish-revert-on-source': NOT_RESTORED,
    'start-on-its-host': OFF,
    'destroy-former-guest': NOT_MADE,
    'write-image': NOT_WRITTEN,
    'rebuild-guest': NOT_MADE,
    'remove-deleted-guest': STRANGERS,
}
# Records in the server's own cell: the undo of the first step, which is repeated until that
# cell's database answers, sets the columns and ends the events.
SETTLED = {
    'record-destination': (
        'unit/moves/test_moves.py',
        'test_a_destination_that_was_not_taken_back_is_forgotten_in_the_end',
    ),
    'check-destination': (
        'unit/moves/test_moves.py',
        'test_checks_that_were_not_taken_back_end_in_the_end',
    ),
    'check-source': (
        'unit/moves/test_moves.py',
        'test_checks_that_were_not_taken_back_end_in_the_end',
    ),
}
REPAIRED = {**AUDITED, **SETTLED}
# The server becomes ERROR: it may lack its guest, ports or allocation, or have a second guest.
BREAKING = {
    'choose-destination',
    'claim-on-destination',
    'resize-at-source',
    'stop-and-snapshot-at-source',
    'activate-destination-bindings',
    'finish-on-destination',
    'spawn-on-destination',
    'copy',
    'rebuild-on-destination',
    'stop-and-snapshot',
}


class CleanedStepsTest(testtools.TestCase):
    def dirty(self):
        """The names of steps without a duty, of all sagas and all ways of theirs.

        The undo of the first step is repeated until its database answers.
        """
        return {
            step.id
            for name, scenario in scenarios.SCENARIOS.items()
            for step in self.steps(scenarios.kind_of(name), scenario)[1:]
            if (step.undo or step.best_effort) and step.clean is None
        }

    def steps(self, kind, scenario):
        return saga_faults.steps_of(kind, scenario.arguments)

    def test_each_has_a_duty_or_is_repaired_otherwise(self):
        self.assertEqual(set(REPAIRED), self.dirty())

    def test_what_breaks_the_server(self):
        """Remains beside a server, such as a claim or a reservation, do not."""
        found = {
            step.id
            for saga_class in kinds.SAGAS
            if saga_class.faults
            for kind in saga_class.kinds()
            for plan in kinds.plans(kind, saga_class)
            for step in plan[1:]
            if step.undo and not (step.harmless or step.id in saga_class.harmless)
        }
        self.assertEqual(BREAKING, found)

    def test_what_repairs_it_is_tested(self):
        root = pathlib.Path(tests.__file__).parent
        for step, (path, name) in REPAIRED.items():
            self.assertIn(f'    def {name}(self', (root / path).read_text(), step)
