"""An administrator resets the state of a server that is being deleted, or that was resized."""

import testscenarios

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import confirmations
from tests.unit.api.servers import base


class DeletionTest(testscenarios.WithScenarios, base.Case):
    """It is taken back before it has begun. After that the guest may be destroyed: it goes on."""

    scenarios = [
        ('not begun', {'event': None, 'task': None}),
        *((event, {'event': event, 'task': 'deleting'}) for event in action_lists.DELETIONS),
    ]

    def test_reset(self):
        uuid, database = self.api.add_server(), self.api.cell('cell1').db
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        if self.event is not None:
            asked = database.read(actions.find_newest, uuid)
            database.write(actions.start_event, uuid, asked.request_id, self.event)
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        row = self.api.row(uuid)
        self.assertEqual(('error', self.task), (row.vm_state, row.task_state))


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
