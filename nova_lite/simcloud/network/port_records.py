"""Queries and changes of ports."""

import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import binding_records
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import qos
from nova_lite.simcloud.network import resource_requests
from nova_lite.simcloud.network import security_groups
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

PORTS = tables.ports
MAC_PREFIX = 'fa:16:3e'
BINDING = {
    'binding:host_id': 'host',
    'binding:profile': 'profile',
    'binding:vnic_type': 'vnic_type',
}
PRIVILEGED = ('binding:host_id', 'binding:profile')
# Prefixes of device owners whose ports only services and administrators may delete.
OF_SERVICES = ('compute:', 'baremetal:', 'manila:')


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that a port, or its network, belongs to the caller's project."""
    owned = sa.select(tables.networks.c.id).where(standard.own(caller, tables.networks))
    return sa.or_(standard.own(caller, PORTS), PORTS.c.network_id.in_(owned))


get = standard.getter(PORTS, visible)


def _require_allowed(caller: callers.Caller, network: database.Row, wanted: bodies.Json) -> None:
    """Raise Forbidden for a host unless for a service, for addresses unless for the owner."""
    for name in PRIVILEGED:
        if wanted.get(name):
            caller.require_privileged(f'setting {name} of a port')
    if caller.sees(network['project_id']):
        return
    if wanted.get('mac_address'):
        raise faults.Forbidden('Only the owner of a network may choose a MAC address on it.')
    if any(entry.get('ip_address') for entry in wanted.get('fixed_ips') or ()):
        raise faults.Forbidden('Only the owner of a network may choose an IP address on it.')
    if wanted.get('port_security_enabled') is False:
        raise faults.Forbidden('Only the owner of a network may open a port on it.')
    if wanted.get('device_owner', '').startswith('network:'):
        raise faults.Forbidden('Only the owner of a network may make service ports on it.')


def _mac_in_use(conn: sa.Connection, network_id: str, mac: str) -> bool:
    return database.exists(conn, PORTS, network_id=network_id, mac_address=mac)


def _mac(conn: sa.Connection, network_id: str, wanted: bodies.Json) -> str:
    """Return the requested MAC address, or a new one. Raise Conflict if it is in use."""
    mac = wanted.get('mac_address')
    if mac:
        if _mac_in_use(conn, network_id, mac.lower()):
            raise faults.Conflict(
                f'Unable to complete operation for network {network_id}. The '
                f'mac address {mac} is in use.',
                'MacAddressInUse',
            )
        return str(mac).lower()
    while True:
        tail = runtime.random().randbytes(3)
        mac = ':'.join((MAC_PREFIX, *(f'{byte:02x}' for byte in tail)))
        if not _mac_in_use(conn, network_id, mac):
            return mac


def _set_groups(conn: sa.Connection, port_id: str, ids: list[str]) -> None:
    database.delete(conn, tables.port_groups, port_id=port_id)
    for one in ids:
        database.insert(conn, tables.port_groups, port_id=port_id, security_group_id=one)


def _new_groups(
    conn: sa.Connection, caller: callers.Caller, row: database.Row, wanted: bodies.Json
) -> list[str]:
    """Return the ids of a new port's groups: the requested groups, else the default group."""
    ids = wanted.get('security_groups')
    if ids is None:
        service_port = row['device_owner'].startswith('network:')
        if service_port or not row['port_security_enabled']:
            return []
        return [security_groups.ensure_default(conn, row['project_id'])]
    _require_port_security(row, bool(ids))
    return security_groups.require_known(conn, caller, ids, row['project_id'])


