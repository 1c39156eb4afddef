"""Hypervisors of all cells: nodes with their services and their usage."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import functools
import typing

import sqlalchemy as sa

from nova_lite import cells
from nova_lite.api import request
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import instances
from nova_lite.db.cell import services

# Host and node.
Place: typing.TypeAlias = tuple[str, str]
# Servers, vcpus, MiB and GiB on a node.
Used: typing.TypeAlias = Sequence[int]
# Nodes, services, what nodes hold, and servers with a task by host.
Records: typing.TypeAlias = tuple[
    Sequence[rows.Row], Sequence[rows.Row], Mapping[Place, Used], dict[str, int]
]

SUMS = (
    'vcpus',
    'memory_mb',
    'local_gb',
    'vcpus_used',
    'memory_mb_used',
    'local_gb_used',
    'free_ram_mb',
    'free_disk_gb',
    'current_workload',
    'running_vms',
    'disk_available_least',
)


@dataclasses.dataclass(frozen=True)
class Hypervisor:
    """One node. used: (servers, vcpus, MiB, GiB); busy: servers with a task on its host."""

    node: rows.Row
    service: rows.Row
    cell: cells.Cell
    used: Used = (0, 0, 0, 0)
    busy: int = 0

    @functools.cached_property
    def amounts(self) -> dict[str, int]:
        """Return total, used and free resources, under the names of the API."""
        node = self.node
        count, vcpus, memory_mb, disk_gb = self.used
        memory_used = memory_mb + node.reserved_memory_mb
        return {
            'vcpus': node.vcpus,
            'memory_mb': node.memory_mb,
            'local_gb': node.local_gb,
            'vcpus_used': vcpus,
            'memory_mb_used': memory_used,
            'local_gb_used': disk_gb,
            'free_ram_mb': node.memory_mb - memory_used,
            'free_disk_gb': node.local_gb - disk_gb,
            'current_workload': self.busy,
            'running_vms': count,
            'disk_available_least': node.local_gb - disk_gb,
        }


def every(req: request.Request, *, usage: bool = False, **where: typing.Any) -> list[Hypervisor]:
    """Return the hypervisors that were discovered and whose nodes' columns equal `where`.

    usage: whether to read their usage as well
    """
    asked = req.app.cells.every(cell0=False)
    answers, _silent = cells.split(req.app.cells.scatter(_read, usage, where, cells=asked))
    return [found for cell, records in answers.items() for found in _join(cell, records)]


def matching(found: Iterable[Hypervisor], pattern: str) -> list[Hypervisor]:
    """Return the hypervisors whose hostname contains `pattern`, ignoring case."""
    wanted = pattern.lower()
    return [each for each in found if wanted in each.node.hypervisor_hostname.lower()]


def servers(found: Iterable[Hypervisor]) -> dict[Place, list[rows.Row]]:
    """Return {(host, node): [row, ...]} of the servers on the hypervisors found."""
    grouped: dict[Place, list[rows.Row]] = {}
    by_cell: dict[cells.Cell, list[str]] = {}
    for each in found:
        by_cell.setdefault(each.cell, []).append(each.node.host)
    for cell, hosts in by_cell.items():
        for row in cell.db.read(instances.brief_on, hosts):
            grouped.setdefault((row.host, row.node), []).append(row)
    return grouped


def _read(connection: sa.Connection, usage: bool, where: rows.Values) -> Records:
    nodes = compute_nodes.every(connection, mapped=True, **where)
    if not nodes:
        return [], [], {}, {}
    found_services = services.every(connection, binary=services.COMPUTE)
    if not usage:
        return nodes, found_services, {}, {}
    used, busy = host_usage.by_node(connection), host_usage.busy_by_host(connection)
    return nodes, found_services, used, busy


def _join(cell: cells.Cell, records: Records) -> Iterator[Hypervisor]:
    nodes, found_services, used, busy = records
    by_host = {row.host: row for row in found_services}
    for node in nodes:
        if node.host in by_host:
            yield Hypervisor(
                node,
                by_host[node.host],
                cell,
                used.get((node.host, node.hypervisor_hostname), (0, 0, 0, 0)),
                busy.get(node.host, 0),
            )
