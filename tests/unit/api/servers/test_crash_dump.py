"""The action trigger_crash_dump: a saga whose server keeps its states."""

from nova_lite.db.api import sagas
from nova_lite.db.cell import action_lists
from tests.fixtures import compute_api
from tests.unit.api.servers import base

ACTION = 'trigger_crash_dump'


class TestCrashDump(base.Case):
    def begun(self, uuid):
        return self.api.api_db.read(sagas.find_active, uuid)

    def test_begins_a_saga(self):
        uuid = self.api.add_server()
        self.act(uuid, ACTION, version='2.17')
        self.assertEqual('crash-dump', self.begun(uuid).kind)
        row = self.api.row(uuid)
        self.assertEqual(('active', None), (row.vm_state, row.task_state))
        (action,) = self.api.cell('cell1').db.read(action_lists.page, uuid)
        self.assertEqual(ACTION, action.action)

    def test_states(self):
        for vm_state in ('paused', 'rescued', 'resized', 'error'):
            self.act(self.api.add_server(vm_state=vm_state), ACTION, version='2.17')
        for vm_state in ('stopped', 'suspended', 'shelved_offloaded', 'building'):
            uuid = self.api.add_server(vm_state=vm_state)
            self.refused_act(uuid, ACTION, code=409, text=vm_state, version='2.17')
            self.assertIsNone(self.begun(uuid))
        busy = self.api.add_server(task_state='powering-off')
        self.refused_act(busy, ACTION, code=409, text='powering-off', version='2.17')

    def test_refused(self):
        uuid = self.api.add_server()
        self.refused_act(uuid, ACTION, code=404, text='not supported', version='2.16')
        self.refused_act(uuid, ACTION, {}, code=400, text=ACTION, version='2.17')
        self.refused_act(uuid, ACTION, code=403, version='2.17', who=compute_api.READER)
        self.refused_act(self.api.add_server(host=None), ACTION, code=409, version='2.17')
        locked = self.api.add_server(locked=True, locked_by='admin')
        self.refused_act(locked, ACTION, code=409, text='locked', version='2.17')
        self.assertIsNone(self.begun(uuid))