def _require_port_security(row: database.Row, has_groups: bool) -> None:
    if has_groups and not row['port_security_enabled']:
        raise faults.Conflict(
            'Port has security group associated. Cannot disable port security '
            'until security group is removed.',
            'PortSecurityPortHasSecurityGroup',
        )


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a port from a request's values and return its row."""
    network = networks.get(conn, caller, wanted['network_id'])
    if not network['shared'] and not caller.sees(network['project_id']):
        raise faults.Forbidden(
            f'Tenant {caller.project_id} not allowed to create port on this network',
            'TenantNetworkForbidden',
        )
    _require_allowed(caller, network, wanted)
    _require_policy(conn, caller, wanted)
    row = standard.insert(
        conn,
        caller,
        PORTS,
        {'port_security_enabled': network['port_security_enabled'], **wanted},
        mac_address=_mac(conn, network['id'], wanted),
        qos_policy_id=wanted.get('qos_policy_id') or network['qos_policy_id'],
    )
    addresses.assign(conn, network['id'], row['id'], wanted.get('fixed_ips'))
    _set_groups(conn, row['id'], _new_groups(conn, caller, row, wanted))
    database.insert(conn, tables.bindings, **binding_records.new(row['id'], **_binding(wanted)))
    return row


def _require_policy(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> None:
    if wanted.get('qos_policy_id') is not None:
        qos.get(conn, caller, wanted['qos_policy_id'])


def _binding(wanted: bodies.Json) -> bodies.Json:
    """Return the binding of a request. Null becomes '' for a host and {} for a profile."""
    empty = {'host': '', 'profile': {}, 'vnic_type': 'normal'}
    given = {BINDING[name]: value for name, value in wanted.items() if name in BINDING}
    return {name: empty[name] if value is None else value for name, value in given.items()}


def _new_mac(conn: sa.Connection, row: database.Row, wanted: bodies.Json) -> str:
    mac: str = wanted['mac_address'].lower()
    if mac == row['mac_address']:
        return mac
    active = binding_records.active_of(row['id'], binding_records.of_port(conn, row['id']))
    if active['host'] and row['device_owner'].startswith('compute:'):
        raise faults.Conflict(
            f'Unable to complete operation on port {row["id"]}, port is '
            f'already bound, port type: {active["vif_type"]}.',
            'PortBound',
        )
    return _mac(conn, row['network_id'], wanted)


def update(
    conn: sa.Connection, caller: callers.Caller, port_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a port and return its row."""
    row = get(conn, caller, port_id)
    network = database.get(conn, tables.networks, id=row['network_id'])
    _require_allowed(caller, network, wanted)
    for name in PRIVILEGED:
        if name in wanted:  # also if the value is null
            caller.require_privileged(f'setting {name} of a port')
    values = standard.columns(PORTS, wanted)
    _require_policy(conn, caller, wanted)
    if values.get('qos_policy_id', row['qos_policy_id']) != row['qos_policy_id']:
        resource_requests.require_unallocated(conn, port_id)
    if wanted.get('mac_address'):
        values['mac_address'] = _new_mac(conn, row, wanted)
    if wanted.get('fixed_ips') is not None:
        addresses.assign(conn, row['network_id'], port_id, wanted['fixed_ips'])
    _update_groups(conn, caller, {**row, **values}, wanted)
    if binding := _binding(wanted):
        binding_records.rebind(conn, port_id, **binding)
    return standard.save(conn, PORTS, row, **values)


def _update_groups(
    conn: sa.Connection, caller: callers.Caller, row: database.Row, wanted: bodies.Json
) -> None:
    if wanted.get('security_groups') is not None:
        ids = security_groups.require_known(
            conn, caller, wanted['security_groups'], row['project_id']
        )
        _require_port_security(row, bool(ids))
        _set_groups(conn, row['id'], ids)
    elif wanted.get('port_security_enabled') is False:
        _require_port_security(row, database.exists(conn, tables.port_groups, port_id=row['id']))


def remove(conn: sa.Connection, port_id: str) -> None:
    """Delete a port with its addresses and bindings. Raise Conflict if a trunk has it."""
    if trunk := trunk_of(conn, port_id):
        is_parent = trunk['port_id'] == port_id
        role = 'parent port' if is_parent else 'subport'
        raise faults.Conflict(
            f'Port {port_id} is currently a {role} for trunk {trunk["id"]}.',
            'PortInUseAsTrunkParent' if is_parent else 'PortInUseAsSubPort',
        )
    addresses.release(conn, port_id)
    for table in (tables.bindings, tables.port_groups, tables.plugs):
        database.delete(conn, table, port_id=port_id)
    floating = tables.floating_ips
    conn.execute(
        floating.update()
        .where(floating.c.port_id == port_id)
        .values(port_id=None, fixed_ip_address=None, router_id=None)
    )
    database.delete(conn, PORTS, id=port_id)


def delete(conn: sa.Connection, caller: callers.Caller, port_id: str) -> database.Row:
    """Delete a port and return its row. Raise Conflict for a port of a router."""
    row = get(conn, caller, port_id)
    if row['device_owner'].startswith('network:') and row['device_owner'] != 'network:dhcp':
        raise faults.Conflict(
            f'Port {port_id} cannot be deleted directly via the port API: has device owner '
            f'{row["device_owner"]}.',
            'ServicePortInUse',
        )
    if row['device_owner'].startswith(OF_SERVICES):
        _require_service(caller)
    remove(conn, port_id)
    return row


def _require_service(caller: callers.Caller) -> None:
    """Raise Forbidden for a user without the role admin, unless a service asks for the user."""
    if not caller.is_privileged and not caller.vouched:
        raise faults.Forbidden('rule:delete_port is disallowed by policy')


def trunk_of(conn: sa.Connection, port_id: str) -> database.Row | None:
    """Return the row of the trunk whose parent port or subport this is, or None."""
    trunks, subports = tables.trunks, tables.subports
    of_subport = sa.select(subports.c.trunk_id).where(subports.c.port_id == port_id)
    return database.find(
        conn, trunks, sa.or_(trunks.c.port_id == port_id, trunks.c.id.in_(of_subport))
    )


def trunks_of(conn: sa.Connection, port_ids: list[str]) -> dict[str, bodies.Json]:
    """Return {port id: trunk_details} of the parent ports of trunks among the ports."""
    trunks, subports = tables.trunks, tables.subports
    found: dict[str, bodies.Json] = {}
    query = (
        sa.select(trunks.c.port_id.label('parent_id'), trunks.c.id, subports, PORTS.c.mac_address)
        .outerjoin(subports, subports.c.trunk_id == trunks.c.id)
        .outerjoin(PORTS, PORTS.c.id == subports.c.port_id)
        .order_by(subports.c.port_id)
    )
    for some in database.in_chunks(port_ids):
        for row in database.rows(conn, query.where(trunks.c.port_id.in_(some))):
            details = found.setdefault(row['parent_id'], {'trunk_id': row['id'], 'sub_ports': []})
            if row['port_id']:
                shown = ('segmentation_id', 'segmentation_type', 'port_id', 'mac_address')
                details['sub_ports'].append({name: row[name] for name in shown})
    return found


class Related(typing.NamedTuple):
    """Attributes of ports that are not in their rows, each by port id.

    requests: resource requests; trunks: trunk_details of parent ports
    """

    allocations: dict[str, list[database.Row]]
    groups: dict[str, list[database.Row]]
    bindings: dict[str, list[database.Row]]
    requests: dict[str, bodies.Json]
    trunks: dict[str, bodies.Json]


def related(conn: sa.Connection, found: list[database.Row]) -> Related:
    """Return the attributes of the ports `found` that are not in their rows."""
    ids = [row['id'] for row in found]
    port_bindings = database.grouped(conn, tables.bindings.c.port_id, ids)
    return Related(
        database.grouped(conn, tables.allocations.c.port_id, ids, 'position'),
        database.grouped(conn, tables.port_groups.c.port_id, ids, 'security_group_id'),
        port_bindings,
        resource_requests.of_ports(conn, found, port_bindings),
        trunks_of(conn, ids),
    )


def servers_with(conn: sa.Connection, port_ids: set[str]) -> list[tuple[str, str]]:
    """Return (server uuid, port id) of each of these ports that belongs to a server."""
    of_servers = PORTS.c.device_owner.startswith('compute:')
    found = database.find_all(conn, PORTS, PORTS.c.id.in_(port_ids), of_servers)
    return [(row['device_id'], row['id']) for row in found]
