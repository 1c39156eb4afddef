"""Deletions of several servers that are accepted in one transaction."""

import dataclasses

from nova_lite import context
from nova_lite import exception
from nova_lite.db.cell import actions
from nova_lite.db.cell import deletions
from nova_lite.states import transitions
from tests.unit.conductor import base

DOWN_S = 60


class TestAccept(base.CellConductorTestCase):
    """Servers on a host that is up, on one without a service, and on no host."""

    def setUp(self):
        super().setUp()
        self.conductor.beat(context.admin(), ['host-1', 'host-2'], 1)
        hosts = 'host-1', 'host-2', 'nowhere', None
        self.uuids = [self.running(host) for host in hosts]

    def running(self, host):
        _ctxt, uuid = self.server(vm_state='active', task_state='reboot_pending')
        self.change(uuid, host=host)
        return uuid

    def request(self, uuid, **guard):
        row = self.cell.row(uuid)
        return deletions.Request(
            self.context(), row, dataclasses.replace(transitions.DELETE, **guard)
        )

    def accept(self, requests):
        return self.cell.db.write(deletions.accept, requests, DOWN_S)

    def tasks(self):
        return [self.cell.row(uuid).task_state for uuid in self.uuids]

    def test_all(self):
        requests = [self.request(uuid) for uuid in self.uuids]
        backwards = requests[::-1]
        found = self.accept(backwards)
        self.assertEqual([each.row.uuid for each in backwards], [each.row.uuid for each in found])
        self.assertEqual([False, False, True, True], [each.answers for each in found])
        # What a joint change finds is what was there before.
        self.assertEqual({'reboot_pending'}, {each.row.task_state for each in found})
        self.assertEqual(['deleting'] * 4, self.tasks())
        for request in requests:
            action = self.cell.db.read(actions.get, request.row.uuid, request.ctxt.request_id)
            self.assertEqual('delete', action.action)

    def test_one_that_is_not_as_its_request_demands(self):
        requests = [self.request(uuid) for uuid in self.uuids]
        self.change(self.uuids[1], vm_state='resized')
        requests[1] = self.request(self.uuids[1], vm_states=('active',))
        error = self.assertRaises(exception.StateChanged, self.accept, requests)
        self.assertIn('vm_state is resized', str(error))
        self.assertEqual(['reboot_pending'] * 4, self.tasks())
        for request in requests:
            found = self.cell.db.read(actions.find_newest, request.row.uuid)
            self.assertEqual('create', found.action)

    def test_one_that_changes_cells(self):
        """Its sealed record takes a deletion, its hidden copy takes none."""
        self.change(self.uuids[0], sealed=True)
        self.accept([self.request(uuid) for uuid in self.uuids[:2]])
        self.assertEqual(['deleting', 'deleting'], self.tasks()[:2])
        self.change(self.uuids[2], hidden=True)
        requests = [self.request(uuid) for uuid in self.uuids[2:]]
        self.assertRaises(exception.InstanceNotFound, self.accept, requests)
        self.assertEqual(['reboot_pending'] * 2, self.tasks()[2:])
