"""A server moves to another host of its cell and keeps its flavor.

An operator may force the destination without the scheduler; then the allocation of the source
is copied. Source: reference/nova/moves 4.1 and 5.
"""

from collections.abc import Callable
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import offers
from nova_lite.clients import placement as placement_client
from nova_lite.clients import port_allocations
from nova_lite.db import rows
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

if typing.TYPE_CHECKING:
    from nova_lite.moves import evacuate
    from nova_lite.moves import live_migrate

    HostMove: typing.TypeAlias = evacuate.Evacuation | live_migrate.LiveMigration

LOG = log.getLogger(__name__)


BEGIN = saga.Result('record-move', steps.Began)
# A note: the destination is on record.
RECORDED = saga.Result('recorded', bool)
SWITCH = 'switch-host-in-record'


class Relocation(choice.Choice):
    """The destination of a saga whose argument `forced` skips the scheduler.

    holder: (move) -> the consumer that holds the source's allocation
    require_fit: (move, server's row, compute node) -> raises if a forced node is unsuitable
    columns: of the migration, that change when the destination is recorded
    """

    move: 'HostMove'
    ports = part.Of(ports.Ports)
    volumes = part.Of(volumes.Volumes, steps.RESERVE, connects=True)

    def __init__(
        self,
        move: 'HostMove',
        *,
        holder: Callable[['HostMove'], str],
        require_fit: Callable[['HostMove', rows.Row, rows.Row], None] = lambda move, row, node: (
            None
        ),
        columns: rows.Values | None = None,
    ) -> None:
        super().__init__(move)
        self._holder, self._require_fit, self._columns = holder, require_fit, columns or {}

    def choose(self) -> selection_objects.Selection:
        """Return the Selection of a claimed destination: the scheduler's, or the forced one."""
        move = self.move
        if move.repeated:
            move.drop_claim()
        if move.arguments.forced and move.arguments.host:
            return self._force(move.arguments.host)
        refused = self.results.get(steps.REFUSED) or ()
        if refused and move.arguments.host:
            raise exception.NoValidHost(reason=f'{refused[0]["host"]}: {refused[0]["error"]}')
        if 0 <= move.world.conf.migrate_max_retries < len(refused):
            raise exception.MaxRetriesExceeded(instance_uuid=move.instance_uuid)
        beside = move.held_beside()
        spec = move.spec(beside)
        spec.ignore_hosts = [move.source_host, *(each['host'] for each in refused)]
        return self.select(spec, beside=beside)[0]

    def _force(self, host: str) -> selection_objects.Selection:
        move = self.move
        row = move.row()
        move.here.require_up_or_fail(host)
        node = move.here.node(host, move.arguments.node)
        self._require_fit(move, row, node)
        self._copy_allocation(row, node)
        LOG.warning(
            'Moving server %s to forced host %s without asking the scheduler', row.uuid, host
        )
        return selection_objects.Selection(
            service_host=host,
            nodename=node.hypervisor_hostname,
            compute_node_uuid=node.uuid,
            cell_uuid=move.cell.uuid,
            availability_zone=move.here.zone(host),
        )

    def _copy_allocation(self, row: rows.Row, node: rows.Row) -> None:
        """Claim on the destination what is held on the source. Raise NoValidHost.

        What providers below the source's give cannot be copied: the destination's are others.
        """
        move, placement = self.move, self.move.world.placement
        source = move.here.node(move.source_host, move.began.node)
        held = placement.holding(move.ctxt, self._holder(move))
        resources = held.allocations.get(source.uuid)
        if not resources:
            LOG.warning('Server %s has no allocation on %s', row.uuid, row.host)
            return
        if port_allocations.are_of_ports(held.allocations):
            raise exception.NoValidHost(
                reason='The server has ports with a resource request. Only the scheduler can '
                f'choose a host for it; it cannot be forced to host {node.host}.'
            )
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        wanted: offers.AllocationRequest = {'allocations': {node.uuid: {'resources': resources}}}
        if not placement.claim(move.ctxt, consumer, wanted, beside=move.held_beside()):
            raise exception.NoValidHost(
                reason=f'Host {node.host} does not have enough free resources for the server.'
            )

    def recording(self, **options: typing.Any) -> saga.Step:
        """Return the step that records the destination. options: of saga.Step"""
        return places.SOURCE_RECORDS.step(steps.RECORD, self._record, self._forget, **options)

    def _record(self) -> None:
        self.move.write(self.admit, self.group(), columns=self._columns)
        self.results[RECORDED] = True

    def _forget(self) -> None:
        """Keep the destination on record, unless another one may follow."""
        move = self.move
        if move.going_back and not move.arguments.host:
            move.write(migrations.update, move.uuid, migrations.NOWHERE)

    def switching(
        self,
        made: saga.Result[typing.Any],
        *,
        columns: Callable[[], rows.Values] = dict,
        then: Callable[[sa.Connection], None] = lambda connection: None,
    ) -> saga.Step:
        """Return the pivot: it moves the server's record to the destination.

        made: the step with the connections of the volumes to the destination
        columns: () -> further columns of the server
        then: (connection) -> records more
        """

        def switch(connection: sa.Connection) -> None:
            move = self.move
            row = instances.get(connection, move.instance_uuid)
            if row.host == move.dest_host:
                return
            zone = move.destination.availability_zone
            values = {**move.dest, 'availability_zone': zone, **columns()}
            instances.update(
                connection,
                row.uuid,
                values,
                expect_task=move.tasks,
                expect_host=(move.began.host,),
            )
            connected = self.results[made].block_devices
            move_records.change_devices(connection, self.volumes.reserved, connected)
            then(connection)

        return places.SOURCE_RECORDS.step(SWITCH, lambda: self.move.write(switch), pivot=True)

    def settle(self, connection: sa.Connection, columns: rows.Values) -> None:
        """Give a server that has arrived its last columns and clear its task."""
        move = self.move
        row = instances.held(connection, move.instance_uuid)
        if row is None or instances.is_gone(row):
            return
        info = self.ports.columns(steps.ACTIVATE, row.network_info)
        values = {'progress': 0, **info, **columns}
        move_records.change_reset(connection, row.uuid, values)
        move.clear_task(connection, values)

    def ask(
        self, method: asking.Method, *, known: asking.Known | None = None, **arguments: typing.Any
    ) -> asking.Reply:
        """Call a method of a host's compute. Raise as `asking.require_not_forced_down`."""
        return asking.ask_one_that_is_up(self.move, method, arguments, known=known)
