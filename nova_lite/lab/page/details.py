"""Details that a viewer of the live page requests: of hosts, servers and sagas."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import typing

import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import models as api_models
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.lab.page import document
from nova_lite.lab.page import host_map
from nova_lite.lab.page import host_parts
from nova_lite.lab.page import placement_rows
from nova_lite.lab.page import reading as reading_module
from nova_lite.lab.page import server_details
from nova_lite.lab.timeline import saga_states
from nova_lite.lab.timeline import story

# Most that an answer lists; `more` says whether there are others.
MOST = 200
MOST_WORDS = 100
# How long hosts are answered as the last document has them.
FRESH_S = 10.0

Json: typing.TypeAlias = dict[str, typing.Any]

INSTANCES = reading_module.INSTANCES
SAGAS = api_models.Saga.__table__


class NotKnown(exception.Unavailable):
    msg = 'Server %(uuid)s may be in a cell that does not answer: %(silent)s.'


class Source:
    """Reads the document and the details of a cloud.

    reader: a reading.Reader
    faults, audit: functions that return the injected faults and the last audit, see `document`
    why: function that returns the last scheduling decision about the server with a UUID. It raises
        NotFound, Unavailable
    """

    def __init__(
        self,
        reader: reading_module.Reader,
        faults: Callable[[], Json],
        audit: Callable[[], Json | None],
        why: Callable[[str], Json],
    ) -> None:
        self._reader, self._faults, self._audit = reader, faults, audit
        self.why = why
        self._last: tuple[float, reading_module.Reading] | None = None

    def document(self) -> Json:
        """Return the document of now. Raise Unavailable."""
        return document.make(self._read(), self._faults(), self._audit())

    def _read(self) -> reading_module.Reading:
        found = self._reader.read()
        self._last = runtime.monotonic(), found
        return found

    def hosts(self, *, cell: str = '', zone: str = '', q: str = '') -> Json:
        """Return hosts, the most loaded first: of a cell, of a zone, with `q` in their names.

        They are those of the last document unless that is old, so that a viewer who asks for
        them causes no reading.
        """
        found = [
            host
            for host in self._hosts()
            if cell in ('', host['cell']) and zone in ('', host['zone']) and q in host['name']
        ]
        found.sort(key=lambda host: (-_load(host), host['name']))
        return {'hosts': found[:MOST], 'more': len(found) > MOST}

    def map(self) -> Json:
        """Return all hosts, see `host_map`."""
        return host_map.make(self._hosts())

    def servers(self, *, q: str = '', host: str = '') -> Json:
        """Return servers of all cells: on a host, or with `q` in the name or at the uuid's start.

        `silent` has the names of cells that do not answer, whose servers are missing. Of a host,
        its NUMA nodes and devices are returned as well, see `host_parts`.
        Raise Invalid for a `q` that is too long.
        """
        if len(q) > MOST_WORDS:
            raise exception.Invalid(reason=f'q has more than {MOST_WORDS} characters')
        conditions = [INSTANCES.c.host == host] if host else []
        if q:
            conditions.append(
                sa.or_(
                    INSTANCES.c.display_name.contains(q, autoescape=True),
                    INSTANCES.c.uuid.startswith(q, autoescape=True),
                )
            )
        query = reading_module.SERVER.where(*conditions).order_by(INSTANCES.c.id).limit(MOST + 1)
        answers, silent = self._in_cells(query)
        states = document.host_states(self._hosts())
        found = [document.server(cell.name, row, states) for cell, rows in answers for row in rows]
        parts = self._parts_of(host) if host else {}
        return {'servers': found[:MOST], 'more': len(found) > MOST, 'silent': silent, **parts}

    def _parts_of(self, host: str) -> Json:
        answers, _silent = cells_module.split(self._reader.cells.scatter(host_parts.read, host))
        return host_parts.make(report for found in answers.values() for report in found)

    def server(self, uuid: str) -> Json:
        """Return a server with its actions, its sagas, the newest first, and the newest saga.

        Raise InstanceNotFound, NotKnown.
        """
        found = self._reader.cells.scatter(server_details.read, uuid)
        answers, silent = cells_module.split(found)
        for cell, records in answers.items():
            if records is not None:
                states = document.host_states(self._hosts())
                names = self._reader.names(server_details.ids(records))
                listed = self._reader.api_db.read(_sagas_of, uuid)
                return {
                    **document.server(cell.name, records.server, states),
                    **server_details.make(records, names),
                    'sagas': listed,
                    'saga': self.saga(listed[0]['uuid']) if listed else None,
                }
        if silent:
            raise NotKnown(uuid=uuid, silent=', '.join(cell.name for cell in silent))
        raise exception.InstanceNotFound(instance_id=uuid)

    def saga(self, uuid: str) -> Json:
        """Return the timeline of a saga: when and where each step ran. Raise SagaNotFound."""
        row = self._reader.api_db.read(sagas.get, uuid)
        name = self._names([row.instance_uuid]).get(row.instance_uuid, row.instance_uuid)
        title = f'{saga_states.kind_of(row)} of {name}'
        found = self._reader.api_db.read(story.read, uuid, title=title)
        values = dataclasses.asdict(found)
        bars = [
            {**bar, 'place': each.place}
            for bar, each in zip(values.pop('bars'), found.bars, strict=True)
        ]
        server = {'server': row.instance_uuid, 'name': name}
        return {**values, **server, 'lasted': found.lasted, 'bars': bars}

    def close(self) -> None:
        """Give up the connections."""
        self._reader.close()

    def _hosts(self) -> Iterator[Json]:
        """Yield the hosts, of the last reading unless that is old."""
        is_fresh = self._last is not None and runtime.monotonic() - self._last[0] < FRESH_S
        reading = self._last[1] if self._last is not None and is_fresh else self._read()
        return document.hosts(reading, self._faults()['hosts_off'])

    def _names(self, uuids: list[str]) -> dict[str, str]:
        """Return {uuid: name} of servers of the cells that answer."""
        answers, _silent = cells_module.split(self._reader.cells.scatter(instances.of, uuids))
        return {row.uuid: row.display_name for rows in answers.values() for row in rows}

    def _in_cells(
        self, query: sa.Select[typing.Any]
    ) -> tuple[Iterable[tuple[cells_module.Cell, list[sa.Row[typing.Any]]]], list[str]]:
        """Return (cell, rows) of the cells that answer, and the names of the other cells."""
        answers, silent = cells_module.split(self._reader.cells.scatter(_rows, query))
        return answers.items(), [cell.name for cell in silent]


def _load(host: Json) -> float:
    return max(document.share(host['load'], name) for name in placement_rows.CLASSES.values())


def _rows(connection: sa.Connection, query: sa.Select[typing.Any]) -> list[sa.Row[typing.Any]]:
    return list(connection.execute(query))


def _sagas_of(connection: sa.Connection, uuid: str) -> list[Json]:
    query = (
        sa.select(SAGAS.c.uuid, SAGAS.c.kind, SAGAS.c.state, SAGAS.c.data)
        .where(SAGAS.c.instance_uuid == uuid)
        .order_by(SAGAS.c.created_at.desc())
        .limit(MOST)
    )
    return [
        {'uuid': row.uuid, 'kind': saga_states.kind_of(row), 'state': document.saga_state(row)}
        for row in connection.execute(query)
    ]
