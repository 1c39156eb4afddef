"""The cells of a server: a saga that moves it to another cell works in two of them.

Each cell has its own record of the server. One of the records is always hidden, except around the
switch of the mapping. Source: reference/nova/cross-cell-resize 4 to 7.
"""

from collections.abc import Callable
from collections.abc import Mapping
import types
import typing

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db import known
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import aggregates
from nova_lite.db.api import mapping_switch
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import copies
from nova_lite.db.cell import fence
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.moves import world as worlds
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.saga import journal

Devices: typing.TypeAlias = list[block_device.BlockDevice]
P = typing.ParamSpec('P')
T = typing.TypeVar('T')


class Seen(typing.NamedTuple):
    """The records of a cell that a run of a saga knows without reading them again.

    row: the server as the last transaction of the run has left it, if it has read it
    rows: see `known.carried`
    """

    row: rows.Row | None = None
    rows: Mapping[typing.Any, typing.Any] = types.MappingProxyType({})


class ServerCell:
    """A cell with a record of a saga's server, for the steps of the saga.

    ctxt: context of the saga; uuid: uuid of the server
    seen: {uuid of a cell: what this run of the saga knows of its records}, which it fills
    grouped: whether its transactions may lock the other members of the server's group
    """

    def __init__(
        self,
        world: worlds.World,
        ctxt: context.RequestContext,
        uuid: str,
        cell: cells.Cell,
        seen: dict[str, Seen],
        *,
        grouped: bool,
    ) -> None:
        self._world, self._ctxt, self._uuid = world, ctxt, uuid
        self.cell, self._seen, self._grouped = cell, seen, grouped

    @property
    def compute(self) -> compute_rpc.ComputeAPI:
        """Return a client of the cell's computes."""
        return self._world.compute(self.cell)

    def read(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query in the cell's database."""
        return self.cell.db.read(function, *args, **kwargs)

    def write(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a transaction of the cell, which is refused if the epoch of the saga is old."""
        seen = self._seen.pop(self.cell.uuid, Seen())
        result, self._seen[self.cell.uuid] = self.cell.db.write(
            self._fenced, seen, function, *args, **kwargs
        )
        return result

    def _fenced(
        self,
        connection: sa.Connection,
        seen: Seen,
        function: transactions.Function[P, T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> tuple[T, Seen]:
        """Return the result of a function, and what is known of the records after it."""
        known.of(connection).update(seen.rows)
        if self._grouped:
            # All who lock the members of a group lock them in the same order. A server that was
            # locked before the others would break it.
            fence.check(connection, self._ctxt)
        else:
            fence.check_with_server(connection, self._ctxt, self._uuid)
        result = function(connection, *args, **kwargs)
        left = instances.kept(connection, [self._uuid]).get(self._uuid)
        return result, Seen(left, known.carried(connection))

    def find(self) -> rows.Row | None:
        """Return the cell's record of the server, hidden or not, or None."""
        return self.read(instances.find, self._uuid)

    def latest(self) -> rows.Row | None:
        """Return the record as the last transaction of this run has left it, or as `find`.

        For questions whose answer only the saga changes, while the server has its task.
        """
        left = self._seen.get(self.cell.uuid, Seen()).row
        return self.find() if left is None else left

    def get(self) -> rows.Row:
        """Return the cell's record of the server. Raise InstanceNotFound, also if it is deleted."""
        return self.read(instances.get, self._uuid, hidden=True)

    def is_up(self, host: str) -> bool:
        """Return whether the compute service of a host of the cell is up."""
        return self.read(services.is_host_up, host, self._world.conf.service_down_time)

    def is_down(self, host: str) -> bool:
        """Return whether a host of the cell is known to be down, or has no compute service."""
        service = self.read(services.find, host)
        return service is None or services.is_down(service, self._world.conf.service_down_time)

    def require_up_or_fail(self, host: str) -> None:
        """Raise ServiceIsDown, which fails the step at once, if a host of the cell is down.

        Raise HostUnheard, which repeats the step, while it is not known whether the host is up.
        """
        service = self.read(services.find, host)
        if service is None:
            raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)
        services.require_up(service, self._world.conf.service_down_time)

    def node(self, host: str, name: str | None) -> rows.Row:
        """Return the compute node of a host of the cell by its name. Raise ComputeNodeNotFound."""
        found = self.read(compute_nodes.find, host, name)
        if found is None:
            raise exception.ComputeNodeNotFound(node=name)
        return found

    def zone(self, host: str) -> str:
        """Return the availability zone of a host."""
        zones = self._world.api_db.read(aggregates.zones)
        return zones.get(host) or self._world.conf.default_availability_zone

    def devices(self) -> Devices:
        """Return the server's block devices as objects."""
        return self.read(devices, self._uuid)

    def copy(self) -> copies.Copy:
        """Return all records of the server."""
        return self.read(copies.read, self._uuid)

    def purge(self) -> None:
        """Remove all records of the server, if there are any."""
        self.write(copies.purge, self._uuid)

    def hide(self) -> bool:
        """Hide the server's record. Return whether the server was being deleted."""
        return self.write(hide, self._uuid)

    def sealed_copy(self, require: Callable[[rows.Row | None], None]) -> copies.Copy:
        """Seal the record, which another cell takes over, and return all records.

        Users can no longer change the record.
        require: function that raises if the row, which may be None, is not as expected
        """
        return self.write(_sealed_copy, self._uuid, require)

    def unseal(self) -> None:
        """Undo the seal."""
        self.write(instances.seal, self._uuid, False)

    def take_over(self, connection: sa.Connection, other: 'ServerCell') -> journal.Data:
        """Map the server to this cell instead of its former cell. This is the pivot.

        connection: of a transaction of the API database
        """
        mapping_switch.switch(
            connection,
            self._ctxt,
            self._uuid,
            source_id=other.cell.id,
            dest_id=self.cell.id,
        )
        return {'cell': self.cell.uuid}

    def delete(self) -> None:
        """Continue a deletion that another cell may have begun."""
        row = self.write(_begin_delete, self._ctxt, self._uuid)
        if row is not None and row.host is not None:
            self.compute.delete_instance(
                self._ctxt,
                host=row.host,
                instance=instance_objects.Instance.for_deletion(row),
            )

    def soft_delete(self) -> None:
        """Continue a soft deletion, unless its host or another request has done so.

        If the host is down, the server is soft-deleted at once, and the host stops the guest later.
        """
        row = self.write(_begin_soft_delete, self._ctxt, self._uuid)
        if row is None:
            return
        if row.host is not None and not self.is_down(row.host):
            instance = instance_objects.Instance.from_row(row)
            self.compute.soft_delete_instance(self._ctxt, host=row.host, instance=instance)
        else:
            self.write(_keep_without_host, row.uuid)


def server_and_devices(connection: sa.Connection, uuid: str) -> tuple[rows.Row, Devices]:
    """Return a server's row, hidden or not, and its block devices. Raise InstanceNotFound."""
    return instances.get(connection, uuid, hidden=True), devices(connection, uuid)


def devices(connection: sa.Connection, uuid: str) -> Devices:
    """Return a server's block devices as objects."""
    found = children.block_devices(connection, [uuid]).get(uuid, ())
    return [block_device.BlockDevice.of(row) for row in found]


def _sealed_copy(
    connection: sa.Connection, uuid: str, require: Callable[[rows.Row | None], None]
) -> copies.Copy:
    # When this transaction has locked the row, all requests accepted before have ended.
    instances.seal(connection, uuid)
    require(instances.find(connection, uuid))
    return copies.read(connection, uuid)


def hide(connection: sa.Connection, uuid: str) -> bool:
    """Hide a server's record. Return whether the server was being deleted.

    The order matters: a deletion has either begun before, or is sent to the other cell.
    """
    copies.show(connection, uuid, False)
    return instances.is_gone(instances.find(connection, uuid))


def restore(here: ServerCell, other: ServerCell) -> None:
    """Unseal the record of `here` and hide that of `other`, whose cell may be down for long."""
    here.unseal()
    other.hide()


def _begin_delete(
    connection: sa.Connection, ctxt: context.RequestContext, uuid: str
) -> rows.Row | None:
    row = instances.find(connection, uuid)
    if row is None or row.deleted:
        return None
    if row.task_state != states.TaskState.DELETING:
        instances.update(connection, uuid, {'task_state': str(states.TaskState.DELETING)})
    if actions.find(connection, uuid, ctxt.request_id, 'delete') is None:
        actions.start(connection, ctxt, uuid, 'delete')
    return row


def _begin_soft_delete(
    connection: sa.Connection, ctxt: context.RequestContext, uuid: str
) -> rows.Row | None:
    row = instances.find(connection, uuid)
    if row is None or not _is_to_be_kept(row):
        return None
    if actions.find(connection, uuid, ctxt.request_id, 'delete') is None:
        actions.start(connection, ctxt, uuid, 'delete')
    return row


def _keep_without_host(connection: sa.Connection, uuid: str) -> None:
    row = instances.hold(connection, uuid)
    if _is_to_be_kept(row):
        vm_state = str(states.VmState.SOFT_DELETED)
        instances.update(connection, uuid, {'vm_state': vm_state}, former=row)


def _is_to_be_kept(row: rows.Row) -> bool:
    return (
        not row.deleted
        and row.task_state == states.TaskState.SOFT_DELETING
        and row.vm_state != states.VmState.SOFT_DELETED
    )
