"""A server goes to another host of its cell, with the flavor that it has.

An operator may force it to a host past the scheduler; its allocations are then copied from
what the server has at its source. Source: reference/nova/moves 4.1 and 5.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import placement as placement_client
from nova_lite.db.api import aggregates
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import asking
from nova_lite.moves import move_records
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import volumes
from nova_lite.objects import selection as selection_objects

LOG = log.getLogger(__name__)


BEGIN = saga.Result('record the move', steps.Began)
# A note: the destination is on record.
RECORDED = saga.Result('recorded', bool)
SWITCH = 'switch host in record'


class Relocation(choice.Choice):
    """move: the saga, whose argument `forced` says that the scheduler is not asked

    holder: (move) -> who holds the source's allocation when a destination is chosen
    require_fit: (move, server's row, compute node) -> refuses a destination that is forced
    columns: of the migration, that change when the destination is on record
    """

    ports = part.Of(ports.Ports)
    volumes = part.Of(volumes.Volumes, steps.RESERVE, connects=True)

    def __init__(self, move, *, holder, require_fit=lambda move, row, node: None, columns=None):
        super().__init__(move)
        self._holder, self._require_fit, self._columns = holder, require_fit, columns or {}

    def begin(self, connection, row, event):
        """Begin the event that stands for the super-conductor's work. Return what the server is."""
        self.move.events.start(connection, event)
        return steps.Began.of(row)

    # ---- choose destination ----

    @property
    def is_forced(self):
        """Return whether an operator has forced the destination."""
        return self.move.arguments.forced

    def choose(self):
        """Choose and claim by the scheduler, or claim where the operator says."""
        move = self.move
        if move.repeated:
            move.drop_claim()
        if self.is_forced:
            return self._force()
        self._give_up_after_refusals()
        return self.select(self._without_refused(move.spec()))[0]

    def _without_refused(self, spec):
        refused = [each['host'] for each in self.results.get(steps.REFUSED) or ()]
        spec.ignore_hosts = [self.move.began.host, *refused]
        return spec

    def _give_up_after_refusals(self):
        move = self.move
        refused = self.results.get(steps.REFUSED)
        if not refused:
            return
        if move.arguments.host:
            raise exception.NoValidHost(reason=f'{refused[0]["host"]}: {refused[0]["error"]}')
        retries = move.world.conf.migrate_max_retries
        if 0 <= retries < len(refused):
            raise exception.MaxRetriesExceeded(instance_uuid=move.instance_uuid)

    def _force(self):
        move = self.move
        host, row = move.arguments.host, move.row()
        move.here.require_up(host)
        node = self.node_row(host, move.arguments.node)
        self._require_fit(move, row, node)
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
        )

    def _copy_allocation(self, row, node):
        """Claim at the destination what is held at the source; raises NoValidHost."""
        move, placement = self.move, self.move.world.placement
        source = self.node_row(self.move.began.host, self.move.began.node)
        held = placement.holding(move.ctxt, self._holder(move))
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
        found = self.move.read(compute_nodes.every, host=host, hypervisor_hostname=node)
        if not found:
            raise exception.ComputeNodeNotFound(node=node)
        return found[0]

    # ---- record destination ----

    def recording(self):
        """The step that tells where the server goes, unless its group forbids it by now."""
        return places.SOURCE_RECORDS.step(steps.RECORD, self._record, self._forget)

    def _record(self):
        self.move.write(self.admit, self.group(), columns=self._columns)
        self.results[RECORDED] = True

    def _forget(self):
        """Where the server was to go stays on record, until it may be another."""
        move = self.move
        if move.turning and not move.arguments.host:
            move.write(migrations.update, move.uuid, migrations.NOWHERE)

    # ---- the switch and what follows it ----

    def switching(self, made, *, columns=dict, then=lambda connection: None):
        """The pivot: from here on the server is the destination's.

        made: the step that left the volumes as the destination reaches them
        columns: () -> further ones that the server has from then on
        then: (connection) -> records what a kind of move records besides
        """

        def switch(connection):
            move = self.move
            chosen, row = move.destination, instances.get(connection, move.instance_uuid)
            if row.host == chosen.service_host:
                return
            values = {
                'host': chosen.service_host,
                'node': chosen.nodename,
                'availability_zone': chosen.availability_zone,
                **columns(),
            }
            own = {'expect_task': move.tasks, 'expect_host': (self.move.began.host,)}
            instances.update(connection, row.uuid, values, **own)
            connected = self.results[made].block_devices
            move_records.change_devices(connection, self.volumes.reserved, connected)
            then(connection)

        return places.SOURCE_RECORDS.step(SWITCH, lambda: self.move.write(switch), pivot=True)

    def settle(self, connection, columns):
        """Give a server that has arrived its last columns and clear its task."""
        move = self.move
        row = instances.find(connection, move.instance_uuid)
        if instances.is_gone(row):
            return
        info = self.ports.columns(steps.ACTIVATE)
        move.clear_task(connection, {'progress': 0, **info, **columns})

    # ---- hosts ----

    def ask(self, method, *, host, **arguments):
        """Call a method of a host's compute, unless that is down; see `asking.require_up`."""
        asking.require_up(self.move, host)
        return self.move.ask(method, host=host, **arguments)
