"""Service records of all cells, with the cell and the zone, which they do not contain."""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from nova_lite import cells
from nova_lite.api import request
from nova_lite.db import rows
from nova_lite.db.api import aggregates
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import services


@dataclasses.dataclass(frozen=True)
class Record:
    """One service. row: its record; zone: the availability zone it is shown in."""

    row: rows.Row
    cell: cells.Cell
    zone: str


@dataclasses.dataclass(frozen=True)
class Found:
    """records: of the cells that answered; down: the cells that did not."""

    records: list[Record]
    down: list[cells.Cell]


def every(req: request.Request, **where: typing.Any) -> Found:
    """Return the services whose columns equal `where`, of every cell in turn."""
    answers, silent = cells.split(req.app.cells.scatter(services.every, **where))
    zones = req.app.api_db.read(aggregates.zones)
    records = [
        Record(row, cell, zone_of(req, row, zones))
        for cell, known in answers.items()
        for row in known
    ]
    return Found(records, list(silent))


def zone_of(req: request.Request, row: rows.Row, zones: Mapping[str, str]) -> str:
    """Return the zone of a service. zones: {host: zone} of hosts in one"""
    if row.binary != services.COMPUTE:
        zone: str = req.conf.internal_service_availability_zone
        return zone
    return zones.get(row.host, req.conf.default_availability_zone)


def hosts_of(req: request.Request, found_cells: Iterable[cells.Cell]) -> list[str]:
    """Return hosts mapped to these cells."""
    ids = {cell.id for cell in found_cells}
    mapped = req.app.api_db.read(host_mappings.every)
    return [mapping.host for mapping in mapped if mapping.cell_id in ids]
