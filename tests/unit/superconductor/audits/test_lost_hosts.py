"""Deletions whose hosts went down before they did them."""

import testscenarios

from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.superconductor import world as super_world
from nova_lite.superconductor.audits import disposals
from tests.fixtures import clock
from tests.fixtures import saga_rows
from tests.unit.api.servers import base

LATER_S = 100


class LostHostTest(testscenarios.WithScenarios, base.Case):
    """The server is on host1, whose deletion has made no progress.

    heard: services that report at the end; values: columns of the host's service
    gone: whether the audit deletes the server
    """

    scenarios = [
        ('up', {'heard': ('host', 'conductor'), 'values': {}, 'gone': False}),
        ('silent', {'heard': ('conductor',), 'values': {}, 'gone': True}),
        ('not heard', {'heard': (), 'values': {}, 'gone': False}),
        ('forced down', {'heard': (), 'values': {'forced_down': True}, 'gone': True}),
        ('removed', {'heard': ('conductor',), 'values': None, 'gone': True}),
    ]

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.api.cell('cell1')
        self.hear('host', 'conductor')
        self.server = self.api.add_server()
        self.ok('DELETE', f'/servers/{self.server}', code=204)
        self.assertEqual('deleting', self.api.row(self.server).task_state)
        world = super_world.World(
            self.api.conf,
            api_db=self.api.api_db,
            cells=self.api.cells,
            scheduler=None,
            clients=self.api.neighbours,
        )
        self.disposals = disposals.Disposals(world)

    def hear(self, *names):
        if 'host' in names:
            self.cell.db.write(services.beat, ['host1'], services.COMPUTE, 'compute')
        if 'conductor' in names:
            self.cell.db.write(services.beat, ['conductor'], services.CONDUCTOR, 'conductor')

    def pass_time(self):
        self.clock.advance(LATER_S)
        self.hear(*self.heard)
        service = self.cell.db.read(services.find, 'host1')
        if self.values is None:
            self.cell.db.write(services.destroy, service.uuid)
        elif self.values:
            self.cell.db.write(services.update, service.uuid, self.values)

    def test_audit(self):
        self.pass_time()
        self.disposals.run()
        row = self.api.row(self.server)
        self.assertEqual(self.gone, bool(row.deleted))
        self.assertEqual(self.gone, self.server in self.api.neighbours.placement.released)

    def test_a_saga_has_the_server(self):
        """It notices the deletion."""
        saga_rows.create(self.api.api_db, kind='live-migration', instance_uuid=self.server)
        self.pass_time()
        self.disposals.run()
        self.assertFalse(self.api.row(self.server).deleted)

    def test_reset_meanwhile(self):
        """An administrator resets the state of a server while the audit deletes another one."""
        other = self.api.add_server()
        self.ok('DELETE', f'/servers/{other}', code=204)
        self.pass_time()
        placement = self.api.neighbours.placement
        delete = placement.delete_allocations

        def reset_then_delete(ctxt, consumer, **options):
            reset = other if consumer == self.server else self.server
            if not placement.released:
                self.cell.db.write(instances.force, reset, {'task_state': None})
            return delete(ctxt, consumer, **options)

        placement.delete_allocations = reset_then_delete
        self.disposals.run()
        rows = [self.api.row(uuid) for uuid in (self.server, other)]
        deleted = [row.uuid for row in rows if row.deleted]
        self.assertEqual(1 if self.gone else 0, len(deleted))
        self.assertEqual(deleted, [*placement.released])
