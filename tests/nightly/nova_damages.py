"""The damage of a real nova that breaks each invariant."""

import contextlib

from nova_lite import runtime
from tests.nightly import nova_changes

OLD, NOWHERE = nova_changes.OLD, nova_changes.NOWHERE
HELD = {'VCPU': 1}


class Damages:
    """The damages, a method for each invariant, which returns a context.

    server: id of a server with a port and a volume; offloaded: id of one without a host
    """

    def __init__(self, databases, services, server, offloaded):
        self.db, self.services, self.offloaded = databases, services, offloaded
        (mapping,) = databases.rows('api', 'instance_mappings', instance_uuid=server)
        cells = {row['id']: row for row in databases.rows('api', 'cell_mappings')}
        self.uuid = server
        self.cell_id = mapping['cell_id']
        self.cell = cells[self.cell_id]['name']
        self.other = {'cell1': 'cell2', 'cell2': 'cell1'}[self.cell]
        self.other_id = next(id for id, row in cells.items() if row['name'] == self.other)
        (self.row,) = databases.rows(self.cell, 'instances', uuid=server)
        self.host = self.row['host']
        (self.node,) = databases.rows(self.cell, 'compute_nodes', host=self.host)
        self.others = databases.rows(self.other, 'compute_nodes', deleted=0)
        (self.device,) = [
            row
            for row in databases.rows(self.cell, 'block_device_mapping', instance_uuid=server)
            if row['volume_id']
        ]

    def mapped(self, **values):
        """Add an instance mapping of a server that does not exist."""
        row = {'instance_uuid': NOWHERE, 'cell_id': self.cell_id, 'project_id': 'p'}
        row |= {'user_id': 'u', 'queued_for_delete': False, 'created_at': OLD, **values}
        return self.db.added('api', 'instance_mappings', **row)

    def record(self, name, **values):
        """Add a record of a server to a cell."""
        row = {'uuid': NOWHERE, 'vm_state': 'active', 'deleted': 0, 'hidden': False, **values}
        return self.db.added(name, 'instances', **row)

    def here(self, **values):
        """Change the server's record."""
        return self.db.changed(self.cell, 'instances', {'uuid': self.uuid}, **values)

    def spec(self):
        """Add a request spec of a server that does not exist."""
        return self.db.added('api', 'request_specs', instance_uuid=NOWHERE, spec='{}')

    @contextlib.contextmanager
    def all(self, *contexts):
        """Enter all contexts."""
        with contextlib.ExitStack() as stack:
            for each in contexts:
                stack.enter_context(each)
            yield

    def R1(self):
        return self.all(self.mapped(), self.record(self.cell, deleted=10**6))

    def R2(self):
        return self.mapped()

    def R3(self):
        where = {'instance_uuid': self.uuid}
        return self.db.changed('api', 'instance_mappings', where, cell_id=self.other_id)

    def R4(self):
        return self.db.removed('api', 'instance_mappings', instance_uuid=self.uuid)

    def R5(self):
        return self.record(self.other, uuid=self.uuid)

    def R6(self):
        return self.record(self.other, uuid=self.uuid, hidden=True)

    def R7(self):
        return self.db.added('api', 'build_requests', instance_uuid=self.uuid, project_id='p')

    def R8(self):
        return self.mapped(cell_id=None)

    def R9(self):
        return self.all(
            self.mapped(cell_id=None),
            self.db.added(
                'api', 'build_requests', instance_uuid=NOWHERE, project_id='p', created_at=OLD
            ),
        )

    def R10(self):
        return self.db.removed('api', 'request_specs', instance_uuid=self.uuid)

    def R11(self):
        return self.spec()

    def R12(self):
        row = {'uuid': NOWHERE, 'instance_uuid': NOWHERE, 'deleted': 0}
        return self.db.added(self.cell, 'block_device_mapping', **row)

    def H1(self):
        return self.db.added('api', 'host_mappings', host='old', cell_id=self.cell_id)

    def H2(self):
        return self.db.changed('api', 'host_mappings', {'host': self.host}, cell_id=self.other_id)

    def H3(self):
        return self.db.removed('api', 'host_mappings', host=self.host)

    def service(self, name, **values):
        """Add a compute service to a cell."""
        row = {'binary': 'nova-compute', 'topic': 'compute', 'deleted': 0, 'report_count': 0}
        return self.db.added(name, 'services', **row, **values)

    def H4(self):
        return self.service(self.other, host=self.host)

    def H5(self):
        name = self.others[0]['host']
        where = {'host': name, 'binary': 'nova-compute'}
        return self.all(
            self.db.changed(self.other, 'services', where, deleted=10**6),
            self.db.removed('api', 'host_mappings', host=name),
        )

    def H6(self):
        # Not the time of NOW(), which has no fraction.
        now = runtime.naive_now().replace(microsecond=0)
        return self.service(self.cell, host='new', last_seen_up=now)

    def H7(self):
        return self.here(node='old')

    def H8(self):
        (aggregate,) = self.db.rows('api', 'aggregates')
        return self.db.added('api', 'aggregate_hosts', host='old', aggregate_id=aggregate['id'])

    def H9(self):
        row = {'uuid': NOWHERE, 'host': self.host, 'hypervisor_hostname': 'new', 'deleted': 0}
        numbers = ('vcpus', 'memory_mb', 'local_gb', 'vcpus_used', 'memory_mb_used')
        row |= dict.fromkeys((*numbers, 'local_gb_used', 'hypervisor_version'), 0)
        row |= {'hypervisor_type': 'fake', 'cpu_info': ''}
        return self.db.added(self.cell, 'compute_nodes', **row)

    def H10(self):
        return self.services.provider(NOWHERE)

    def aggregate(self):
        """Return (uuid of the aggregate, its only member's node uuid)."""
        (aggregate,) = self.db.rows('api', 'aggregates')
        (member,) = self.db.rows('api', 'aggregate_hosts', aggregate_id=aggregate['id'])
        (node,) = self.db.rows('cell1', 'compute_nodes', host=member['host'])
        return aggregate['uuid'], node['uuid']

    def H11(self):
        aggregate, node = self.aggregate()
        return self.services.in_aggregates(node, lambda names: names - {aggregate})

    def H12(self):
        aggregate, _node = self.aggregate()
        (other,) = self.db.rows('cell2', 'compute_nodes', host='cell2-host1')
        return self.services.in_aggregates(other['uuid'], lambda names: names | {aggregate})

    def P1(self):
        return self.services.holding(self.uuid, {self.node['uuid']: None})

    def P2(self):
        held = {'VCPU': 1, 'MEMORY_MB': 64, 'DISK_GB': 1}
        return self.services.holding(self.uuid, {self.node['uuid']: held})

    def P3(self):
        return self.services.holding(self.uuid, {self.others[0]['uuid']: HELD})

    def P4(self):
        return self.services.holding(self.offloaded, {self.node['uuid']: HELD})

    def P5(self):
        return self.services.holding(NOWHERE, {self.node['uuid']: HELD})

    def migration(self, **values):
        """Add a migration of the server."""
        row = {'uuid': NOWHERE, 'instance_uuid': self.uuid, 'deleted': 0, 'hidden': False}
        row |= {'migration_type': 'migration', 'source_compute': self.host}
        row |= {'source_node': self.node['hypervisor_hostname'], **values}
        return self.db.added(self.cell, 'migrations', **row)

    def P6(self):
        held = self.services.holding(NOWHERE, {self.node['uuid']: HELD})
        return self.all(self.migration(status='confirmed'), held)

    def device_with(self, **values):
        """Change the block device of the volume."""
        where = {'id': self.device['id']}
        return self.db.changed(self.cell, 'block_device_mapping', where, **values)

    def V1(self):
        return self.device_with(attachment_id=NOWHERE)

    def attached(self, uuid):
        """Reserve another volume for a server."""
        return self.services.attachment(uuid)

    def V2(self):
        return self.attached(self.uuid)

    def V3(self):
        return self.attached(NOWHERE)

    def V4(self):
        return self.device_with(volume_id=NOWHERE)

    def V5(self):
        return self.services.volume_status(self.device['volume_id'], 'error')

    def port(self, **values):
        """Change the port of the server."""
        (port,) = self.services.connection.network.ports(device_id=self.uuid)
        return self.services.changed_port(port, **values)

    def N1(self):
        return self.port(device_id=NOWHERE)

    def N2(self):
        return self.port(binding_host_id=self.others[0]['host'])

    def T1(self):
        return self.here(task_state='rebooting', updated_at=OLD)

    def T2(self):
        return self.here(vm_state='building', updated_at=OLD)

    def T3(self):
        return self.migration(status='migrating', updated_at=OLD)

    def T4(self):
        return self.migration(status='finished')

    def T5(self):
        return self.here(vm_state='resized')
