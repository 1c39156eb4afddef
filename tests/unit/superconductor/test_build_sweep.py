"""Builds that were not finished in time, among them one that no database can store."""

import fixtures

from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.saga import retries
from nova_lite.superconductor import build_sweep
from tests.unit.superconductor import build_base

# Too long for its column; and, for SQLite, which stores any text, nothing it knows.
TOO_LONG, NO_TEXT = 'x' * 300, ['x']


class SweepBase(build_base.BuildTestCase):
    def setUp(self):
        super().setUp()
        self.sweep = build_sweep.BuildSweep(self.world)
        self.stopping = runtime.Event()

    def poison(self, uuid, **values):
        """Give an accepted server values that its record cannot have."""
        self.api_db.write(_change, uuid, {'instance': values})

    def run_sweep(self):
        """A sweep for which the leases of all builds have run out."""
        found = self.api_db.read(build_requests.every)
        self.api_db.write(build_requests.expire, {each.instance_uuid: each.epoch for each in found})
        self.sweep.run(self.stopping)

    def assertHoldsUpNoOther(self, **values):
        poisoned, self.uuid = self.uuid, self.accept('r-2')
        self.poison(poisoned, **values)
        self.run_sweep()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.uuid = poisoned
        self.assertEqual(([], None, True), self.where())

    def assertIsBuried(self, **values):
        self.poison(self.uuid, **values)
        for _ in range(retries.MOST_DEFECTS):
            self.run_sweep()
        self.assertEqual((['cell0'], 'cell0', False), self.where())
        self.assertEqual(self.uuid, self.placement.freed[-1])
        self.assertEqual([], self.compute.built)
        cell0 = self.cell('cell0').db
        self.assertEqual('error', cell0.read(instances.get, self.uuid).vm_state)
        fault = cell0.read(instances.faults, [self.uuid])[self.uuid]
        self.assertIn('cannot be built', fault.message)


class SweepTest(SweepBase):
    def test_a_scheduler_that_hangs_holds_up_no_other(self):
        self.useFixture(fixtures.MonkeyPatch(f'{build_sweep.__name__}.WAIT_S', 0.1))
        # That of the newest request hangs.
        self.accept('r-2')
        hangs, asked = runtime.Event(), []
        self.addCleanup(self.sweep.wait)
        self.addCleanup(hangs.set)

        def hang():
            asked.append(True)
            if len(asked) == 1:
                runtime.wait(hangs)

        self.scheduler.before = hang
        # The next call waits for the one that hangs, and then is made beside it.
        self.world.selections._combiner._patience_s = 0.01
        self.run_sweep()
        runtime.wait_all(self.sweep._running[1:], 60)
        self.assertEqual([('host-1', self.uuid)], self.compute.built)

    def test_what_cannot_be_stored_holds_up_no_other(self):
        self.assertHoldsUpNoOther(os_type=NO_TEXT)

    def test_what_cannot_be_stored_is_buried(self):
        self.assertIsBuried(os_type=NO_TEXT, architecture=TOO_LONG)

    def test_builders_that_died_do_not_count(self):
        """A failure that does not last, after conductors were restarted again and again."""
        for _ in range(2 * retries.MOST_DEFECTS):
            self.take_over()
        self.scheduler.error = RuntimeError('once')
        self.run_sweep()
        self.assertEqual(([], None, True), self.where())
        self.scheduler.error = None
        self.run_sweep()
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_others_are_free_while_one_is_built(self):
        """Another super-conductor may take up what this sweep has not come to."""
        self.accept('r-2')
        found = {}

        def look():
            self.scheduler.before = lambda: None
            found.update(self.api_db.write(build_requests.take_over, 60))

        self.scheduler.before = look
        self.run_sweep()
        ((waiting,),) = found.values()
        ((_host, built),) = self.compute.built
        self.assertNotEqual(waiting.instance_uuid, built)


class DeletedSiblingTest(build_base.BuildTestCase):
    """One server of a multi-create is deleted before any is scheduled."""

    def delete(self, uuid):
        self.api_db.write(build_requests.withdraw, uuid, 60)
        self.api_db.write(instance_mappings.destroy, uuid)
        self.api_db.write(request_specs.destroy, uuid)

    def test_the_others_are_built(self):
        deleted, self.uuid = self.uuid, self.accept('r-1')
        batch = self.api_db.read(build_requests.of, [deleted, self.uuid])
        attempt = build_base.build.Build(self.world, self.attempt().ctxt, batch)
        self.delete(deleted)
        attempt.run()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_nothing_is_left_to_build(self):
        attempt = self.attempt()
        self.delete(self.uuid)
        attempt.run()
        self.assertEqual(([], None, False), self.where())
        self.assertEqual([], self.placement.freed)


def _change(connection, uuid, columns):
    table = models.BuildRequest.__table__
    row = build_requests.get(connection, uuid)
    values = {name: {**getattr(row, name), **more} for name, more in columns.items()}
    connection.execute(table.update().where(table.c.instance_uuid == uuid).values(values))
