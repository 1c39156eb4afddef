"""Checks of Neutron's ports against servers."""

from collections.abc import Iterator

from nova_lite.lab.audit import observed
from nova_lite.lab.audit import violation
from nova_lite.verify import age_limits

Violation = violation.Violation
Snapshot = observed.Snapshot
Ages = age_limits.AgeLimits
HOST = 'binding:host_id'
OWNER = 'compute:'
# Ports of Zun's containers, whose devices are no servers.
OTHERS = ('compute:kuryr',)


def orphaned(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """N1: Each port of a compute device belongs to a server that exists.

    The server was deleted while Neutron did not answer. The port keeps its addresses, and may
    be used up in the quota of its project.
    """
    for port in _ports(snapshot):
        uuid = port['device_id']
        if uuid not in snapshot.expected:
            yield Violation(f'port {port["id"]}', f'belongs to no server: {uuid}', port=port['id'])


def bound_elsewhere(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """N2: Each port of a server at rest is bound to the host of the server.

    Neutron sends the traffic of the port to another host, so the guest has no network. It
    happens when a live migration ends halfway.
    """
    hosts = {row.uuid: row.host for _cell, row in snapshot.resting()}
    for port in _ports(snapshot):
        host = hosts.get(port['device_id'])
        if host is not None and port.get(HOST, host) != host:
            bound = port[HOST] or 'no host'
            detail = f'is bound to {bound}, server {port["device_id"]} is on {host}'
            yield Violation(f'port {port["id"]}', detail, port=port['id'], host=host)


def _ports(snapshot: Snapshot) -> Iterator[observed.Json]:
    for port in snapshot.ports:
        owner = port['device_owner'] or ''
        if owner.startswith(OWNER) and owner not in OTHERS and port['device_id']:
            yield port
