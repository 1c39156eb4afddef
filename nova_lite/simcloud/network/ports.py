"""/v2.0/ports: schemas, filters, views and requests."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import bindings
from nova_lite.simcloud.network import plugging as plugs
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

PORTS = tables.ports
MAC = {'type': 'string', 'pattern': r'^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}\Z'}
ADDRESS = {'type': 'string', 'maxLength': 64}


def _several(items):
    return bodies.nullable(bodies.array(items, most=64))


_UPDATABLE = {
    **standard.PROPERTIES,
    'admin_state_up': bodies.BOOLEAN,
    'mac_address': MAC,
    'device_id': bodies.STRING,
    'device_owner': bodies.STRING,
    'fixed_ips': _several(
        {
            **bodies.record({'subnet_id': bodies.ID, 'ip_address': ADDRESS}, extra=False),
            'minProperties': 1,
        }
    ),
    'security_groups': _several(bodies.ID),
    'allowed_address_pairs': _several(
        bodies.record({'ip_address': ADDRESS, 'mac_address': MAC}, ['ip_address'])
    ),
    'extra_dhcp_opts': _several(
        bodies.record({'opt_name': bodies.NAME, 'opt_value': bodies.OPTIONAL_STRING}, ['opt_name'])
    ),
    'port_security_enabled': bodies.BOOLEAN,
    'qos_policy_id': bodies.OPTIONAL_ID,
    'binding:host_id': bodies.nullable(bindings.HOST),
    'binding:profile': bodies.nullable(bindings.PROFILE),
    'binding:vnic_type': bodies.nullable(bindings.VNIC_TYPE),
}
CREATE = bodies.wrapped('port', {**_UPDATABLE, 'network_id': bodies.ID}, ['network_id'])
UPDATE = bodies.wrapped('port', _UPDATABLE)
SHOWN = bodies.words(
    'network_id mac_address admin_state_up device_id device_owner allowed_address_pairs'
    ' extra_dhcp_opts port_security_enabled qos_policy_id'
)
# A port on no host, or switched off, carries no traffic.
IS_BOUND = sa.exists().where(
    tables.bindings.c.port_id == PORTS.c.id,
    tables.bindings.c.status == bindings.ACTIVE,
    tables.bindings.c.host != '',
)


def _is_active(row, active):
    is_bound = active['vif_type'] != bindings.UNBOUND
    plugged = is_bound or row['device_owner'].startswith('network:')
    return row['admin_state_up'] and plugged


def statuses(conn, rows, plugging):
    """Return {port id: its status} of rows of ports."""
    ids = [row['id'] for row in rows]
    return _statuses(conn, rows, database.grouped(conn, tables.bindings.c.port_id, ids), plugging)


def _statuses(conn, rows, port_bindings, plugging):
    known, found = plugging.statuses(conn, [row['id'] for row in rows]), {}
    for row in rows:
        active = bindings.active_of(row['id'], port_bindings.get(row['id'], ()))
        status = known.get(row['id'], plugs.ACTIVE)
        found[row['id']] = status if _is_active(row, active) else plugs.DOWN
    return found


def view(row, related, status, caller):
    """Return one port. Only privileged callers see its binding."""
    allocations, groups, port_bindings, requests, trunks = related
    active = bindings.active_of(row['id'], port_bindings.get(row['id'], ()))
    answer = {
        **standard.view(row, *SHOWN),
        'status': status,
        'fixed_ips': [addresses.fixed_ip(one) for one in allocations.get(row['id'], ())],
        'security_groups': [one['security_group_id'] for one in groups.get(row['id'], ())],
        'qos_network_policy_id': None,
        'binding:vnic_type': active['vnic_type'],
    }
    if row['id'] in trunks:
        answer['trunk_details'] = trunks[row['id']]
    if caller.is_privileged:
        answer |= {
            'binding:host_id': active['host'],
            'resource_request': requests.get(row['id']),
            **{f'binding:{name}': active[name] for name in ('profile', 'vif_type', 'vif_details')},
        }
    return answer


def _on_host(hosts):
    return sa.exists().where(
        tables.bindings.c.port_id == PORTS.c.id,
        tables.bindings.c.status == bindings.ACTIVE,
        tables.bindings.c.host.in_(hosts),
    )


def _with_address(texts):
    """Return the condition of fixed_ips=ip_address=… or subnet_id=…; several of a kind are ORed."""
    allocations = tables.allocations
    wanted = {}
    for text in texts:
        name, _, value = text.partition('=')
        wanted.setdefault(name, []).append(value)
    conditions = [allocations.c.port_id == PORTS.c.id]
    for name, values in wanted.items():
        if name == 'ip_address_substr':
            conditions.append(
                sa.or_(
                    *(allocations.c.ip_address.contains(value, autoescape=True) for value in values)
                )
            )
        elif name in ('ip_address', 'subnet_id'):
            conditions.append(allocations.c[name].in_(values))
        else:
            raise standard.invalid(f"'{name[:64]}' is not an attribute of fixed_ips")
    return sa.exists().where(*conditions)


def _in_groups(ids):
    return sa.exists().where(
        tables.port_groups.c.port_id == PORTS.c.id, tables.port_groups.c.security_group_id.in_(ids)
    )


def _in_status(values):
    enabled = sa.and_(
        PORTS.c.admin_state_up, sa.or_(IS_BOUND, PORTS.c.device_owner.startswith('network:'))
    )
    down = sa.or_(sa.not_(enabled), plugs.is_down())
    conditions = {
        plugs.ACTIVE: sa.and_(sa.not_(down), sa.not_(plugs.is_broken())),
        plugs.DOWN: down,
        plugs.ERROR: sa.and_(enabled, plugs.is_broken()),
    }
    chosen = [condition for status, condition in conditions.items() if status in values]
    return sa.or_(sa.false(), *chosen)


SORTABLE = ('device_id', 'device_owner', 'mac_address', 'network_id')
FILTERS = {
    **{name: name for name in (*SORTABLE, 'admin_state_up', 'qos_policy_id')},
    'port_security_enabled': 'port_security_enabled',
    'binding:host_id': _on_host,
    'fixed_ips': _with_address,
    'security_groups': _in_groups,
    'status': _in_status,
}


def resource(events, plugging):
    """Return the resource, which notifies the compute service of requests of others."""

    def notify(db, caller, action, row):
        if action != resources.DELETE:
            plugging.bound(db, row['id'])
        name = {resources.UPDATE: 'network-changed', resources.DELETE: 'network-vif-deleted'}
        if action in name and row['device_owner'].startswith('compute:') and not caller.is_service:
            events.send(name[action], [(row['device_id'], row['id'])])

    def views(conn, req, found):
        related, caller = port_records.related(conn, found), req.context.caller
        _allocations, _groups, port_bindings, _requests, _trunks = related
        known = _statuses(conn, found, port_bindings, plugging)
        return [view(row, related, known[row['id']], caller) for row in found]

    return resources.Resource(
        name='port',
        style=standard.STYLE,
        revisions=PORTS,
        listed=standard.lists(
            PORTS, visible=port_records.visible, filters=FILTERS, sortable=SORTABLE
        ),
        get=port_records.get,
        views=views,
        create=(port_records.create, CREATE),
        update=(port_records.update, UPDATE),
        delete=port_records.delete,
        notify=notify,
    )
