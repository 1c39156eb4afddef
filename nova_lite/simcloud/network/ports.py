"""/v2.0/ports: schemas, filters, views and requests."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import bindings
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

PORTS = tables.ports
MAC = {'type': 'string', 'pattern': '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$'}
ADDRESS = {'type': 'string', 'maxLength': 64}
_UPDATABLE = {
    **standard.PROPERTIES,
    'admin_state_up': bodies.BOOLEAN,
    'mac_address': MAC,
    'device_id': bodies.STRING,
    'device_owner': bodies.STRING,
    'fixed_ips': bodies.nullable(
        {
            'type': 'array',
            'maxItems': 64,
            'items': {
                'type': 'object',
                'properties': {'subnet_id': bodies.ID, 'ip_address': ADDRESS},
                'additionalProperties': False,
                'minProperties': 1,
            },
        }
    ),
    'security_groups': bodies.nullable({'type': 'array', 'maxItems': 64, 'items': bodies.ID}),
    'allowed_address_pairs': bodies.nullable(
        {
            'type': 'array',
            'maxItems': 64,
            'items': {
                'type': 'object',
                'required': ['ip_address'],
                'properties': {'ip_address': ADDRESS, 'mac_address': MAC},
            },
        }
    ),
    'extra_dhcp_opts': bodies.nullable(
        {
            'type': 'array',
            'maxItems': 64,
            'items': {
                'type': 'object',
                'required': ['opt_name'],
                'properties': {
                    'opt_name': bodies.NAME,
                    'opt_value': bodies.nullable(bodies.STRING),
                },
            },
        }
    ),
    'port_security_enabled': bodies.BOOLEAN,
    'qos_policy_id': bodies.nullable(bodies.ID),
    'binding:host_id': bodies.nullable(bindings.HOST),
    'binding:profile': bodies.nullable(bindings.PROFILE),
    'binding:vnic_type': bodies.nullable(bindings.VNIC_TYPE),
}
CREATE = bodies.wrapped('port', {**_UPDATABLE, 'network_id': bodies.ID}, ['network_id'])
UPDATE = bodies.wrapped('port', _UPDATABLE)
# A port on no host, or switched off, carries no traffic.
CARRIES = sa.exists().where(
    tables.bindings.c.port_id == PORTS.c.id,
    tables.bindings.c.status == bindings.ACTIVE,
    tables.bindings.c.host != '',
)


def _is_active(row, active):
    plugged = bool(active and active['host']) or row['device_owner'].startswith('network:')
    return row['admin_state_up'] and plugged


def view(row, related, caller):
    """One port; where it is bound is for the privileged."""
    allocations, groups, port_bindings, requests = related
    active = bindings.active_of(port_bindings.get(row['id'], ()))
    answer = {
        **standard.view(row),
        'network_id': row['network_id'],
        'mac_address': row['mac_address'],
        'admin_state_up': row['admin_state_up'],
        'status': 'ACTIVE' if _is_active(row, active) else 'DOWN',
        'device_id': row['device_id'],
        'device_owner': row['device_owner'],
        'fixed_ips': [
            {'subnet_id': one['subnet_id'], 'ip_address': one['ip_address']}
            for one in allocations.get(row['id'], ())
        ],
        'security_groups': [one['security_group_id'] for one in groups.get(row['id'], ())],
        'allowed_address_pairs': row['allowed_address_pairs'],
        'extra_dhcp_opts': row['extra_dhcp_opts'],
        'port_security_enabled': row['port_security_enabled'],
        'qos_policy_id': row['qos_policy_id'],
        'qos_network_policy_id': None,
        'binding:vnic_type': active['vnic_type'] if active else 'normal',
    }
    if caller.is_privileged:
        answer |= {
            'binding:host_id': active['host'] if active else '',
            'binding:profile': active['profile'] if active else {},
            'binding:vif_type': active['vif_type'] if active else bindings.UNBOUND,
            'binding:vif_details': active['vif_details'] if active else {},
            'resource_request': requests.get(row['id']),
        }
    return answer


def views(conn, req, found):
    """Rows with all that belongs to them."""
    related = port_records.related(conn, found)
    return [view(row, related, req.context.caller) for row in found]


def _on_host(hosts):
    return sa.exists().where(
        tables.bindings.c.port_id == PORTS.c.id,
        tables.bindings.c.status == bindings.ACTIVE,
        tables.bindings.c.host.in_(hosts),
    )


def _with_address(texts):
    """fixed_ips=ip_address=… or subnet_id=…, any of those named of each kind."""
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
    up = sa.and_(
        PORTS.c.admin_state_up, sa.or_(CARRIES, PORTS.c.device_owner.startswith('network:'))
    )
    chosen = [
        condition
        for status, condition in (('ACTIVE', up), ('DOWN', sa.not_(up)))
        if status in values
    ]
    return sa.or_(sa.false(), *chosen)


FILTERS = {
    'network_id': 'network_id',
    'device_id': 'device_id',
    'device_owner': 'device_owner',
    'mac_address': 'mac_address',
    'admin_state_up': 'admin_state_up',
    'qos_policy_id': 'qos_policy_id',
    'port_security_enabled': 'port_security_enabled',
    'binding:host_id': _on_host,
    'fixed_ips': _with_address,
    'security_groups': _in_groups,
    'status': _in_status,
}


def resource(events):
    """The resource, which lets the compute service know, unless a service did it itself."""

    def notify(_db, caller, action, row):
        name = {resources.UPDATE: 'network-changed', resources.DELETE: 'network-vif-deleted'}
        if action in name and row['device_owner'].startswith('compute:') and not caller.is_service:
            events.send(name[action], [(row['device_id'], row['id'])])

    return resources.Resource(
        name='port',
        plural='ports',
        style=standard.STYLE,
        revisions=PORTS,
        listed=standard.lists(
            PORTS,
            visible=port_records.visible,
            filters=FILTERS,
            sortable=frozenset(('device_id', 'device_owner', 'mac_address', 'network_id')),
        ),
        get=port_records.get,
        views=views,
        create=port_records.create,
        create_body=CREATE,
        update=port_records.update,
        update_body=UPDATE,
        delete=port_records.delete,
        notify=notify,
    )
