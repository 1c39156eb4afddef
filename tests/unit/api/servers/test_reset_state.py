"""An administrator resets the state of a server that is being deleted, or that was resized."""

import testscenarios

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import reset_builds
from nova_lite.lifecycle import confirmations
from nova_lite.lifecycle import intents
from tests.fixtures import saga_rows
from tests.unit.api.servers import base


class DeletionTest(testscenarios.WithScenarios, base.Case):
    """It goes on, whether its host has begun or not: it was answered with 204."""

    scenarios = [(str(event), {'event': event}) for event in (None, *action_lists.DELETIONS)]

    def test_reset(self):
        uuid, database = self.api.add_server(), self.api.cell('cell1').db
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        if self.event is not None:
            asked = database.read(actions.find_newest, uuid)
            database.write(actions.start_event, uuid, asked.request_id, self.event)
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        row = self.api.row(uuid)
        self.assertEqual(('error', 'deleting'), (row.vm_state, row.task_state))


class ForcedDeletionTest(base.Case):
    def test_it_does_not_count_again(self):
        """Quotas do not count a softly deleted server, nor its deletion before its time."""
        uuid = self.api.add_server(vm_state='soft-delete', deleted_at=runtime.naive_now())
        self.act(uuid, 'forceDelete')
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertTrue(mapping.queued_for_delete)


class ResizedTest(base.Case):
    def test_the_confirmation_cannot_begin(self):
        """The state is reset by then, so the request succeeds. An audit confirms the resize."""
        uuid, database = self.api.add_server(vm_state='resized'), self.api.cell('cell1').db
        values = {'migration_type': 'resize', 'status': 'finished', 'source_compute': 'host-2'}
        values |= {'uuid': runtime.new_uuid(), 'instance_uuid': uuid, 'dest_compute': 'host-1'}
        database.write(migrations.create, values)

        def away(*_args):
            raise exception.Unavailable(service='The database', reason='it does not answer')

        self.patch(confirmations, 'begin', away)
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        self.assertEqual('error', self.api.row(uuid).vm_state)
        self.assertEqual('finished', database.read(migrations.get, values['uuid']).status)


class BuildTest(base.Case):
    def build(self, **columns):
        """Reset the state of a server with arguments of a build. Return the column `build`."""
        uuid = self.api.add_server(build={'options': {}}, **columns)
        for state in ('error', 'active'):
            self.act(uuid, 'os-resetState', {'state': state}, who=base.ADMIN)
        row = self.api.row(uuid)
        self.assertEqual(('active', None), (row.vm_state, row.task_state))
        return row.build

    def test_of_a_server_that_is_being_built(self):
        """The build needs its arguments."""
        build = self.build(vm_state='building', task_state='spawning')
        self.assertEqual({'options': {}, reset_builds.MARK: True}, build)

    def test_of_one_whose_build_has_failed(self):
        """Its host must not clear the server any more."""
        self.assertIsNone(self.build(vm_state='error', task_state=None))


class MovingTest(base.Case):
    """The task of a saga was reset, but the saga continues: it may remove the guest meanwhile."""

    def setUp(self):
        super().setUp()
        self.patch(intents, 'END_TIMEOUT_S', 0)
        self.uuid = self.api.add_server()

    def reset(self, kind):
        """Begin a saga and reset the state. Return the uuid of the saga."""
        saga = saga_rows.create(self.api.api_db, kind=kind, instance_uuid=self.uuid)
        self.act(self.uuid, 'os-resetState', {'state': 'active'}, who=base.ADMIN)
        return saga

    def reboot(self, kind='HARD'):
        self.act(self.uuid, 'reboot', {'type': kind})

    def test_hard_reboot(self):
        for kind in ('shelve', 'shelve-offload', 'rebuild', 'revert-resize', 'evacuation'):
            saga = self.reset(kind)
            self.refused_act(
                self.uuid, 'reboot', {'type': 'HARD'}, code=409, text='another operation is moving'
            )
            self.assertIsNone(self.api.row(self.uuid).task_state)
            self.api.api_db.write(sagas.withdraw, saga)
        self.reboot()

    def test_what_creates_no_guest(self):
        self.reset('rebuild')
        self.reboot('SOFT')

    def test_during_an_attachment(self):
        """It sets no task, and does not remove the guest."""
        self.reset('attach-volume')
        self.reboot()

    def test_the_saga_ends_meanwhile(self):
        """The reboot is begun where the saga has left the server."""
        self.patch(intents, 'END_TIMEOUT_S', 60)
        saga, database = self.reset('revert-resize'), self.api.cell('cell1').db
        self.api.add_host('host2')

        def pause(_req, _seconds):
            database.write(instances.update, self.uuid, {'host': 'host2', 'node': 'host2'})
            self.api.api_db.write(sagas.withdraw, saga)

        self.patch(self.api.app.waiters, 'pause', pause)
        self.reboot()
        self.assertEqual('host2', self.sent()[-1][1]['host'])
