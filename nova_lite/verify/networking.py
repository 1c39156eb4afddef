"""Ports of servers: their bindings, and the recorded network information."""

import collections
from collections.abc import Iterator

from nova_lite import states
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.verify import findings
from nova_lite.verify import holdings
from nova_lite.verify import observed

Finding = findings.Finding
ACTIVE = 'ACTIVE'
# A server that failed has kept its ports, or some of them, or none.
FAILED = (states.VmState.ERROR, states.VmState.BUILDING)


def bindings(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: ports are bound only to hosts where the server is or to which it may return."""
    hosts = {row.uuid: {row.host} for _cell, row in snapshot.instances() if not row.hidden}
    busy = holdings.under_way(snapshot)
    for migration in holdings.migrations(snapshot):
        if migration.status in holdings.KEPT and migration.instance_uuid in hosts:
            hosts[migration.instance_uuid] |= {migration.source_compute, migration.dest_compute}
    for port in snapshot.ports:
        uuid = port['device_id']
        if uuid not in hosts or uuid in busy:
            continue
        for host, _status in snapshot.bindings.get(port['id'], ()):
            if host and host not in hosts[uuid]:
                yield Finding('I5', f'port {port["id"]}', f'of server {uuid} is bound to {host}')


def active_bindings(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: each port of a server has one active binding, to the server's host."""
    for row, ports in _at_rest(snapshot):
        for port_id in ports:
            bound = snapshot.bindings.get(port_id, ())
            active = [host for host, status in bound if status == ACTIVE]
            if active != [row.host] and row.vm_state not in FAILED:
                yield Finding(
                    'I5',
                    f'binding of port {port_id}',
                    f'is active on {active}, server {row.uuid} is on {row.host}',
                )


def recorded(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: the network information of a server agrees with the network service."""
    for row, ports in _at_rest(snapshot):
        vifs = {vif['id']: vif for vif in row.network_info}
        what = f'ports of server {row.uuid}'
        if vifs.keys() - ports.keys():
            yield Finding('I5', what, f'do not exist: {sorted(vifs.keys() - ports.keys())}')
        elif ports.keys() - vifs.keys() and row.vm_state not in FAILED:
            yield Finding('I5', what, f'are not on record: {sorted(ports.keys() - vifs.keys())}')
        for port_id in vifs.keys() & ports.keys():
            there, here = _of_port(ports[port_id]), _of_vif(vifs[port_id])
            if there != here:
                yield Finding('I5', f'port {port_id}', f'has {there}, on record is {here}')


def _at_rest(snapshot: observed.Snapshot) -> Iterator[tuple[rows.Row, dict[str, session.Json]]]:
    """Yield (row, {port id: port}) of servers at rest."""
    ports: dict[str, dict[str, session.Json]] = collections.defaultdict(dict)
    for port in snapshot.ports:
        ports[port['device_id']][port['id']] = port
    for _cell, row in snapshot.resting():
        yield row, ports[row.uuid]


def _of_port(port: session.Json) -> tuple[str, list[str]]:
    return port['mac_address'], sorted(each['ip_address'] for each in port['fixed_ips'])


def _of_vif(vif: session.Json) -> tuple[str, list[str]]:
    subnets = (vif.get('network') or {}).get('subnets') or ()
    addresses = [
        each['address']
        for subnet in subnets
        for each in subnet['ips']
        if each.get('type', 'fixed') == 'fixed'
    ]
    return vif['address'], sorted(addresses)
