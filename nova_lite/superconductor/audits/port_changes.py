"""Follow changes of the ports of servers that could not be followed when they happened.

`run` follows the changes that the API has noted, as soon as no task or saga works at their
servers. `heal` compares the record of each server with the network service, a few servers at a
time, because an event may be lost, and notes differences. Both may run in several
super-conductors at once.
Source: nova's [DEFAULT]heal_instance_info_cache_interval.
"""

import collections
from collections.abc import Sequence

from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import port_changes as changes
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info
from nova_lite.db.cell import services
from nova_lite.lifecycle import port_changes
from nova_lite.lifecycle import searches
from nova_lite.moves import world as worlds
from nova_lite.objects import instance as instance_objects

LOG = log.getLogger(__name__)

# Changes per run; servers of a cell per comparison, and per request of it.
MOST_CHANGES, MOST_SERVERS, PART = 100, 500, 50


class Audit:
    """The periodic searches of the super-conductor. world: see `world.World`"""

    def __init__(self, world: worlds.World) -> None:
        self._world = world
        # The last change of the former run, and {cell: its last server}. The next run continues
        # there.
        self._last_change = 0
        self._last_server: dict[str, int] = collections.defaultdict(int)

    # ---- noted changes ----

    def run(self) -> None:
        """Follow the noted changes of servers without a task or saga."""
        found = self._world.api_db.read(changes.after, self._last_change, MOST_CHANGES)
        self._last_change = found[-1].id if len(found) == MOST_CHANGES else 0
        by_server = collections.defaultdict(list)
        for change in found:
            by_server[change.instance_uuid].append(change)
        for uuid, noted in by_server.items():
            with searches.going_on('Cannot follow changes of the ports of server %s yet', uuid):
                done = self._follow(uuid, noted)
                self._world.api_db.write(changes.forget, [change.id for change in done])

    def _follow(self, uuid: str, noted: Sequence[rows.Row]) -> Sequence[rows.Row]:
        """Follow changes of a server. Return the changes that are done or need nothing."""
        try:
            cell = self._world.cells.of_instance(uuid)
        except exception.InstanceNotFound:
            return noted
        row = cell.db.read(instances.find, uuid)
        if row is None or instances.is_gone(row):
            return noted
        if row.hidden or port_changes.is_busy(self._world, row):
            return ()
        lost = port_changes.refresh(self._world, cell, row)
        lost.update(change.port_id for change in noted if change.port_id)
        if row.host is None:
            return noted
        row = cell.db.read(instances.get, uuid)
        lost -= port_changes.ids_of(row.network_info)
        done = [each for each in noted if each.port_id not in lost or self._unplug(cell, row, each)]
        port_changes.release(self._world, cell, row)
        return done

    def _unplug(self, cell: deployment.Cell, row: rows.Row, change: rows.Row) -> bool:
        """Detach a deleted port from the guest. Return whether the guest no longer has it."""
        if not cell.db.read(services.is_host_up, row.host, self._world.conf.service_down_time):
            return False
        try:
            reply = self._world.compute(cell).detach_interface(
                context.admin(),
                host=row.host,
                instance=instance_objects.Instance.from_row(row),
                port_id=change.port_id,
                key=f'port-change/{change.id}/{change.attempts}',
            )
        except exception.NotFound:
            return True
        except exception.NovaLiteError as error:
            LOG.warning(
                'Host %s cannot detach port %s, which does not exist any more, from server %s: %s. '
                'Retrying later.',
                row.host,
                change.port_id,
                row.uuid,
                error,
            )
            if not error.transient:
                self._world.api_db.write(changes.count_try, change.id)
            return False
        return 'pending' not in reply

    # ---- changes without an event ----

    def heal(self) -> None:
        """Compare some servers of each cell with the network service."""
        searches.each(
            self._world.cells.every(cell0=False), self._heal, what='ports that have changed'
        )

    def _heal(self, cell: deployment.Cell) -> None:
        for _part in range(MOST_SERVERS // PART):
            found = cell.db.read(network_info.page, self._last_server[cell.uuid], PART)
            self._last_server[cell.uuid] = found[-1].id if len(found) == PART else 0
            self._compare([row for row in found if row.task_state is None])
            if len(found) < PART:
                return

    def _compare(self, found: Sequence[rows.Row]) -> None:
        """Note the servers whose ports differ from their records."""
        if not found:
            return
        recorded = {row.uuid: row.network_info or [] for row in found}
        for uuid, info in self._world.network.infos(context.admin(), recorded).items():
            if info != recorded[uuid]:
                LOG.info('The ports of server %s have changed without an event', uuid)
                lost = port_changes.ids_of(recorded[uuid]) - port_changes.ids_of(info)
                port_changes.note(self._world, uuid, lost)
