"""/v2.0/networks."""

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

NETWORKS = tables.networks
TYPES = ('local', 'flat', 'vlan', 'vxlan', 'gre', 'geneve')
TUNNEL_MTU, PHYSICAL_MTU = 1450, 1500

_UPDATABLE = {
    **standard.PROPERTIES,
    'admin_state_up': bodies.BOOLEAN,
    'shared': bodies.BOOLEAN,
    'router:external': bodies.BOOLEAN,
    'is_default': bodies.BOOLEAN,
    'port_security_enabled': bodies.BOOLEAN,
    'mtu': {'type': 'integer', 'minimum': 68, 'maximum': 65535},
    'qos_policy_id': bodies.nullable(bodies.ID),
}
CREATE = bodies.wrapped(
    'network',
    {
        **_UPDATABLE,
        'provider:network_type': {'enum': TYPES},
        'provider:physical_network': bodies.nullable({'type': 'string', 'maxLength': 64}),
        'provider:segmentation_id': bodies.nullable(
            {'type': 'integer', 'minimum': 0, 'maximum': 2**24}
        ),
        'availability_zone_hints': {'type': 'array', 'items': bodies.NAME},
    },
)
UPDATE = bodies.wrapped('network', _UPDATABLE)
# Attributes whose columns have shorter names. Only privileged callers may set them.
PROVIDER = {
    'provider:network_type': 'network_type',
    'provider:physical_network': 'physical_network',
    'provider:segmentation_id': 'segmentation_id',
}
RENAMED = {'router:external': 'external', **PROVIDER}
PRIVILEGED = {'shared', 'is_default', *RENAMED}
SHOWN = ('admin_state_up', 'shared', 'mtu', 'port_security_enabled', 'qos_policy_id')
FILTERS = {
    **{name: name for name in ('is_default', 'admin_state_up', 'mtu')},
    **RENAMED,
    'status': lambda values: sa.literal('ACTIVE').in_(values),
}


def view(row: database.Row, subnet_ids: list[str], caller: callers.Caller) -> bodies.Json:
    """Return one network. Only privileged callers see provider attributes."""
    answer = {
        **standard.view(row, *SHOWN),
        'status': 'ACTIVE',
        'subnets': subnet_ids,
        'router:external': row['external'],
        'availability_zone_hints': [],
        'availability_zones': ['nova'],
        'ipv4_address_scope': None,
        'ipv6_address_scope': None,
        'l2_adjacency': True,
    }
    if row['external']:
        answer['is_default'] = row['is_default']
    if caller.is_privileged:
        answer |= {attribute: row[name] for attribute, name in PROVIDER.items()}
    return answer


