"""Collectors of metrics from the databases: sagas, services, capacity.

Only the super-conductor exports them. Names are those of openstack-exporter where it has one.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_config import cfg
from prometheus_client import core
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite.db import rows as db_rows
from nova_lite.db import transactions
from nova_lite.db.api import aggregates
from nova_lite.db.api import saga_counts
from nova_lite.db.api import sagas
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import services
from nova_lite.saga import retries

Gauge: typing.TypeAlias = core.GaugeMetricFamily
# A compute node, and the numbers of servers, vCPUs, MiB and GiB in use on it.
Node: typing.TypeAlias = tuple[db_rows.Row, Sequence[int]]

MIB, GIB = 1024**2, 1024**3
WHERE = ('hostname', 'availability_zone', 'aggregates')
# {metric: (help, function of a compute node and its usage: servers, vcpus, MiB, GiB)}
CAPACITY: dict[str, tuple[str, Callable[[db_rows.Row, Sequence[int]], float]]] = {
    'openstack_nova_vcpus_available': ('vCPUs of a host.', lambda node, used: node.vcpus),
    'openstack_nova_vcpus_used': ('vCPUs in use.', lambda node, used: used[1]),
    'openstack_nova_memory_available_bytes': (
        'Memory of a host.',
        lambda node, used: node.memory_mb * MIB,
    ),
    'openstack_nova_memory_used_bytes': (
        'Memory in use.',
        lambda node, used: (node.reserved_memory_mb + used[2]) * MIB,
    ),
    'openstack_nova_local_storage_available_bytes': (
        'Disk of a host.',
        lambda node, used: node.local_gb * GIB,
    ),
    'openstack_nova_local_storage_used_bytes': ('Disk in use.', lambda node, used: used[3] * GIB),
    'openstack_nova_running_vms': ('Servers of a host.', lambda node, used: used[0]),
}
NOTHING = (0, 0, 0, 0)
AGENT = 'openstack_nova_agent_state'
AGENT_LABELS = ('id', 'hostname', 'service', 'adminState', 'zone', 'disabledReason')
UP = 'openstack_nova_up'
SAGAS = 'nova_lite_sagas'
FAILING = 'nova_lite_sagas_failing'
LAG = 'nova_lite_saga_lag_seconds'
DELETIONS = 'nova_lite_deletions'
# The help and the labels of each metric.
FAMILIES = {
    SAGAS: (
        'Sagas that occupy their server, by the step that runs, waits, is retried or stopped.',
        ('kind', 'step', 'direction', 'state'),
    ),
    FAILING: (
        f'Sagas whose current step or cleanup has failed at least {retries.MANY_ATTEMPTS} times '
        'in a row, by that step.',
        ('kind', 'step', 'state'),
    ),
    LAG: ('Seconds since the most overdue saga should have been picked up.', ()),
    DELETIONS: ('Servers that a host has yet to delete.', ('hostname',)),
    UP: ('1 if the database of a cell answers, else 0.', ('cell',)),
    AGENT: ('1 if a service is up, else 0.', AGENT_LABELS),
    **{name: (text, WHERE) for name, (text, _value) in CAPACITY.items()},
}


def family(name: str) -> Gauge:
    """Return a gauge without samples."""
    text, labels = FAMILIES[name]
    return core.GaugeMetricFamily(name, text, labels=labels)


class Sagas:
    """Number of sagas by step and state, and how long the most overdue one has waited."""

    def __init__(self, api_db: transactions.Database) -> None:
        self._api_db = api_db

    def collect(self) -> Iterator[Gauge]:
        """Yield the metrics, for prometheus_client."""
        for name, read in ((SAGAS, saga_counts.standing), (FAILING, saga_counts.failing)):
            where = family(name)
            for *labels, count in self._api_db.read(read):
                where.add_metric([label or '' for label in labels], count)
            yield where
        lag = family(LAG)
        lag.add_metric([], self._api_db.read(sagas.lag_s))
        yield lag


class Hosts:
    """Services and capacity of all cells that answer."""

    def __init__(
        self, conf: cfg.ConfigOpts, api_db: transactions.Database, cells: cells_module.Cells
    ) -> None:
        self._conf, self._api_db, self._cells = conf, api_db, cells

    def collect(self) -> Iterator[Gauge]:
        """Yield the metrics, for prometheus_client."""
        known = self._api_db.read(aggregates.every)
        zones = aggregates.zones_of(known)
        answers = self._cells.scatter(_read_cell)
        found, _silent = cells_module.split(answers)
        up = family(UP)
        for cell in answers:
            up.add_metric([cell.name or ''], cell in found)
        yield up
        yield self._agents(zones, [row for answer in found.values() for row in answer.services])
        deletions = family(DELETIONS)
        for answer in found.values():
            for host, count in answer.deletions.items():
                deletions.add_metric([host], count)
        yield deletions
        nodes = [each for answer in found.values() for each in answer.nodes]
        yield from self._capacity(zones, aggregates.names_of(known), nodes)

    def _agents(self, zones: Mapping[str, str], rows: Iterable[db_rows.Row]) -> Gauge:
        agents = family(AGENT)
        for row in rows:
            if row.binary == services.COMPUTE:
                zone = zones.get(row.host, self._conf.default_availability_zone)
            else:
                zone = self._conf.internal_service_availability_zone
            state = 'disabled' if row.disabled else 'enabled'
            agents.add_metric(
                [row.uuid, row.host, row.binary, state, zone, row.disabled_reason or ''],
                services.is_up(row, self._conf.service_down_time),
            )
        return agents

    def _capacity(
        self,
        zones: Mapping[str, str],
        named: Mapping[str, Iterable[str]],
        nodes: Collection[Node],
    ) -> Iterator[Gauge]:
        for name, (_text, value) in CAPACITY.items():
            gauge = family(name)
            for node, used in nodes:
                zone = zones.get(node.host, self._conf.default_availability_zone)
                gauge.add_metric(
                    [node.hypervisor_hostname, zone, ','.join(named.get(node.host, ()))],
                    value(node, used),
                )
            yield gauge


class _Reading(typing.NamedTuple):
    """Records of a cell. deletions: {host: how many servers it has to delete}"""

    services: Collection[db_rows.Row]
    nodes: list[Node]
    deletions: dict[str, int]


def _read_cell(connection: sa.Connection) -> _Reading:
    used = host_usage.by_node(connection)
    nodes: list[Node] = [
        (node, used.get((node.host, node.hypervisor_hostname), NOTHING))
        for node in compute_nodes.every(connection)
    ]
    return _Reading(services.every(connection), nodes, host_usage.deletions(connection))
