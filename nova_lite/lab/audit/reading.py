"""Reads snapshots of a nova from its databases and from the services around it."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
import datetime
import functools
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import runtime
from nova_lite.lab.audit import amounts
from nova_lite.lab.audit import databases
from nova_lite.lab.audit import observed
from nova_lite.lab.audit import schema
from nova_lite.lab.audit import services
from nova_lite.lab.audit import settings as settings_module

# Ids in one statement.
CHUNK = 500
# Seconds after which a service that does not report is down: nova's default.
DOWN_S = 60
VOLUME = 'volume'
# Shortest time between two readings: each one is work for the databases of a cloud in production.
PAUSE_S = 5.0


class Reader:
    """Reads snapshots. say: function that is called with a text about the current reading"""

    def __init__(
        self, settings: settings_module.Settings, *, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._settings, self._say = settings, say
        self._api = databases.Database(settings.api_url, 'the API database')
        self._cells: dict[tuple[str, str], databases.Database] = {}
        placement = settings.services.get(observed.PLACEMENT)
        self._placement = services.PlacementReader(placement) if placement else None
        self._ended: float | None = None

    def close(self) -> None:
        """Close the connections."""
        for database in (self._api, *self._cells.values()):
            database.close()

    def read(self, _ctxt: context.RequestContext | None = None) -> observed.Snapshot:
        """Return one snapshot, at the earliest PAUSE_S after the last. Raise BadUrl, Unavailable.

        Services are asked after the databases, because most resources have an owner first.
        A database with a schema that is not known raises Unknown.
        """
        if self._ended is not None:
            runtime.sleep(max(0.0, self._ended + PAUSE_S - runtime.monotonic()))
        self._say('the API database')
        mapped, api = self._api.read(_api)
        snapshot = observed.Snapshot(
            now=runtime.naive_now(), cells=[], asked=self._settings.services.keys(), **api
        )
        for mapping in mapped:
            self._say(_title(mapping))
            servers = {
                uuid
                for uuid, row in snapshot.mappings.items()
                if row.cell_id == mapping.id and not row.queued_for_delete
            }
            read = functools.partial(_cell, mapping=mapping, mapped=servers)
            snapshot.cells.append(self._database(mapping).read(read))
        self._ask(snapshot)
        self._ended = runtime.monotonic()
        return snapshot

    def _database(self, mapping: observed.Row) -> databases.Database:
        name = _title(mapping)
        url = databases.resolve(mapping.database_connection or '', self._settings.main_url, name)
        key = mapping.uuid, url
        if key not in self._cells:
            self._cells[key] = databases.Database(url, name)
        return self._cells[key]

    def _ask(self, snapshot: observed.Snapshot) -> None:
        """Add to a snapshot what services have."""
        neutron = self._settings.services.get(observed.NEUTRON)
        if neutron is not None:
            self._say('ports')
            snapshot.ports = services.ports(neutron)
        cinder = self._settings.services.get(observed.CINDER)
        if cinder is not None:
            self._say('volumes')
            snapshot.volumes = services.volumes(cinder)
        if self._placement is not None:
            self._say('allocations')
            nodes = {node.uuid for cell in snapshot.cells for node in cell.nodes}
            snapshot.placement = self._placement.read(
                nodes, with_aggregates=bool(snapshot.aggregates)
            )


def _api(connection: sa.Connection) -> tuple[list[observed.Row], dict[str, typing.Any]]:
    """Return (rows of cell_mappings, fields of a Snapshot)."""
    schema.require(connection, schema.API, '')

    def every(name: str) -> list[observed.Row]:
        return list(connection.execute(sa.select(schema.OF_API[name])))

    hosts: dict[int, set[str]] = {}
    for row in every('aggregate_hosts'):
        hosts.setdefault(row.aggregate_id, set()).add(row.host)
    return every('cell_mappings'), {
        'mappings': {row.instance_uuid: row for row in every('instance_mappings')},
        'build_requests': {row.instance_uuid: row for row in every('build_requests')},
        'specs': frozenset(row.instance_uuid for row in every('request_specs')),
        'host_mappings': {row.host: row.cell_id for row in every('host_mappings')},
        'aggregates': [(row, hosts.get(row.id, set())) for row in every('aggregates')],
    }


def _cell(connection: sa.Connection, mapping: observed.Row, mapped: set[str]) -> observed.Cell:
    """Return the rows of a cell. mapped: the servers that are mapped to it"""
    schema.require(connection, schema.CELL, _name(mapping))
    instances = {row.uuid: row for row in _undeleted(connection, 'instances')}
    devices = _undeleted(connection, 'block_device_mapping')
    found = _undeleted(connection, 'services')
    owners = {device.instance_uuid for device in devices}
    return observed.Cell(
        id=mapping.id,
        uuid=mapping.uuid,
        name=_name(mapping),
        instances=instances,
        amounts=_amounts(connection, devices),
        fates=_fates(connection, (mapped | owners) - instances.keys()),
        migrations=_undeleted(connection, 'migrations'),
        devices=devices,
        services=found,
        nodes=_undeleted(connection, 'compute_nodes'),
        down=frozenset(row.host for row in found if _is_down(row)),
    )


def _name(mapping: observed.Row) -> str:
    """Return the name of a cell, or its uuid: nova-manage creates cells without names, too."""
    return str(mapping.name or mapping.uuid)


def _title(mapping: observed.Row) -> str:
    return f'the database of cell {_name(mapping)}'


def _undeleted(connection: sa.Connection, name: str) -> list[observed.Row]:
    table = schema.OF_CELL[name]
    return list(connection.execute(sa.select(table).where(table.c.deleted == 0)))


def _amounts(
    connection: sa.Connection, devices: Collection[observed.Row]
) -> dict[str, observed.Amounts]:
    """Return {server uuid: amounts that its flavor asks for} where the flavor is readable."""
    from_volume = {
        device.instance_uuid
        for device in devices
        if device.boot_index == 0 and device.destination_type == VOLUME
    }
    table = schema.OF_CELL['instance_extra']
    query = sa.select(table.c.instance_uuid, table.c.flavor).where(table.c.deleted == 0)
    found: dict[str, observed.Amounts] = {}
    # The texts of all flavors together take much memory.
    for uuid, stored in connection.execute(query):
        wanted = amounts.of_flavor(stored, from_volume=uuid in from_volume)
        if wanted is not None:
            found[uuid] = wanted
    return found


def _fates(connection: sa.Connection, uuids: set[str]) -> dict[str, str]:
    """Return {uuid: 'deleted' or 'archived'} of servers that the cell had."""
    instances, shadows = schema.OF_CELL['instances'], schema.OF_CELL['shadow_instances']
    found: dict[str, str] = {}
    for chunk in _chunks(uuids):
        archived = sa.select(shadows.c.uuid).where(shadows.c.uuid.in_(chunk))
        found |= dict.fromkeys(connection.scalars(archived), 'archived')
        deleted = sa.select(instances.c.uuid).where(
            instances.c.uuid.in_(chunk), instances.c.deleted != 0
        )
        found |= dict.fromkeys(connection.scalars(deleted), 'deleted')
    return found


def _chunks(uuids: set[str]) -> Iterator[list[str]]:
    ordered = sorted(uuids)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]


def _is_down(service: observed.Row) -> bool:
    """Return whether a service does not report, as the API would say."""
    since: datetime.datetime | None = service.last_seen_up or service.created_at
    if service.forced_down or since is None:
        return True
    return (runtime.naive_now() - since).total_seconds() > DOWN_S
