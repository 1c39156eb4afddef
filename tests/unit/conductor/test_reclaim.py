"""Soft-deleted servers that were kept long enough."""

from nova_lite import runtime
from nova_lite.db.cell import instances
from tests.unit.conductor import base


class TestReclaim(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        self.cell.conf.set_override('reclaim_instance_interval', 60)
        _ctxt, self.uuid = self.server(host='host-1', vm_state='soft-delete', task_state=None)
        self.change(self.uuid, deleted_at=runtime.naive_now())

    def row(self):
        return self.cell.db.read(instances.find, self.uuid)

    def test_kept(self):
        self.clock.advance(59)
        self.conductor.audit()
        self.assertEqual([], self.sent)

    def test_deleted_when_due(self):
        self.clock.advance(61)
        self.conductor.audit()
        self.assertEqual([('delete_instance', 'host-1')], self.sent)
        self.assertEqual('deleting', self.row().task_state)

    def test_restored_meanwhile(self):
        self.clock.advance(61)
        self.change(self.uuid, task_state='restoring')
        self.conductor.audit()
        self.assertEqual([], self.sent)

    def test_never_without_an_interval(self):
        self.cell.conf.set_override('reclaim_instance_interval', 0)
        self.clock.advance(10**6)
        self.conductor.audit()
        self.assertEqual([], self.sent)
