"""The stored request of a server that a live migration or an evacuation moves."""

from nova_lite import transitions
from nova_lite.db.api import request_specs
from nova_lite.moves import evacuate
from nova_lite.moves import live_migrate
from tests.unit.moves import moves_base

# The user asked for a host when the server was created; no later move looks at it.
FORCED = {'force_hosts': ['host1'], 'force_nodes': ['host1']}


class StoredSpecTest(moves_base.MoveTestCase):
    def stored(self):
        return self.api_db.read(request_specs.stored, [self.server])[self.server]

    def check(self, made):
        """Check that the scheduler gets the stored spec with a forced host, and no other change."""
        self.api_db.write(request_specs.change, self.server, **FORCED)
        before = self.stored()
        made.choice.select(made.spec(beside=()), beside=())
        self.assertEqual(before, self.stored())
        asked = made.spec(beside=()).stored()
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
