"""Deletions without a host that a neighbour refuses: for a moment, for minutes, or for good."""

import itertools

import testscenarios

from nova_lite import exception
from nova_lite import runtime
from nova_lite.conductor import audit
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.superconductor import world as super_world
from nova_lite.superconductor.audits import disposals
from tests.fixtures import api_neighbours
from tests.fixtures import clock
from tests.unit.api.servers import base

VIF = {'id': api_neighbours.PORT_ID, 'preserve_on_delete': False}
# {where the server is: (cell, columns of its record)}
PLACES = {
    'in cell0': ('cell0', {'host': None, 'node': None, 'vm_state': 'error'}),
    'on no host': ('cell1', {'host': None, 'node': None, 'vm_state': 'shelved_offloaded'}),
    'on a host that is down': ('cell1', {}),
}
SOFTLY = {
    'soft-deleted': ('cell1', {'vm_state': 'soft-delete', 'deleted_at': runtime.naive_now()}),
}
# {service: the method of its client that it refuses}
REQUESTS = {
    'placement': 'delete_allocations',
    'network': 'deallocate',
    'volume': 'delete_attachment',
}
# {status: error of the client}
ERRORS = {
    400: exception.NeighbourError(service='x', status=400, request='y', reason='z'),
    403: exception.NeighbourForbids(service='x', reason='z'),
    409: exception.Conflict(reason='z'),
    503: exception.Unavailable(service='x', reason='z'),
}
# Seconds between two audits, and those in which a refusal has to come to its end.
EACH_S, MINUTES_S = 30, 300


def _scenarios(services, statuses, places):
    return [
        (f'{service} {status} {place}', {'service': service, 'status': status, 'place': place})
        for service, status, place in itertools.product(services, statuses, places)
    ]


class RefusedCase(testscenarios.WithScenarios, base.Case):
    """place: of PLACES; service: of REQUESTS; status: of ERRORS"""

    scenarios = []

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell_name, columns = {**PLACES, **SOFTLY}[self.place]
        self.cell = self.api.cell(self.cell_name)
        self.server = self.api.add_server(self.cell_name, network_info=[VIF], **columns)
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.server,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': api_neighbours.VOLUME_ID,
            'attachment_id': runtime.new_uuid(),
            'delete_on_termination': True,
        }
        self.cell.db.write(children.create_block_devices, [device])
        if self.cell_name != 'cell0':
            down = {'forced_down': True}
            self.cell.db.write(services.beat, ['host1'], services.COMPUTE, 'compute')
            service = self.cell.db.read(services.find, 'host1')
            self.cell.db.write(services.update, service.uuid, down)
        world = super_world.World(
            self.api.conf,
            api_db=self.api.api_db,
            cells=self.api.cells,
            scheduler=None,
            clients=self.api.neighbours,
        )
        self.disposals = disposals.Disposals(world)
        db = self.api.cell('cell1').db
        idle_s = self.api.conf.conductor.audit_idle_s
        # A service that does not answer refuses nothing.
        self.is_away = self.status == 503
        self.audit = audit.Audit(
            db.write, db.read, rescheduler=None, clients=self.api.neighbours, idle_s=idle_s
        )

    def refuse(self, status=None):
        """The service refuses the request until the returned function is called."""
        client, method = getattr(self.api.neighbours, self.service), REQUESTS[self.service]

        def refuse(*_args, **_kwargs):
            raise ERRORS[status or self.status]

        setattr(client, method, refuse)
        return lambda: delattr(client, method)

    def audit_for(self, seconds):
        for _ in range(seconds // EACH_S):
            self.clock.advance(EACH_S)
            self.disposals.run()
            self.audit.run()

    def row(self):
        return self.api.row(self.server, self.cell_name)

    def delete(self, code=204):
        self.ok('DELETE', f'/servers/{self.server}', code=code)

    def actions(self):
        """[(name, message, whether all its events have ended), ...], oldest first."""
        read = self.cell.db.read
        found = read(rows.every, actions.ACTIONS, order_by=actions.ACTIONS.c.id)
        events = read(actions.events_of, [row.id for row in found])
        return [
            (row.action, row.message, all(each.finish_time for each in events.get(row.id, ())))
            for row in found
        ]


class RefusedTest(RefusedCase):
    scenarios = [
        *_scenarios(REQUESTS, ERRORS, PLACES),
        *_scenarios(['volume'], [409], SOFTLY),
    ]

    def test_for_good(self):
        """It ends with a fault. When the service gives in, the user deletes the server again."""
        give_in = self.refuse()
        self.delete(503 if self.is_away else 204)
        self.assertEqual('deleting', self.row().task_state)
        self.audit_for(MINUTES_S)
        row = self.row()
        if self.is_away:
            self.assertEqual('deleting', row.task_state)
            give_in()
            self.audit_for(MINUTES_S)
            self.assertTrue(self.row().deleted)
            return
        self.assertEqual(('error', None, None), (row.vm_state, row.task_state, row.deleted_at))
        fault = self.cell.db.read(instances.faults, [self.server])[self.server]
        self.assertEqual((500, ERRORS[self.status].message), (fault.code, fault.message))
        self.assertEqual([('delete', 'Error', True)], self.actions())
        self.audit_for(MINUTES_S)
        self.delete()
        self.assertEqual('deleting', self.row().task_state)
        give_in()
        self.delete()
        self.assertTrue(self.row().deleted)
        self.assertEqual(('delete', None, True), self.actions()[-1])

    def test_for_a_moment(self):
        """An audit finishes the deletion."""
        give_in = self.refuse()
        self.delete(503 if self.is_away else 204)
        give_in()
        self.audit_for(MINUTES_S)
        self.assertTrue(self.row().deleted)


class OutageTest(RefusedCase):
    scenarios = _scenarios(['volume'], [409], PLACES)

    def test_for_a_moment_afterwards(self):
        """A refusal is repeated, however long the service did not answer before."""
        give_in = self.refuse(503)
        self.delete(503)
        self.audit_for(MINUTES_S)
        give_in()
        give_in = self.refuse()
        self.audit_for(4 * EACH_S)
        self.assertEqual('deleting', self.row().task_state)
        give_in()
        self.audit_for(MINUTES_S)
        self.assertTrue(self.row().deleted)
