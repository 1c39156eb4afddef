"""A server goes to another host of its cell, with the flavor that it has.

An operator may force it to a host past the scheduler; its allocations are then copied from
what the server has at its source. Source: reference/nova/moves 4.1 and 5.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite.clients import placement as placement_client
from nova_lite.db.api import aggregates
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lifecycle import group_policies
from nova_lite.moves import asking
from nova_lite.moves import move_records
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import volumes
from nova_lite.objects import selection as selection_objects

LOG = log.getLogger(__name__)

BEGIN = 'record the move'
SWITCH = 'switch host in record'


class Relocation(part.Part):
    """move: the saga, whose argument 'forced' says that the scheduler is not asked

    holder: uuid of who holds the source's allocation when a destination is chosen
    require_fit: (server's row, compute node) -> refuses a destination that is forced
    columns: of the migration, that change when the destination is on record
    """

    def __init__(self, move, *, holder, require_fit=lambda row, node: None, columns=None):
        super().__init__(move)
        self._holder = holder
        self._require_fit, self._columns = require_fit, columns or {}

    # ---- what the server was ----

    @property
    def began(self):
        """{'host', 'node', 'vm_state', 'power_state'} of the server when the move began."""
        return self._move.data[BEGIN]

    def begin(self, connection, row, event):
        """Begin the event that stands for the super-conductor's work; see `began`."""
        self._move.start_event(connection, event)
        return {
            'host': row.host,
            'node': row.node,
            'vm_state': row.vm_state,
            'power_state': row.power_state,
        }

    # ---- choose destination ----

    @property
    def is_forced(self):
        """Whether an operator answers for the destination."""
        return self._move.arguments['forced']

    def choose(self, spec):
        """Have the scheduler choose and claim, or claim where the operator says.

        spec: () -> what a scheduler is asked
        """
        move = self._move
        if move.repeated:
            move.drop_claim()
        if self.is_forced:
            return self._force()
        self._give_up_after_refusals()
        found = move.world.scheduler.select_destinations(
            move.ctxt,
            spec=self._without_refused(spec()),
            instance_uuids=[move.instance_uuid],
            alternates=False,
            beside=sorted(move.held_beside()),
        )
        return found[0][0].as_dict()

    def _without_refused(self, spec):
        refused = [each['host'] for each in self._move.data.get('refused', ())]
        spec.ignore_hosts = [self.began['host'], *refused]
        self._move.data['group'] = spec.group_uuid
        return spec

    def _give_up_after_refusals(self):
        move = self._move
        refused = move.data.get('refused', ())
        if not refused:
            return
        if move.arguments.get('host'):
            raise exception.NoValidHost(reason=f'{refused[0]["host"]}: {refused[0]["error"]}')
        retries = move.world.conf.migrate_max_retries
        if 0 <= retries < len(refused):
            raise exception.MaxRetriesExceeded(instance_uuid=move.instance_uuid)

    def _force(self):
        move = self._move
        host, row = move.arguments['host'], move.row()
        if not move.is_up(host):
            raise exception.ServiceIsDown(binary='nova-compute', host=host)
        node = self.node_row(host, move.arguments['node'])
        self._require_fit(row, node)
        self._copy_allocation(row, node)
        LOG.warning(
            'Moving server %s to forced host %s without asking the scheduler', row.uuid, host
        )
        zones = move.world.api_db.read(aggregates.zones)
        return selection_objects.Selection(
            service_host=host,
            nodename=node.hypervisor_hostname,
            compute_node_uuid=node.uuid,
            cell_uuid=move.cell.uuid,
            availability_zone=zones.get(host, move.world.conf.default_availability_zone),
        ).as_dict()

    def _copy_allocation(self, row, node):
        """Claim at the destination what is held at the source; raises NoValidHost."""
        move, placement = self._move, self._move.world.placement
        source = self.node_row(self.began['host'], self.began['node'])
        held = placement.holding(move.ctxt, self._holder)
        resources = held.allocations.get(source.uuid)
        if not resources:
            LOG.warning('Server %s has no allocation on %s', row.uuid, row.host)
            return
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        wanted = {'allocations': {node.uuid: {'resources': resources}}}
        if not placement.claim(move.ctxt, consumer, wanted, beside=move.held_beside()):
            raise exception.NoValidHost(
                reason=f'Host {node.host} does not have enough free resources for the server.'
            )

    def node_row(self, host, node):
        """A compute node's row; raises ComputeNodeNotFound."""
        found = self._move.read(compute_nodes.every, host=host, hypervisor_hostname=node)
        if not found:
            raise exception.ComputeNodeNotFound(node=node)
        return found[0]

    # ---- record destination ----

    def recording(self):
        """The step that tells where the server goes, unless its group forbids it by now."""
        return places.SOURCE_RECORDS.step(steps.RECORD, self._record, self._forget)

    def _record(self):
        move = self._move
        group = group_policies.find(move.world.api_db, move.data.get('group'))
        self._record_in(group)
        move.data['recorded'] = True

    @part.transaction
    def _record_in(self, connection, group):
        move = self._move
        chosen, row = move.destination, instances.get(connection, move.instance_uuid)
        group_places.check(connection, row.uuid, chosen.service_host, group)
        instances.update(connection, row.uuid, {}, expect_task=move.tasks)
        columns = move.destination_columns(connection)
        migrations.update(connection, move.uuid, {**columns, **self._columns})

    def _forget(self):
        """Where the server was to go stays on record, until it may be another."""
        move = self._move
        if move.turning and not move.arguments.get('host'):
            move.write(migrations.update, move.uuid, migrations.NOWHERE)

    # ---- ports and volumes ----

    @property
    def ports(self):
        return ports.Ports(
            self._move,
            source=lambda: self.began['host'],
            dest=lambda: self._move.destination.service_host,
        )

    @property
    def volumes(self):
        return volumes.Volumes(self._move, steps.RESERVE, connector=self._connector)

    def _connector(self):
        """How the volume service reaches the destination."""
        move, chosen = self._move, self._move.destination
        asking.require_heard(move, chosen.service_host)
        return move.compute.get_volume_connector(
            move.ctxt, host=chosen.service_host, node=chosen.nodename
        )

    # ---- the switch and what follows it ----

    def switching(self, connected, *, columns=dict, then=lambda connection: None):
        """The pivot: from here on the server is the destination's.

        connected: () -> [{'uuid', 'connection_info'}] of the volumes as the destination
            reaches them; columns: () -> further ones that the server has from then on
        then: (connection) -> records what a kind of move records besides
        """

        def switch(connection):
            move = self._move
            chosen, row = move.destination, instances.get(connection, move.instance_uuid)
            if row.host == chosen.service_host:
                return
            values = {
                'host': chosen.service_host,
                'node': chosen.nodename,
                'availability_zone': chosen.availability_zone,
                **columns(),
            }
            own = {'expect_task': move.tasks, 'expect_host': (self.began['host'],)}
            instances.update(connection, row.uuid, values, **own)
            move_records.change_devices(connection, self.volumes.reserved, connected())
            then(connection)

        return places.SOURCE_RECORDS.step(SWITCH, lambda: self._move.write(switch), pivot=True)

    def settle(self, connection, columns):
        """Give a server that has arrived its last columns and clear its task."""
        move = self._move
        row = instances.find(connection, move.instance_uuid)
        if instances.is_gone(row):
            return
        info = move.data.get(steps.ACTIVATE)
        more = {'network_info': info} if info else {}
        move.clear_task(connection, {'progress': 0, **more, **columns})

    # ---- hosts ----

    def require_up(self, host):
        """Raise ServiceIsDown for a host that is forced down, Unavailable for a silent one.

        A silent host may be heard of again in a moment, after its conductor, for example.
        """
        service = self._move.read(services.find, host)
        if service is None or service.forced_down:
            raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)
        if not services.is_up(service, self._move.world.conf.service_down_time):
            raise exception.Unavailable(
                service=f'Compute service of host {host}', reason='it sends no heartbeats'
            )

    def ask(self, host, method, **arguments):
        """Call a method of a host's compute, unless that is down; see `require_up`."""
        self.require_up(host)
        return self._move.ask(method, {'host': host, **arguments})
