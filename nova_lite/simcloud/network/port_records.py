"""Creating, changing and removing ports."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import bindings
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import qos
from nova_lite.simcloud.network import quotas
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
PLAIN = (
    'name',
    'description',
    'admin_state_up',
    'device_id',
    'device_owner',
    'port_security_enabled',
    'allowed_address_pairs',
    'extra_dhcp_opts',
    'qos_policy_id',
)


def get(conn, caller, port_id):
    """One row that is the caller's, or on a network of the caller's."""
    row = standard.find(conn, PORTS, port_id)
    if row is not None and not caller.sees(row['project_id']):
        network = standard.find(conn, tables.networks, row['network_id'])
        row = row if network['project_id'] == caller.project_id else None
    if row is None:
        raise standard.not_found(PORTS, port_id)
    return row


def visible(caller):
    """The condition that a port is the caller's to see."""
    if caller.is_privileged:
        return sa.true()
    own_networks = sa.select(tables.networks.c.id).where(
        tables.networks.c.project_id == caller.project_id
    )
    return sa.or_(PORTS.c.project_id == caller.project_id, PORTS.c.network_id.in_(own_networks))


def _require_allowed(caller, network, wanted):
    """Hosts are the services' to set; addresses on a network are its owner's."""
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


def _mac_in_use(conn, network_id, mac):
    return (
        conn.execute(
            sa.select(PORTS.c.id).where(
                PORTS.c.network_id == network_id, PORTS.c.mac_address == mac
            )
        ).first()
        is not None
    )


def _mac(conn, network_id, wanted):
    """The requested MAC address if it is free, or a new one."""
    mac = wanted.get('mac_address')
    if mac:
        if _mac_in_use(conn, network_id, mac.lower()):
            raise faults.Conflict(
                f'Unable to complete operation for network {network_id}. The '
                f'mac address {mac} is in use.',
                'MacAddressInUse',
            )
        return mac.lower()
    while True:
        tail = runtime.random().randbytes(3)
        mac = ':'.join((MAC_PREFIX, *(f'{byte:02x}' for byte in tail)))
        if not _mac_in_use(conn, network_id, mac):
            return mac


def _set_groups(conn, port_id, ids):
    table = tables.port_groups
    conn.execute(table.delete().where(table.c.port_id == port_id))
    if ids:
        conn.execute(
            table.insert(), [{'port_id': port_id, 'security_group_id': one} for one in ids]
        )


def _new_groups(conn, caller, row, wanted):
    """The groups of a new port: those asked for, else the project's default one."""
    ids = wanted.get('security_groups')
    if ids is None:
        service_port = row['device_owner'].startswith('network:')
        if service_port or not row['port_security_enabled']:
            return []
        return [security_groups.ensure_default(conn, row['project_id'])]
    _require_port_security(row, ids)
    return security_groups.require_known(conn, caller, ids, row['project_id'])


def _require_port_security(row, ids):
    if ids and not row['port_security_enabled']:
        raise faults.Conflict(
            'Port has security group associated. Cannot disable port security '
            'until security group is removed.',
            'PortSecurityPortHasSecurityGroup',
        )


def create(conn, caller, wanted):
    """Insert a port from a request's values and return its row."""
    caller.require_writer()
    network = networks.get(conn, caller, wanted['network_id'])
    if not network['shared'] and not caller.sees(network['project_id']):
        raise faults.Forbidden(
            f'Tenant {caller.project_id} not allowed to create port on this network',
            'TenantNetworkForbidden',
        )
    _require_allowed(caller, network, wanted)
    row = standard.new(caller, wanted)
    quotas.require(conn, 'port', row['project_id'])
    qos.require_known(conn, caller, wanted.get('qos_policy_id'))
    row |= {
        'network_id': network['id'],
        'mac_address': _mac(conn, network['id'], wanted),
        'admin_state_up': wanted.get('admin_state_up', True),
        'device_id': wanted.get('device_id', ''),
        'device_owner': wanted.get('device_owner', ''),
        'port_security_enabled': wanted.get(
            'port_security_enabled', network['port_security_enabled']
        ),
        'allowed_address_pairs': wanted.get('allowed_address_pairs') or [],
        'extra_dhcp_opts': wanted.get('extra_dhcp_opts') or [],
        'qos_policy_id': wanted.get('qos_policy_id') or network['qos_policy_id'],
    }
    groups = _new_groups(conn, caller, row, wanted)
    conn.execute(PORTS.insert().values(**row))
    addresses.assign(conn, network['id'], row['id'], wanted.get('fixed_ips'))
    _set_groups(conn, row['id'], groups)
    conn.execute(
        tables.bindings.insert().values(
            **bindings.new(
                row['id'],
                wanted.get('binding:host_id') or '',
                vnic_type=wanted.get('binding:vnic_type') or 'normal',
                profile=wanted.get('binding:profile'),
            )
        )
    )
    return row


