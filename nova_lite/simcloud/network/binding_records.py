"""Rows of port bindings: the host on which a port is, or may soon be, plugged.

A port has one ACTIVE binding, to host '' if no host was requested, and any number of INACTIVE
bindings, each made for a move. A binding to any host succeeds: no agent can be missing.
"""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud.network import tables

BINDINGS = tables.bindings
ACTIVE, INACTIVE = 'ACTIVE', 'INACTIVE'
UNBOUND, FAILED = 'unbound', 'binding_failed'
# Types of ports for which hosts have no mechanism.
UNSUPPORTED = frozenset(('baremetal', 'smart-nic'))


def vif_of(host: str, vnic_type: str) -> tuple[str, database.Row]:
    """Return (vif_type, vif_details) of a binding to `host`."""
    if not host:
        return UNBOUND, {}
    if vnic_type in UNSUPPORTED:
        return FAILED, {}
    if vnic_type in ('direct', 'direct-physical', 'accelerator-direct'):
        return 'hw_veb', {'connectivity': 'l2', 'port_filter': False, 'vlan': '0'}
    return 'ovs', {
        'port_filter': True,
        'connectivity': 'l2',
        'bound_drivers': {'0': 'sim'},
        'bridge_name': 'br-int',
        'datapath_type': 'system',
        'ovs_hybrid_plug': False,
    }


def is_bound(binding: database.Row) -> bool:
    """Return whether a host carries the traffic of the port of a binding."""
    return binding['vif_type'] not in (UNBOUND, FAILED)


def new(
    port_id: str,
    host: str = '',
    *,
    status: str = ACTIVE,
    vnic_type: str = 'normal',
    profile: bodies.Json | None = None,
) -> database.Row:
    """Return the values of a new binding."""
    vif_type, vif_details = vif_of(host, vnic_type)
    return {
        'port_id': port_id,
        'host': host,
        'status': status,
        'vnic_type': vnic_type,
        'vif_type': vif_type,
        'vif_details': vif_details,
        'profile': profile or {},
    }


def of_port(conn: sa.Connection, port_id: str) -> list[database.Row]:
    """Return all bindings of a port, sorted by host."""
    return database.find_all(conn, BINDINGS, port_id=port_id, order=['host'])


def active_of(port_id: str, rows: list[database.Row]) -> database.Row:
    """Return the ACTIVE binding among `rows`, the bindings of a port, or a binding to no host."""
    return next((row for row in rows if row['status'] == ACTIVE), new(port_id))


def rebind(
    conn: sa.Connection,
    port_id: str,
    *,
    host: str | None = None,
    vnic_type: str | None = None,
    profile: bodies.Json | None = None,
) -> bool:
    """Change the given values of a port's ACTIVE binding. Return whether its host changed.

    An INACTIVE binding to the new host is replaced.
    """
    old = active_of(port_id, of_port(conn, port_id))
    changed = new(
        port_id,
        old['host'] if host is None else host,
        vnic_type=vnic_type or old['vnic_type'],
        profile=old['profile'] if profile is None else profile,
    )
    for each in {old['host'], changed['host']}:
        database.delete(conn, BINDINGS, port_id=port_id, host=each)
    database.insert(conn, BINDINGS, **changed)
    if changed['host'] != old['host']:
        bind_subports(conn, port_id, changed['host'])
        return True
    return False


def bind_subports(conn: sa.Connection, port_id: str, host: str) -> None:
    """Bind the subports of the trunk of a parent port to the port's host."""
    trunks, subports = tables.trunks, tables.subports
    joined = sa.select(subports.c.port_id).join(trunks, trunks.c.id == subports.c.trunk_id)
    for subport_id in conn.execute(joined.where(trunks.c.port_id == port_id)).scalars().all():
        rebind(conn, subport_id, host=host)
