"""An administrator resets the state of a server that is being deleted."""

import testscenarios

from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
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
