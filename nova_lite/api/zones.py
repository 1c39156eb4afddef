"""Availability zones: those that a server may ask for, and the one of a host.

Known zones are kept for some seconds: with thousands of hosts it is costly to
find them. A zone that is not among them is looked for at once.
"""

from nova_lite import runtime
from nova_lite.api import request
from nova_lite.api import service_records
from nova_lite.db.api import aggregates
from nova_lite.db.cell import services

KEPT_S = 10


def exists(req: request.Request, zone: str) -> bool:
    """Return whether an enabled compute service is in the zone."""
    return zone in _known(req) or zone in _known(req, again=True)


def of_host(req: request.Request, host: str) -> str:
    """Return the zone that a host is in."""
    default: str = req.conf.default_availability_zone
    return req.app.api_db.read(aggregates.zones).get(host, default)


def _known(req: request.Request, again: bool = False) -> frozenset[str]:
    found, until = req.app.zones
    if again or runtime.monotonic() > until:
        records = service_records.every(req, binary=services.COMPUTE, disabled=False).records
        found = frozenset(record.zone for record in records)
        req.app.zones = (found, runtime.monotonic() + KEPT_S)
    return found
