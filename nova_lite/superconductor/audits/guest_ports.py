"""Find ports that guests still have although the records of their servers have lost them.

A saga records at its end the ports that the network service shows then. The guest may have been
created with a port that its owner has taken from the server since then, without an event. Such a
port is noted, and `port_changes` detaches it as soon as no task or saga works at the server.
"""

import collections
from collections.abc import Iterable

from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import port_changes as changes
from nova_lite.db.cell import network_info
from nova_lite.db.cell import services
from nova_lite.lifecycle import port_changes
from nova_lite.lifecycle import searches
from nova_lite.moves import world as worlds

LOG = log.getLogger(__name__)

# Hosts of a cell that each run asks for the ports of their guests.
MOST_HOSTS = 50


class Audit:
    """A periodic search of the super-conductor. world: see `world.World`"""

    def __init__(self, world: worlds.World) -> None:
        self._world = world
        # {cell: the last host that the previous run has asked}. The next run continues there.
        self._last_host: dict[str, str] = collections.defaultdict(str)

    def run(self) -> None:
        """Compare the guests of some hosts of each cell with the records of their servers."""
        cells = self._world.cells.every(cell0=False)
        searches.each(cells, self._compare, what='ports that guests still have')

    def _compare(self, cell: deployment.Cell) -> None:
        hosts = cell.db.read(network_info.hosts_after, self._last_host[cell.uuid], MOST_HOSTS)
        self._last_host[cell.uuid] = hosts[-1] if len(hosts) == MOST_HOSTS else ''
        found = self._ports(cell, self._up(cell, hosts))
        # A record that was changed since its guest was read is compared again by `port_changes`.
        for row in cell.db.read(network_info.on_hosts, found):
            kept = found[row.host].get(row.uuid, set()) - port_changes.ids_of(row.network_info)
            if kept and row.task_state is None:
                self._note(row, kept)

    def _up(self, cell: deployment.Cell, hosts: list[str]) -> list[str]:
        """Return the hosts whose compute service is up."""
        down_time_s = self._world.conf.service_down_time
        known = cell.db.read(services.every, binary=services.COMPUTE, host=hosts)
        return [each.host for each in known if services.is_up(each, down_time_s)]

    def _ports(self, cell: deployment.Cell, hosts: Iterable[str]) -> dict[str, dict[str, set[str]]]:
        """Return {host: {server uuid: ids of the ports of its guest}} of guests with ports.

        A host that does not answer ends the search. The next run continues after this host.
        """
        found = {}
        for host in hosts:
            try:
                has = self._world.compute(cell).guest_ports(context.admin(), host=host)
            except exception.NovaLiteError as error:
                LOG.warning('Cannot compare the ports of guests on host %s: %s', host, error)
                self._last_host[cell.uuid] = host
                break
            ports = {uuid: set(ids) for uuid, ids in has.items() if ids}
            if ports:
                found[host] = ports
        return found

    def _note(self, row: rows.Row, kept: set[str]) -> None:
        kept -= self._world.api_db.read(changes.lost, row.uuid)
        if kept:
            LOG.info('Guest %s on host %s has lost ports %s', row.uuid, row.host, sorted(kept))
            port_changes.note(self._world, row.uuid, kept)
