"""Moves to another host of the cell with the same flavor: what they have in common.

An operator may force such a move to a host past the scheduler; its allocations are
then copied from what the server has at its source. Source: reference/nova/moves 4.1 and 5.
"""

import abc

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import placement as placement_client
from nova_lite.db.api import aggregates
from nova_lite.db.cell import actions
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lifecycle import group_policies
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.objects import selection as selection_objects

LOG = log.getLogger(__name__)

BEGIN = 'record the move'
RECORD = 'record destination'
BIND = 'bind ports to destination'
RESERVE = 'reserve volumes for destination'
SWITCH = 'switch host in record'
ACTIVATE = 'activate destination bindings'


class Relocation(move.Move):
    """Base of live migration and evacuation.

    arguments: 'forced': the scheduler is not asked about 'host' and 'node'
    conductor_event: name of the event that stands for the super-conductor's work
    """

    conductor_event = None

    # ---- record the move ----

    @property
    def began(self):
        """What the server was: {'host', 'node', 'vm_state', 'power_state'}."""
        return self.data[BEGIN]

    def begun(self, connection, row):
        actions.start_event(connection, row.uuid, self.ctxt.request_id, self.conductor_event)
        return {
            'host': row.host,
            'node': row.node,
            'vm_state': row.vm_state,
            'power_state': row.power_state,
        }

    # ---- choose destination ----

    @property
    def is_forced(self):
        return self.arguments['forced']

    @property
    def may_retry(self):
        return not self.is_forced

    def spec(self):
        spec = super().spec()
        refused = [each['host'] for each in self.data.get('refused', ())]
        spec.ignore_hosts = [self.began['host'], *refused]
        self.data['group'] = spec.group_uuid
        return spec

    def choose(self):
        """Have the scheduler choose and claim, or claim where the operator says."""
        if self.repeated:
            self.drop_claim()
        if self.is_forced:
            return self._force()
        self._give_up_after_refusals()
        found = self.world.scheduler.select_destinations(
            self.ctxt,
            spec=self.spec(),
            instance_uuids=[self.instance_uuid],
            alternates=False,
            beside=sorted(self.held_beside()),
        )
        return found[0][0].as_dict()

    def _give_up_after_refusals(self):
        refused = self.data.get('refused', ())
        if not refused:
            return
        if self.arguments.get('host'):
            raise exception.NoValidHost(reason=f'{refused[0]["host"]}: {refused[0]["error"]}')
        retries = self.world.conf.migrate_max_retries
        if 0 <= retries < len(refused):
            raise exception.MaxRetriesExceeded(instance_uuid=self.instance_uuid)

    def _force(self):
        host, row = self.arguments['host'], self.row()
        if not self.is_up(host):
            raise exception.ServiceIsDown(binary='nova-compute', host=host)
        node = self.node_row(host, self.arguments['node'])
        self.require_fit(row, node)
        self._copy_allocation(row, node)
        LOG.warning('Server %s is forced to host %s', row.uuid, host)
        zones = self.world.api_db.read(aggregates.zones)
        return selection_objects.Selection(
            service_host=host,
            nodename=node.hypervisor_hostname,
            compute_node_uuid=node.uuid,
            cell_uuid=self.cell.uuid,
            availability_zone=zones.get(host, self.world.conf.default_availability_zone),
        ).as_dict()

    def require_fit(self, row, node):
        """Refuse a forced destination on which the server cannot be. node: compute node."""

    def _copy_allocation(self, row, node):
        """Claim at the destination what is held at the source; raises NoValidHost."""
        placement = self.world.placement
        source = self.node_row(self.began['host'], self.began['node'])
        held = placement.holding(self.ctxt, self.source_consumer)
        resources = held.allocations.get(source.uuid)
        if not resources:
            LOG.warning('Server %s has no allocation on %s', row.uuid, row.host)
            return
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        wanted = {'allocations': {node.uuid: {'resources': resources}}}
        if not placement.claim(self.ctxt, consumer, wanted, beside=self.held_beside()):
            raise exception.NoValidHost(reason=f'{node.host} has no room for the server.')

    @property
    def source_consumer(self):
        """Who holds the source's allocation when a destination is chosen."""
        return self.instance_uuid

    def node_row(self, host, node):
        """A compute node's row; raises ComputeNodeNotFound."""
        found = self.read(compute_nodes.every, host=host, hypervisor_hostname=node)
        if not found:
            raise exception.ComputeNodeNotFound(node=node)
        return found[0]

    # ---- record destination ----

    def record(self):
        """Tell where the server goes, unless its group forbids it by now."""
        group = group_policies.find(self.world.api_db, self.data.get('group'))
        self.write(self._record, group)
        self.data['recorded'] = True

    def _record(self, connection, group):
        chosen, row = self.destination, instances.get(connection, self.instance_uuid)
        group_places.check(connection, row.uuid, chosen.service_host, group)
        instances.update(connection, row.uuid, {}, expect_task=self.tasks)
        columns = self.destination_columns(connection)
        migrations.update(connection, self.uuid, {**columns, **self.columns_when_recorded})

    columns_when_recorded = {}

    def forget(self):
        """Undo of `record`: where the server was to go stays on record, until it may be another."""
        if self.turning and not self.arguments.get('host'):
            self.write(migrations.update, self.uuid, migrations.NOWHERE)

    # ---- ports and volumes ----

    def bind(self):
        info = self.row().network_info
        if not info:
            return saga.Skipped()
        neighbours.bind(self.world, self.ctxt, info, self.destination.service_host)
        return None

    def unbind(self):
        row = self.read(instances.find, self.instance_uuid)
        if row is not None and not row.deleted:
            host = self.destination.service_host
            neighbours.unbind(self.world, self.ctxt, row.network_info, host)

    def reserve(self):
        devices = self.devices()
        if not neighbours.has_volumes(devices):
            return saga.Skipped()
        return neighbours.reserve(
            self.world, self.ctxt, self.instance_uuid, devices, repeated=self.repeated
        )

    def unreserve(self):
        devices = self.devices()
        if any(device.get('attachment_id') for device in devices) or self.is_gone():
            neighbours.drop_foreign(self.world, self.ctxt, self.instance_uuid, devices)

    def arriving_devices(self):
        """The block devices with the attachments for the destination."""
        return neighbours.with_attachments(self.devices(), self.data.get(RESERVE) or {})

    # ---- switch host in record ----

    def switch(self):
        """From here on the server is the destination's."""
        self.write(self._switch)

    def _switch(self, connection):
        chosen, row = self.destination, instances.get(connection, self.instance_uuid)
        if row.host == chosen.service_host:
            return
        instances.update(
            connection,
            row.uuid,
            {
                'host': chosen.service_host,
                'node': chosen.nodename,
                'availability_zone': chosen.availability_zone,
                **self.columns_of_arrival(),
            },
            expect_task=self.tasks,
            expect_host=(self.began['host'],),
        )
        move_records.change_devices(connection, self.data.get(RESERVE), self.connected())
        self.switched(connection)

    def columns_of_arrival(self):
        """Further columns that the server has from the switch on."""
        return {}

    @abc.abstractmethod
    def connected(self):
        """[{'uuid', 'connection_info'}] of the volumes as the destination reaches them."""

    def switched(self, connection):
        """What a kind of move records besides with the switch."""

    # ---- what follows ----

    def activate(self):
        """Plug the ports on the destination only; keeps network_info as it is there."""
        row = self.read(instances.find, self.instance_uuid)
        if instances.is_gone(row) or not row.network_info:
            return saga.Skipped()
        info = neighbours.activate(
            self.world,
            self.ctxt,
            row.uuid,
            row.network_info,
            self.destination.service_host,
        )
        neighbours.unbind(self.world, self.ctxt, info, self.began['host'])
        return info

    def drop_attachments(self):
        """End the attachments that connect the source to the volumes."""
        if not self.data.get(RESERVE):
            return saga.Skipped()
        for former, _new in self.data[RESERVE].values():
            self.world.volume.delete_attachment(self.ctxt, former)
        return None

    def settle(self, connection, columns):
        """Give a server that has arrived its last columns and clear its task."""
        row = instances.find(connection, self.instance_uuid)
        if instances.is_gone(row):
            return
        info = self.data.get(ACTIVATE)
        more = {'network_info': info} if info else {}
        try:
            instances.update(
                connection,
                row.uuid,
                {'task_state': None, 'progress': 0, **more, **columns},
                expect_task=self.tasks,
            )
        except exception.StateChanged as error:
            LOG.info('Server %s keeps its states: %s', row.uuid, error)

    # ---- hosts ----

    def require_up(self, host):
        """Raise ServiceIsDown for a host that is forced down, Unavailable for a silent one.

        A silent host may be heard of again in a moment, after its conductor, for example.
        """
        service = self.read(services.find, host)
        if service is None or service.forced_down:
            raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)
        if not services.is_up(service, self.world.conf.service_down_time):
            raise exception.Unavailable(
                service=f'Compute service of host {host}', reason='it does not report'
            )

    def ask_host(self, host, method, **arguments):
        """Call a method of a host's compute, unless that is down; see `require_up`."""
        self.require_up(host)
        return self.ask(method, {'host': host, **arguments})
