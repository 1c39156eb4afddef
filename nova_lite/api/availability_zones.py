"""Availability zones, which follow from aggregates and compute services.

Source: reference/nova/api-surface 2.5.
"""

from collections.abc import Iterable
import typing

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import service_records
from nova_lite.api import times
from nova_lite.api.policies import aggregates as rules
from nova_lite.db.cell import services

# Name, whether it is available, its enabled services.
Zone: typing.TypeAlias = tuple[str, bool, list[service_records.Record]]

URL = '/os-availability-zone'


@operation.operation('GET', URL, policy=rules.ZONES, faults=(403,))
def list_zones(req: request.Request) -> operation.Result:
    """List the zones with hosts. A zone is available if one of its hosts is enabled."""
    internal = req.conf.internal_service_availability_zone
    return {
        'availabilityZoneInfo': [
            _view(name, available) for name, available, _records in _zones(req) if name != internal
        ]
    }


@operation.operation('GET', f'{URL}/detail', policy=rules.ZONES_DETAIL, faults=(403,))
def list_in_detail(req: request.Request) -> operation.Result:
    """List the zones with their hosts, and the zone of services other than compute."""
    return {
        'availabilityZoneInfo': [
            _view(name, available, _hosts(req, records) if available else None)
            for name, available, records in _zones(req)
        ]
    }


def _zones(req: request.Request) -> list[Zone]:
    """Return (name, available, enabled services), available ones first."""
    enabled: dict[str, list[service_records.Record]] = {}
    names = set()
    for record in service_records.every(req).records:
        names.add(record.zone)
        if not record.row.disabled:
            enabled.setdefault(record.zone, []).append(record)
    found = [(name, True, enabled[name]) for name in sorted(enabled)]
    return found + [(name, False, []) for name in sorted(names - set(enabled))]


def _hosts(req: request.Request, records: Iterable[service_records.Record]) -> operation.Body:
    hosts: operation.Body = {}
    for record in records:
        hosts.setdefault(record.row.host, {})[record.row.binary] = {
            'available': services.is_up(record.row, req.conf.service_down_time),
            'active': True,
            'updated_at': times.naive(record.row.last_seen_up),
        }
    return hosts


def _view(name: str, available: bool, hosts: operation.Body | None = None) -> operation.Body:
    return {'zoneName': name, 'zoneState': {'available': available}, 'hosts': hosts}
