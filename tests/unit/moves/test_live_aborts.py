"""Aborts that meet the begin of a live migration's copy."""

from nova_lite import context
from nova_lite import exception
from nova_lite.db.cell import live_migrations
from nova_lite.moves import live_migrate
from nova_lite.moves.parts import live_checks
from tests.unit.moves import moves_base


class AbortTest(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.made = self.live_migration()
        steps = self.made.steps()
        names = [str(step.id) for step in steps]
        checks, accept, copy = map(
            names.index, (live_checks.CHECK_DEST, 'accept-destination', live_migrate.COPY)
        )
        self.do(self.made, steps[:checks])
        self.made.results.keep(live_checks.CHECK_DEST, {'facts': {}, 'block_migration': False})
        self.made.results.keep(live_checks.CHECK_SOURCE, {'max_concurrent': 1})
        self.do(self.made, steps[accept:copy])
        self.copy, self.rest = steps[copy], steps[copy:]

    def abort(self):
        self.cell.db.write(self._abort)

    def _abort(self, connection):
        row = live_migrations.lock(connection, self.made.uuid)
        live_migrations.add_command(connection, row, live_migrations.ABORT, context.admin())

    def lose_reply(self):
        """Ask the source, which copies at once. Its reply is lost."""
        asked = self.cell.answers.live_migration

        def lost(*args, **kwargs):
            asked(*args, **kwargs)
            raise exception.Unavailable(service='compute', reason='the reply was lost')

        self.cell.answers.live_migration = lost
        self.assertRaises(exception.Unavailable, self.copy.do)
        self.cell.answers.live_migration = asked

    def test_after_a_copy_whose_reply_was_lost(self):
        """The guest has left: if it were booted at the source, its memory would be lost."""
        self.lose_reply()
        self.assertEqual('running', self.status(self.made.uuid))
        self.abort()
        self.do(self.made, self.rest)
        self.assertEqual('completed', self.status(self.made.uuid))
        self.assertEqual(moves_base.DEST, self.cell.instance(self.server).host)

    def test_before_the_source_is_asked(self):
        self.abort()
        self.assertRaises(exception.LiveMigrationAborted, self.copy.do)
        self.assertEqual('preparing', self.status(self.made.uuid))
        jobs = self.cell.driver.list_jobs(moves_base.SOURCE, self.server)
        self.assertEqual([], [job.verb for job in jobs])
