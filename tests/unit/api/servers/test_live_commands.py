"""Aborting and forcing live migrations: what becomes of a command that no host hears of."""

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from nova_lite.saga import journal
from tests.unit.api.servers import base

AWAY = exception.Unavailable(service='bus', reason='gone')


class WishesTest(base.Case):
    def setUp(self):
        super().setUp()
        self.server = self.api.add_server(task_state='migrating')
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.server,
            'migration_type': 'live-migration',
            'status': 'running',
            'source_compute': 'host1',
            'source_node': 'host1.example',
        }
        self.uuid = values['uuid']
        self.api.cell('cell1').db.write(migrations.create, values)
        self.path = f'/servers/{self.server}/migrations/{self.row().id}'
        for method in ('live_migration_abort', 'live_migration_force_complete'):
            self.api.compute['cell1'].answers[method] = AWAY

    def test_an_id_that_is_no_number_is_not_found(self):
        path = f'/servers/{self.server}/migrations'
        self.refused('GET', f'{path}/x', version='2.23', who=base.ADMIN, code=404)
        self.ok('GET', self.path, version='2.23', who=base.ADMIN)

    def row(self):
        return self.api.cell('cell1').db.read(migrations.get, self.uuid)

    def test_an_abort_is_remembered(self):
        """The host finds it when it reads the migration next, so the request has not failed."""
        self.ok('DELETE', self.path, version='2.65', who=base.ADMIN, code=202)
        self.assertIn(live_migrations.ABORT, live_migrations.commands(self.row()))

    def test_the_event_of_a_command_begins_with_the_request(self):
        self.ok('DELETE', self.path, version='2.65', who=base.ADMIN, code=202)
        self.assertEqual([('host1', None)], self.events())
        self.ok('DELETE', self.path, version='2.65', who=base.ADMIN, code=202)
        self.assertEqual([('host1', None), ('host1', 'Error')], self.events())

    def events(self):
        """[(host, result), ...], oldest first."""
        found = self.api.cell('cell1').db.read(
            rows.every, actions.EVENTS, order_by=actions.EVENTS.c.id
        )
        return [(row.host, row.result) for row in found]

    def test_an_abort_of_what_no_super_conductor_is_told_of(self):
        self.api.super_conductor.answers['run_saga'] = AWAY
        self.api.api_db.write(self.park)
        self.ok('DELETE', self.path, version='2.65', who=base.ADMIN, code=202)
        saga = self.api.api_db.read(sagas.get, self.uuid)
        self.assertLessEqual(saga.wake_at, runtime.naive_now())
        self.assertEqual(['run_saga'], [call[0] for call in self.api.super_conductor.calls])

    def park(self, connection):
        """The saga looks at the migration in an hour."""
        sagas.create(
            connection,
            context.admin(),
            uuid=self.uuid,
            kind='live-migration',
            instance_uuid=self.server,
            arguments={},
            wake_in_s=3600,
        )
        connection.execute(sagas.TABLE.update().values(state=journal.PARKED))

    def test_a_force_is_remembered(self):
        body = {'force_complete': None}
        self.ok('POST', f'{self.path}/action', body, version='2.22', who=base.ADMIN, code=202)
        self.assertIn(live_migrations.FORCE_COMPLETE, live_migrations.commands(self.row()))
