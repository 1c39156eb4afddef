"""/v2.0/ports: schemas, filters, views and requests."""

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import binding_records
from nova_lite.simcloud.network import bindings
from nova_lite.simcloud.network import plugging as plugs
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

PORTS = tables.ports
MAC = {'type': 'string', 'pattern': r'^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}\Z'}
ADDRESS = {'type': 'string', 'maxLength': 64}


def _several(items: bodies.Schema) -> dict[str, list[database.Row]]:
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
    tables.bindings.c.status == binding_records.ACTIVE,
    tables.bindings.c.host != '',
    tables.bindings.c.vif_type != binding_records.FAILED,
)


def _is_active(row: database.Row, active: database.Row) -> bool:
    plugged = binding_records.is_bound(active) or row['device_owner'].startswith('network:')
    return bool(row['admin_state_up'] and plugged)


def statuses(
    conn: sa.Connection, rows: list[database.Row], plugging: plugs.Plugging
) -> dict[str, str]:
    """Return {port id: status} of `rows` of ports."""
    ids = [row['id'] for row in rows]
    return _statuses(conn, rows, database.grouped(conn, tables.bindings.c.port_id, ids), plugging)


def _statuses(
    conn: sa.Connection,
    rows: list[database.Row],
    port_bindings: dict[str, list[database.Row]],
    plugging: plugs.Plugging,
) -> dict[str, str]:
    known, found = plugging.statuses(conn, [row['id'] for row in rows]), {}
    for row in rows:
        active = binding_records.active_of(row['id'], port_bindings.get(row['id'], []))
        status = known.get(row['id'], plugs.ACTIVE)
        found[row['id']] = status if _is_active(row, active) else plugs.DOWN
    return found


def view(
    row: database.Row,
    related: port_records.Related,
    status: str,
    caller: callers.Caller,
) -> bodies.Json:
    """Return one port. Only privileged callers see its binding."""
    active = binding_records.active_of(row['id'], related.bindings.get(row['id'], []))
    answer = {
        **standard.view(row, *SHOWN),
        'status': status,
        'fixed_ips': [addresses.fixed_ip(one) for one in related.allocations.get(row['id'], [])],
        'security_groups': [one['security_group_id'] for one in related.groups.get(row['id'], [])],
        'qos_network_policy_id': None,
        'binding:vnic_type': active['vnic_type'],
    }
    if row['id'] in related.trunks:
        answer['trunk_details'] = related.trunks[row['id']]
    if caller.is_privileged:
        answer |= {
            'binding:host_id': active['host'],
            'resource_request': related.requests.get(row['id']),
            **{f'binding:{name}': active[name] for name in ('profile', 'vif_type', 'vif_details')},
        }
    return answer


def _on_host(hosts: list[str]) -> shapes.Condition:
    return sa.exists().where(
        tables.bindings.c.port_id == PORTS.c.id,
        tables.bindings.c.status == binding_records.ACTIVE,
        tables.bindings.c.host.in_(hosts),
    )


def _with_address(texts: list[str]) -> shapes.Condition:
    """Return the condition of fixed_ips=ip_address=… or subnet_id=…. Equal keys are ORed."""
    allocations = tables.allocations
    wanted: dict[str, list[str]] = {}
    for text in texts:
        name, _, value = text.partition('=')
        wanted.setdefault(name, []).append(value)
    conditions: list[shapes.Condition] = [allocations.c.port_id == PORTS.c.id]
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


def _in_groups(ids: list[str]) -> shapes.Condition:
    return sa.exists().where(
        tables.port_groups.c.port_id == PORTS.c.id, tables.port_groups.c.security_group_id.in_(ids)
    )


def _in_status(values: list[str]) -> shapes.Condition:
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
FILTERS: standard.Filters = {
    **{name: name for name in (*SORTABLE, 'admin_state_up', 'qos_policy_id')},
    'port_security_enabled': 'port_security_enabled',
    'binding:host_id': _on_host,
    'fixed_ips': _with_address,
    'security_groups': _in_groups,
    'status': _in_status,
}


def resource(events: external_events.Sender, plugging: plugs.Plugging) -> resources.Resource:
    """Return the resource. It notifies the compute service of changes by users."""

    def notify(
        db: database.Database, caller: callers.Caller, action: str, row: database.Row
    ) -> None:
        if action != resources.DELETE:
            plugging.bound(db, row['id'])
        name = {resources.UPDATE: 'network-changed', resources.DELETE: 'network-vif-deleted'}
        if action in name and row['device_owner'].startswith('compute:') and not caller.is_service:
            events.send(name[action], [(row['device_id'], row['id'])])

    def views(
        conn: sa.Connection, req: web.Request, found: list[database.Row]
    ) -> list[bodies.Json]:
        related, caller = port_records.related(conn, found), req.context.caller
        known = _statuses(conn, found, related.bindings, plugging)
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