def _rebind(conn, row, wanted):
    given = {BINDING[name]: value for name, value in wanted.items() if name in BINDING}
    if not given:
        return
    # Null means "none", which is '' for a host and {} for a profile.
    empty = {'host': '', 'profile': {}, 'vnic_type': 'normal'}
    bindings.rebind(
        conn,
        row['id'],
        **{name: empty[name] if value is None else value for name, value in given.items()},
    )


def _new_mac(conn, row, wanted):
    mac = wanted['mac_address'].lower()
    if mac == row['mac_address']:
        return mac
    active = bindings.active_of(bindings.of_port(conn, row['id']))
    if active and active['host'] and row['device_owner'].startswith('compute:'):
        raise faults.Conflict(
            f'Unable to complete operation on port {row["id"]}, port is '
            f'already bound, port type: {active["vif_type"]}.',
            'PortBound',
        )
    return _mac(conn, row['network_id'], wanted)


def update(conn, caller, port_id, wanted):
    """Change a port and return its row."""
    caller.require_writer()
    row = get(conn, caller, port_id)
    network = standard.find(conn, tables.networks, row['network_id'])
    _require_allowed(caller, network, wanted)
    values = standard.changes(wanted, PLAIN)
    for name in ('allowed_address_pairs', 'extra_dhcp_opts'):
        if name in values:
            values[name] = values[name] or []
    if 'qos_policy_id' in values:
        qos.require_known(conn, caller, values['qos_policy_id'])
    if wanted.get('mac_address'):
        values['mac_address'] = _new_mac(conn, row, wanted)
    if wanted.get('fixed_ips') is not None:
        addresses.assign(conn, row['network_id'], port_id, wanted['fixed_ips'])
    _update_groups(conn, caller, {**row, **values}, wanted)
    _rebind(conn, row, wanted)
    return standard.save(conn, PORTS, row, **values)


def _update_groups(conn, caller, row, wanted):
    if wanted.get('security_groups') is not None:
        ids = security_groups.require_known(
            conn, caller, wanted['security_groups'], row['project_id']
        )
        _require_port_security(row, ids)
        _set_groups(conn, row['id'], ids)
    elif wanted.get('port_security_enabled') is False:
        _require_port_security(
            row,
            conn.execute(
                sa.select(tables.port_groups.c.security_group_id).where(
                    tables.port_groups.c.port_id == row['id']
                )
            ).all(),
        )


def remove(conn, port_id):
    """Delete a port with its addresses and bindings, whoever uses it."""
    addresses.release(conn, port_id)
    for table in (tables.bindings, tables.port_groups):
        conn.execute(table.delete().where(table.c.port_id == port_id))
    floating = tables.floating_ips
    conn.execute(
        floating.update()
        .where(floating.c.port_id == port_id)
        .values(port_id=None, fixed_ip_address=None, router_id=None)
    )
    conn.execute(PORTS.delete().where(PORTS.c.id == port_id))


def delete(conn, caller, port_id):
    """Remove a port on request, and return its row; those of routers go with their routers."""
    caller.require_writer()
    row = get(conn, caller, port_id)
    if row['device_owner'].startswith('network:') and row['device_owner'] != 'network:dhcp':
        raise faults.Conflict(
            f'Port {port_id} cannot be deleted directly via the port API: has device owner '
            f'{row["device_owner"]}.',
            'ServicePortInUse',
        )
    remove(conn, port_id)
    return row


def related(conn, found):
    """What belongs to the rows: (addresses, groups, bindings, requests) by port id."""
    ids = [row['id'] for row in found]
    allocations, groups = tables.allocations, tables.port_groups
    return (
        standard.grouped(conn, allocations, allocations.c.port_id, ids, allocations.c.position),
        standard.grouped(conn, groups, groups.c.port_id, ids, groups.c.security_group_id),
        standard.grouped(conn, tables.bindings, tables.bindings.c.port_id, ids),
        qos.resource_requests(conn, found),
    )


def servers_with(conn, port_ids):
    """[(server uuid, port id)] of those ports that belong to servers."""
    found = database.rows(
        conn,
        sa.select(PORTS).where(
            PORTS.c.id.in_(port_ids), PORTS.c.device_owner.startswith('compute:')
        ),
    )
    return [(row['device_id'], row['id']) for row in found]


def first_address(conn, port_id):
    """The port's first IPv4 address, or None."""
    table = tables.allocations
    found = database.rows(
        conn, sa.select(table).where(table.c.port_id == port_id).order_by(table.c.position)
    )
    return next((row['ip_address'] for row in found if ':' not in row['ip_address']), None)
