"""Service records of all cells with what is not in them: cell and zone."""

import dataclasses

from nova_lite import cells
from nova_lite.db.api import aggregates
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import services


@dataclasses.dataclass(frozen=True)
class Record:
    """One service. row: its record; zone: the availability zone it is shown in."""

    row: object
    cell: object
    zone: str


@dataclasses.dataclass(frozen=True)
class Found:
    """records: of the cells that answered; down: the cells that did not."""

    records: list
    down: list


def every(req, **where):
    """Return the services whose columns equal `where`, of every cell in turn."""
    answers, silent = cells.split(req.app.cells.scatter(services.every, **where))
    zones = req.app.api_db.read(aggregates.zones)
    records = [
        Record(row, cell, zone_of(req, row, zones))
        for cell, rows in answers.items()
        for row in rows
    ]
    return Found(records, list(silent))


def zone_of(req, row, zones):
    """Return the zone of a service. zones: {host: zone} of hosts in one"""
    if row.binary != services.COMPUTE:
        return req.conf.internal_service_availability_zone
    return zones.get(row.host, req.conf.default_availability_zone)


def hosts_of(req, found_cells):
    """Return hosts mapped to these cells."""
    ids = {cell.id for cell in found_cells}
    mapped = req.app.api_db.read(host_mappings.every)
    return [mapping.host for mapping in mapped if mapping.cell_id in ids]
