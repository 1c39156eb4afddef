"""The stored request of a server that is moved live, evacuated or rebuilt."""

from nova_lite import exception
from nova_lite.db.api import request_specs
from nova_lite.moves import evacuate
from nova_lite.moves import live_migrate
from nova_lite.moves import rebuild
from nova_lite.objects import image as image_objects
from nova_lite.saga import failures
from nova_lite.saga import step
from nova_lite.states import transitions
from tests.unit.moves import moves_base
from tests.unit.moves import test_rebuild

# The user asked for a host when the server was created; no later move looks at it.
FORCED = {'force_hosts': ['host1'], 'force_nodes': ['host1']}


class StoredSpecTest(moves_base.MoveTestCase):
    def stored(self):
        return self.api_db.read(request_specs.stored, [self.server])[self.server]

    def check(self, made):
        """Check that the scheduler gets the stored spec with a forced host, and no other change."""
        self.api_db.write(request_specs.change, self.server, **FORCED)
        before = self.stored()
        made.choice.select(made.choice.spec(beside=()), beside=())
        self.assertEqual(before, self.stored())
        asked = made.choice.spec(beside=()).stored()
        self.assertEqual(([], []), (asked['force_hosts'], asked['force_nodes']))
        self.assertEqual(before, {**asked, **FORCED})

    def test_live_migration(self):
        arguments = {'synchronous': False, 'forced': False, 'block_migration': None}
        kind, guard = live_migrate.LiveMigration, transitions.LIVE_MIGRATE
        self.check(self.make(kind, guard, 'live-migration', host=moves_base.DEST, **arguments))

    def test_evacuation(self):
        arguments = {'forced': False, 'leave_stopped': False}
        kind, guard = evacuate.Evacuation, transitions.EVACUATE
        self.check(self.make(kind, guard, 'evacuate', host=moves_base.DEST, **arguments))


class ResetTest(test_rebuild.RebuildTestCase):
    """An administrator resets the state of a server that is rebuilt with another image."""

    def reset_before(self, name):
        """Reset the state before a step, and do the rest. Return the image, in both records."""
        former = image_objects.ImageMeta(**{**test_rebuild.IMAGE, 'id': test_rebuild.OLD})
        self.api_db.write(request_specs.change, self.server, image=former)
        made = self.rebuild()
        steps, at = made.steps(), [each.id for each in made.steps()].index(name)
        self.play(made, steps[:at])
        self.change(task_state=None)
        if name == rebuild.DESTROY:
            error = self.assertRaises(exception.StateChanged, steps[at].do)
            made.data[step.GIVEN_UP] = {name: failures.describe(error)}
            at += 1
        self.play(made, steps[at:])
        self.assertIn(self.server, self.cell.guests())
        return self.image(), self.api_db.read(request_specs.get, self.server).image.id

    def test_before_the_guest_is_destroyed(self):
        self.assertEqual((test_rebuild.OLD,) * 2, self.reset_before(rebuild.DESTROY))

    def test_after_the_guest_was_destroyed(self):
        self.assertEqual((test_rebuild.NEW,) * 2, self.reset_before(rebuild.MAKE))
