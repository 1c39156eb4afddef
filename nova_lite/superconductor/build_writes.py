"""Transactions of builds: the records in a cell, and the pivot, for one server or for many.

Transactions of different builds that wait together are made as one. If one of the builds cannot
be written, each is written by itself.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import functools
import typing

import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import runtime
from nova_lite.db import joined
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import build_requests
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import actions
from nova_lite.db.cell import attempts
from nova_lite.db.cell import building
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.lifecycle import requests
from nova_lite.objects import selection
from nova_lite.runtime import combine

# The row and the columns of the block devices of a server.
Created: typing.TypeAlias = tuple[rows.Row, Sequence[rows.Values]]


class Entry(typing.NamedTuple):
    """A server whose records are to be written. choice: [Selection of its host, *alternates]"""

    ctxt: context.RequestContext
    request: rows.Row
    choice: list[selection.Selection]


class Place(typing.NamedTuple):
    """A server that is to be mapped to a cell.

    host: which is about to build the server, and has to be mapped to the cell; or None
    """

    uuid: str
    epoch: int
    cell_id: int
    host: str | None = None


Records: typing.TypeAlias = combine.Combiner[Sequence[Entry], dict[str, Created]]


def create(connection: sa.Connection, entries: Sequence[Entry]) -> dict[str, Created]:
    """Write the records of servers to a cell. Return {uuid: (row, devices)}.

    Servers are omitted if a newer attempt has cleared the cell.
    """
    records = {each.request.instance_uuid: _record(each) for each in entries}
    uuids = list(records)
    for alike in _alike(records.values()):
        instances.create(connection, alike)
    actions.start_each(
        connection, zip((each.ctxt for each in entries), uuids, strict=True), 'create'
    )
    devices = [device for each in entries for device in each.request.block_devices]
    for alike in _alike(devices):
        children.create_block_devices(connection, alike)
    for each in entries:
        children.create_tags(connection, each.request.instance_uuid, each.request.tags)
    epochs = {each.request.instance_uuid: each.request.epoch for each in entries}
    for uuid in attempts.overtaken(connection, epochs):
        instances.purge(connection, uuid)
    ids = building.ids(connection, uuids)
    devices_of = {each.request.instance_uuid: each.request.block_devices for each in entries}
    return {
        uuid: (building.created(record, ids[uuid]), devices_of[uuid])
        for uuid, record in records.items()
        if uuid in ids
    }


def _record(entry: Entry) -> dict[str, typing.Any]:
    ctxt, request, choice = entry
    return requests.record_of(
        request,
        host=choice[0].service_host,
        node=choice[0].nodename,
        availability_zone=choice[0].availability_zone,
        build=requests.build_arguments(ctxt, request, choice),
    )


def _alike(found: Iterable[rows.Values]) -> Iterable[list[rows.Values]]:
    """Return lists of rows with the same columns, which one statement can insert."""
    grouped: dict[frozenset[str], list[rows.Values]] = {}
    for values in found:
        grouped.setdefault(frozenset(values), []).append(values)
    return grouped.values()


def place(connection: sa.Connection, places: Sequence[Place]) -> None:
    """Map servers to cells and delete their build requests: the pivot.

    Raise StateChanged, CellMappingNotFound or HostMappingNotFound if one of them cannot be mapped.
    """
    build_requests.drop(connection, {each.uuid: each.epoch for each in places})
    for cell_id in dict.fromkeys(each.cell_id for each in places):
        mine = [each for each in places if each.cell_id == cell_id]
        instance_mappings.place(connection, [each.uuid for each in mine], cell_id)
        hosts = {each.host: None for each in mine if each.host is not None}
        if hosts:
            host_mappings.hold(connection, list(hosts), cell_id)


class JoinedWrites:
    """Writes the builds of a super-conductor. Safe to use from several threads."""

    def __init__(self, api_db: transactions.Database) -> None:
        self._api_db = api_db
        self._lock = runtime.Lock()
        self._places: combine.Combiner[Place, None] = combine.Combiner(self._place, joined.MOST)
        self._records: dict[tuple[str, ...], Records] = {}

    def create(self, cell: deployment.Cell, entries: Sequence[Entry]) -> dict[str, Created]:
        """Make the transaction `create` in a cell."""
        return self.of_cell(cell).call(entries, lambda: cell.db.write(create, entries))

    def of_cell(self, cell: deployment.Cell) -> Records:
        """Return the Combiner of transactions in a cell."""
        key = (cell.uuid, *cell.urls)
        with self._lock:
            if key not in self._records:
                together = functools.partial(self._create, cell)
                self._records[key] = combine.Combiner(together, joined.MOST)
            return self._records[key]

    def place(self, place_: Place) -> None:
        """Make the transaction `place` for one server."""
        self._places.call(place_, lambda: self._api_db.write(place, [place_]))

    def _create(
        self, cell: deployment.Cell, members: Sequence[Sequence[Entry]]
    ) -> list[dict[str, Created]] | None:
        entries = [entry for member in members for entry in member]
        created = joined.unless_refused(lambda: cell.db.write(create, entries))
        if created is None:
            return None
        uuids = [[entry.request.instance_uuid for entry in member] for member in members]
        return [{uuid: created[uuid] for uuid in mine if uuid in created} for mine in uuids]

    def _place(self, places: Sequence[Place]) -> list[None] | None:
        def write() -> list[None]:
            self._api_db.write(place, places)
            return [None] * len(places)

        return joined.unless_refused(write)
