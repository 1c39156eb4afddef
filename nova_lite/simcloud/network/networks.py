"""/v2.0/networks."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import quotas
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
PRIVILEGED = frozenset(
    (
        'shared',
        'router:external',
        'is_default',
        'provider:network_type',
        'provider:physical_network',
        'provider:segmentation_id',
    )
)
RENAMED = {'router:external': 'external'}
FILTERS = {
    'shared': 'shared',
    'router:external': 'external',
    'is_default': 'is_default',
    'admin_state_up': 'admin_state_up',
    'mtu': 'mtu',
    'provider:network_type': 'network_type',
    'provider:physical_network': 'physical_network',
    'provider:segmentation_id': 'segmentation_id',
    'status': lambda values: sa.literal('ACTIVE').in_(values),
}


def view(row, subnet_ids, caller):
    """One network; provider attributes are for the privileged."""
    answer = {
        **standard.view(row),
        'status': 'ACTIVE',
        'subnets': subnet_ids,
        'admin_state_up': row['admin_state_up'],
        'shared': row['shared'],
        'router:external': row['external'],
        'mtu': row['mtu'],
        'port_security_enabled': row['port_security_enabled'],
        'qos_policy_id': row['qos_policy_id'],
        'availability_zone_hints': [],
        'availability_zones': ['nova'],
        'ipv4_address_scope': None,
        'ipv6_address_scope': None,
        'l2_adjacency': True,
    }
    if row['external']:
        answer['is_default'] = row['is_default']
    if caller.is_privileged:
        answer |= {
            'provider:network_type': row['network_type'],
            'provider:physical_network': row['physical_network'],
            'provider:segmentation_id': row['segmentation_id'],
        }
    return answer


def views(conn, req, found):
    """Rows with the ids of their subnets."""
    subnets = standard.grouped(
        conn,
        tables.subnets,
        tables.subnets.c.network_id,
        [row['id'] for row in found],
        tables.subnets.c.created_at,
    )
    caller = req.context.caller
    return [view(row, [one['id'] for one in subnets.get(row['id'], ())], caller) for row in found]


def visible(caller):
    """The condition that a network is the caller's to see."""
    if caller.is_privileged:
        return sa.true()
    return sa.or_(
        NETWORKS.c.project_id == caller.project_id, NETWORKS.c.shared, NETWORKS.c.external
    )


def get(conn, caller, network_id):
    """One visible row; NotFound otherwise."""
    row = database.one(
        conn, sa.select(NETWORKS).where(NETWORKS.c.id == network_id, visible(caller))
    )
    if row is None:
        raise standard.not_found(NETWORKS, network_id)
    return row


def get_own(conn, caller, network_id):
    """One row that the caller may change; Forbidden when it is only visible."""
    row = get(conn, caller, network_id)
    if not caller.sees(row['project_id']):
        raise faults.Forbidden('Only the owner of a network may change it.')
    caller.require_writer()
    return row


def _require_allowed(caller, wanted):
    restricted = sorted(PRIVILEGED & {name for name, value in wanted.items() if value})
    if restricted:
        caller.require_admin(f'setting {restricted[0]} of a network')


def _segment(conn, wanted):
    """(type, physical network, segmentation id) of a new network."""
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


def create(conn, caller, wanted):
    """Insert a network from a request's values and return its row."""
    caller.require_writer()
    _require_allowed(caller, wanted)
    row = standard.new(caller, wanted)
    quotas.require(conn, 'network', row['project_id'])
    kind, physical, segment = _segment(conn, wanted)
    tunnel = kind in ('vxlan', 'gre', 'geneve')
    row |= {
        'admin_state_up': wanted.get('admin_state_up', True),
        'shared': wanted.get('shared', False),
        'external': wanted.get('router:external', False),
        'is_default': wanted.get('is_default', False),
        'port_security_enabled': wanted.get('port_security_enabled', True),
        'mtu': wanted.get('mtu', TUNNEL_MTU if tunnel else PHYSICAL_MTU),
        'network_type': kind,
        'physical_network': physical,
        'segmentation_id': segment,
        'qos_policy_id': wanted.get('qos_policy_id'),
    }
    conn.execute(NETWORKS.insert().values(**row))
    return row


def update(conn, caller, network_id, wanted):
    """Change a network and return its row."""
    row = get_own(conn, caller, network_id)
    _require_allowed(caller, dict.fromkeys(wanted, True))
    values = {
        RENAMED.get(name, name): value
        for name, value in wanted.items()
        if name not in ('project_id', 'tenant_id')
    }
    if row['shared'] and values.get('shared') is False:
        others = conn.execute(
            sa.select(tables.ports.c.id)
            .where(
                tables.ports.c.network_id == network_id,
                tables.ports.c.project_id != row['project_id'],
            )
            .limit(1)
        ).first()
        if others:
            raise faults.Conflict(
                f'Unable to reconfigure sharing settings for network {network_id}. '
                f'Multiple tenants are using it.',
                'InvalidSharedSetting',
            )
    return standard.save(conn, NETWORKS, row, **values)


def delete(conn, caller, network_id):
    """Remove a network that no port uses, with its subnets."""
    get_own(conn, caller, network_id)
    if conn.execute(
        sa.select(tables.ports.c.id).where(tables.ports.c.network_id == network_id).limit(1)
    ).first():
        raise faults.Conflict(
            f'Unable to complete operation on network {network_id}. There are one or more '
            f'ports still in use on the network.',
            'NetworkInUse',
        )
    conn.execute(tables.subnets.delete().where(tables.subnets.c.network_id == network_id))
    conn.execute(NETWORKS.delete().where(NETWORKS.c.id == network_id))


RESOURCE = resources.Resource(
    name='network',
    plural='networks',
    style=standard.STYLE,
    revisions=NETWORKS,
    listed=standard.lists(
        NETWORKS, visible=visible, filters=FILTERS, sortable=frozenset(('mtu', 'shared'))
    ),
    get=get,
    views=views,
    create=create,
    create_body=CREATE,
    update=update,
    update_body=UPDATE,
    delete=delete,
)