def views(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return rows with the ids of their subnets."""
    ids = [row['id'] for row in found]
    subnets = database.grouped(conn, tables.subnets.c.network_id, ids, 'created_at')
    caller = req.context.caller
    found = rbac_access.seen(conn, caller, found)
    return [view(row, [one['id'] for one in subnets.get(row['id'], ())], caller) for row in found]


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may see a network."""
    return sa.or_(
        standard.own(caller, NETWORKS),
        NETWORKS.c.shared,
        NETWORKS.c.external,
        rbac_access.granted(caller, NETWORKS, *rbac_access.ATTRIBUTES),
    )


_get = standard.getter(NETWORKS, visible)


def get(conn: sa.Connection, caller: callers.Caller, network_id: str) -> database.Row:
    """Return one row as the caller sees it (rbac_access.seen). Raise NotFound."""
    (row,) = rbac_access.seen(conn, caller, [_get(conn, caller, network_id)])
    return row


def get_own(conn: sa.Connection, caller: callers.Caller, network_id: str) -> database.Row:
    """Return one row that the caller may change. Raise NotFound, or Forbidden if only visible."""
    row = get(conn, caller, network_id)
    if not caller.sees(row['project_id']):
        raise faults.Forbidden('Only the owner of a network may change it.')
    return row


def _require_allowed(caller: callers.Caller, wanted: bodies.Json) -> None:
    restricted = sorted(PRIVILEGED & {name for name, value in wanted.items() if value})
    if restricted:
        caller.require_admin(f'setting {restricted[0]} of a network')


def _renamed(wanted: bodies.Json) -> database.Row:
    return {RENAMED.get(name, name): value for name, value in wanted.items()}


def _segment(conn: sa.Connection, wanted: bodies.Json) -> tuple[str, str | None, int | None]:
    """Return (type, physical network, segmentation id) of a new network."""
    kind = wanted.get('provider:network_type')
    kind = kind or ('flat' if wanted.get('router:external') else 'vxlan')
    physical = wanted.get('provider:physical_network')
    segment = wanted.get('provider:segmentation_id')
    if kind in ('flat', 'vlan'):
        physical = physical or ('public' if wanted.get('router:external') else 'physnet1')
    if kind not in ('flat', 'local') and segment is None:
        highest = conn.execute(
            sa.select(sa.func.max(NETWORKS.c.segmentation_id)).where(
                NETWORKS.c.network_type == kind
            )
        ).scalar()
        segment = (highest or 0) + 1
    return kind, physical, segment


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a network from a request's values and return its row."""
    _require_allowed(caller, wanted)
    kind, physical, segment = _segment(conn, wanted)
    mtu = TUNNEL_MTU if kind in ('vxlan', 'gre', 'geneve') else PHYSICAL_MTU
    row = standard.insert(
        conn,
        caller,
        NETWORKS,
        {'mtu': mtu, **_renamed(wanted)},
        network_type=kind,
        physical_network=physical,
        segmentation_id=segment,
    )
    default = database.find(conn, tables.qos_defaults, project_id=row['project_id'])
    if default is None or row['qos_policy_id']:
        return row
    return database.save(conn, NETWORKS, row, qos_policy_id=default['qos_policy_id'])


def update(
    conn: sa.Connection, caller: callers.Caller, network_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a network and return its row."""
    row = get_own(conn, caller, network_id)
    _require_allowed(caller, dict.fromkeys(wanted, True))
    values = standard.columns(NETWORKS, _renamed(wanted))
    others = tables.ports.c.project_id != row['project_id']
    unshared = row['shared'] and values.get('shared') is False
    if unshared and database.exists(conn, tables.ports, others, network_id=network_id):
        raise faults.Conflict(
            f'Unable to reconfigure sharing settings for network {network_id}. '
            f'Multiple tenants are using it.',
            'InvalidSharedSetting',
        )
    return standard.save(conn, NETWORKS, row, **values)


def delete(conn: sa.Connection, caller: callers.Caller, network_id: str) -> None:
    """Delete a network with its subnets. Raise Conflict if a port uses it."""
    get_own(conn, caller, network_id)
    if database.exists(conn, tables.ports, network_id=network_id):
        raise faults.Conflict(
            f'Unable to complete operation on network {network_id}. There are one or more '
            f'ports still in use on the network.',
            'NetworkInUse',
        )
    for subnet in database.find_all(conn, tables.subnets, network_id=network_id):
        database.delete(conn, tables.pooled_subnets, subnet_id=subnet['id'])
    database.delete(conn, tables.subnets, network_id=network_id)
    rbac_access.forget(conn, network_id)
    database.delete(conn, NETWORKS, id=network_id)


RESOURCE = resources.Resource(
    name='network',
    style=standard.STYLE,
    revisions=NETWORKS,
    listed=standard.lists(
        NETWORKS,
        visible=visible,
        filters=rbac_access.filters(
            NETWORKS,
            FILTERS,
            {'shared': rbac_access.SHARED, 'router:external': rbac_access.EXTERNAL},
        ),
        sortable=('mtu', 'shared'),
    ),
    get=get,
    views=views,
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
