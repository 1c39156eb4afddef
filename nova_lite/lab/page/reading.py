"""Read the data of the live page from the databases of a cloud, in few statements.

Of servers only columns without secrets are read: no user data, keys, metadata or passwords.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import typing

from oslo_config import cfg
from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import errors
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import aggregates
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import migrations
from nova_lite.db.cell import models
from nova_lite.db.cell import services
from nova_lite.lab.page import neighbour_names
from nova_lite.lab.page import placement_rows
from nova_lite.saga import journal

LOG = log.getLogger(__name__)

# Servers of one cell that are shown one by one; of more, their numbers are shown. Of moves and
# sagas one more is read, which tells that there are others.
MOST_SERVERS = 400
MOST_MOVES = 50
MOST_SAGAS, RECENT_SAGAS = 50, 20
# How long a cell may take; the page does without one that takes longer.
ANSWER_S = 5.0

INSTANCES = models.Instance.__table__
MIGRATIONS = models.Migration.__table__
NODES = models.ComputeNode.__table__
SAGAS = api_models.Saga.__table__
_HERE = sa.and_(INSTANCES.c.deleted.is_(False), INSTANCES.c.hidden.is_(False))
SERVER = sa.select(
    INSTANCES.c.uuid,
    INSTANCES.c.display_name.label('name'),
    INSTANCES.c.project_id,
    INSTANCES.c.host,
    INSTANCES.c.vm_state,
    INSTANCES.c.task_state,
    INSTANCES.c.vcpus,
    INSTANCES.c.memory_mb,
).where(_HERE)
_SERVERS = SERVER.order_by(INSTANCES.c.created_at, INSTANCES.c.id).limit(MOST_SERVERS + 1)
_COUNTS = (
    sa.select(INSTANCES.c.host, INSTANCES.c.vm_state, sa.func.count())
    .where(_HERE)
    .group_by(INSTANCES.c.host, INSTANCES.c.vm_state)
)
_NODES = sa.select(NODES.c.host, NODES.c.hypervisor_hostname)
_MOVES = (
    sa.select(
        MIGRATIONS.c.uuid,
        MIGRATIONS.c.instance_uuid,
        MIGRATIONS.c.migration_type,
        MIGRATIONS.c.status,
        MIGRATIONS.c.source_compute,
        MIGRATIONS.c.dest_compute,
        MIGRATIONS.c.cross_cell_move,
        MIGRATIONS.c.memory_total,
        MIGRATIONS.c.memory_remaining,
        MIGRATIONS.c.created_at,
        MIGRATIONS.c.updated_at,
        INSTANCES.c.display_name.label('name'),
    )
    .join(INSTANCES, INSTANCES.c.uuid == MIGRATIONS.c.instance_uuid)
    .where(MIGRATIONS.c.status.not_in(migrations.OVER))
    .order_by(MIGRATIONS.c.created_at.desc(), MIGRATIONS.c.id.desc())
    .limit(MOST_MOVES + 1)
)
_NAMES = sa.select(INSTANCES.c.uuid, INSTANCES.c.display_name).where(
    INSTANCES.c.uuid.in_(sa.bindparam('uuids', expanding=True))
)
_SAGAS = sa.select(
    SAGAS.c.uuid,
    SAGAS.c.kind,
    SAGAS.c.instance_uuid,
    SAGAS.c.state,
    SAGAS.c.direction,
    SAGAS.c.position,
    SAGAS.c.step,
    SAGAS.c.waits_on,
    SAGAS.c.data,
    SAGAS.c.error,
    SAGAS.c.epoch,
    SAGAS.c.owner,
    SAGAS.c.created_at,
    SAGAS.c.finished_at,
)
_NEWEST = (SAGAS.c.created_at.desc(), SAGAS.c.uuid)
_OPEN_SAGAS = (
    _SAGAS.where(sa.or_(SAGAS.c.active_for.is_not(None), SAGAS.c.state == journal.CLEANING))
    .order_by(*_NEWEST)
    .limit(MOST_SAGAS + 1)
)
_RECENT_SAGAS = _SAGAS.order_by(*_NEWEST).limit(RECENT_SAGAS)


# A row with the columns of one of the queries above.
Row: typing.TypeAlias = typing.Any


class CellReading(typing.NamedTuple):
    """Records of one cell's database.

    computes: the rows of its compute services; up: hosts of those that are up
    nodes: {host: hypervisor node}
    counts: {host or None: {vm state: number of servers}}
    servers: rows of SERVER; empty if there are more than MOST_SERVERS
    moves: rows of migrations that are not over; names: {server uuid: name} of sagas' servers
    """

    computes: Sequence[rows.Row]
    up: frozenset[str]
    nodes: dict[str, str]
    counts: dict[str | None, dict[str, int]]
    servers: Sequence[Row]
    moves: Sequence[Row]
    names: dict[str, str]


class Reading(typing.NamedTuple):
    """Records of all databases at nearly the same time.

    cells: [(Cell, CellReading), ...] in order, cell0 included. A cell that does not answer has its
        last known CellReading, None if the cell has not answered yet
    stale: {name of a cell that does not answer: time of its last known CellReading, or None}
    zones: {host: availability zone}; default_zone: that of the other hosts
    loads: {provider: placement_rows.Load}, None if placement's database cannot be read
    """

    cells: list[tuple[cells_module.Cell, CellReading | None]]
    sagas: list[Row]
    zones: dict[str, str]
    default_zone: str
    loads: dict[str, placement_rows.Load] | None
    stale: dict[str, datetime.datetime | None]


class Reader:
    """Reads the databases. conf: of a control daemon

    placement_url, simcloud_url: of the databases of placement and of simcloud
    """

    def __init__(self, conf: cfg.ConfigOpts, placement_url: str, simcloud_url: str) -> None:
        self._conf = conf
        self.api_db = transactions.Database(
            conf.api_database.connection, limits=transactions.limits(conf)
        )
        self.cells = cells_module.Cells(conf, self.api_db, timeout_s=ANSWER_S)
        self._placement_db = transactions.Database(placement_url, limits=transactions.limits(conf))
        self._simcloud_db = transactions.Database(simcloud_url, limits=transactions.limits(conf))
        # {name of a cell: (its last CellReading, time of that)}
        self._known: dict[str, tuple[CellReading, datetime.datetime]] = {}

    def read(self) -> Reading:
        """Return a Reading. Raise Unavailable without the API database."""
        sagas, zones = self.api_db.read(_api_rows)
        uuids = sorted({saga.instance_uuid for saga in sagas})
        found = self.cells.scatter(_cell_rows, self._conf.service_down_time, uuids)
        answers, silent = cells_module.split(found)
        now = runtime.naive_now()
        self._known = {
            **self._known,
            **{cell.name: (each, now) for cell, each in answers.items()},
        }
        known = {cell.name: self._known.get(cell.name, (None, None)) for cell in found}
        return Reading(
            cells=[(cell, known[cell.name][0]) for cell in found],
            sagas=sagas,
            zones=zones,
            default_zone=self._conf.default_availability_zone,
            loads=self._loads(),
            stale={cell.name: known[cell.name][1] for cell in silent},
        )

    def _loads(self) -> dict[str, placement_rows.Load] | None:
        try:
            return self._placement_db.read(placement_rows.loads)
        except (exception.Unavailable, *errors.ERRORS) as error:
            LOG.info('The live page shows no allocations: %s', error)
            return None

    def names(self, wanted: dict[str, list[str | None]]) -> neighbour_names.Names:
        """Return neighbour_names.read, {} if the database of simcloud cannot be read."""
        try:
            return self._simcloud_db.read(neighbour_names.read, wanted)
        except (exception.Unavailable, *errors.ERRORS) as error:
            LOG.info('The live page shows no names of projects, users and images: %s', error)
            return {}

    def close(self) -> None:
        """Give up the connections."""
        self.cells.close()
        self.api_db.dispose()
        self._placement_db.dispose()
        self._simcloud_db.dispose()


def _api_rows(
    connection: sa.Connection,
) -> tuple[list[Row], dict[str, str]]:
    found = {
        row.uuid: row for query in (_OPEN_SAGAS, _RECENT_SAGAS) for row in connection.execute(query)
    }
    newest = sorted(found.values(), key=lambda row: row.created_at, reverse=True)
    return newest, aggregates.zones(connection)


def _cell_rows(connection: sa.Connection, down_time_s: float, uuids: list[str]) -> CellReading:
    counts: dict[str | None, dict[str, int]] = {}
    for host, vm_state, number in connection.execute(_COUNTS):
        counts.setdefault(host, {})[vm_state] = number
    few = sum(sum(each.values()) for each in counts.values()) <= MOST_SERVERS
    computes = services.every(connection, binary=services.COMPUTE)
    return CellReading(
        computes=computes,
        up=frozenset(each.host for each in computes if services.is_up(each, down_time_s)),
        nodes=_pairs(connection.execute(_NODES).all()),
        counts=counts,
        servers=connection.execute(_SERVERS).all() if few else (),
        moves=connection.execute(_MOVES).all(),
        names=_pairs(connection.execute(_NAMES, {'uuids': uuids}).all()),
    )


def _pairs(found: Iterable[typing.Any]) -> dict[str, str]:
    return dict(found)
