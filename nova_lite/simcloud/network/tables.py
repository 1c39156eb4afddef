"""Tables of the network service, with the API's defaults.

`_standard` returns the columns that every Neutron resource has.
"""

import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import database

Address = sa.String(64)


def _standard() -> tuple[sa.Column[typing.Any], ...]:
    return (
        sa.Column('id', database.Id, primary_key=True, default=runtime.new_uuid),
        sa.Column('project_id', database.Id, nullable=False, index=True),
        sa.Column('name', database.Name, nullable=False, default=''),
        sa.Column('description', database.Text, nullable=False, default=''),
        sa.Column('tags', sa.JSON, nullable=False, default=list),
        sa.Column('revision_number', sa.Integer, nullable=False, default=0),
        sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
        sa.Column('updated_at', database.Time, nullable=False),
    )


networks = sa.Table(
    'network_networks',
    database.METADATA,
    *_standard(),
    sa.Column('admin_state_up', sa.Boolean, nullable=False, default=True),
    sa.Column('shared', sa.Boolean, nullable=False, default=False),
    sa.Column('external', sa.Boolean, nullable=False, default=False),
    sa.Column('is_default', sa.Boolean, nullable=False, default=False),
    sa.Column('port_security_enabled', sa.Boolean, nullable=False, default=True),
    sa.Column('mtu', sa.Integer, nullable=False),
    sa.Column('network_type', sa.String(32), nullable=False),
    sa.Column('physical_network', sa.String(64)),
    sa.Column('segmentation_id', sa.Integer),
    sa.Column('qos_policy_id', database.Id),
)

subnets = sa.Table(
    'network_subnets',
    database.METADATA,
    *_standard(),
    sa.Column('network_id', database.Id, nullable=False, index=True),
    sa.Column('ip_version', sa.Integer, nullable=False),
    sa.Column('cidr', Address, nullable=False),
    sa.Column('gateway_ip', Address),
    sa.Column('enable_dhcp', sa.Boolean, nullable=False, default=True),
    sa.Column('dns_nameservers', sa.JSON, nullable=False, default=list),
    sa.Column('host_routes', sa.JSON, nullable=False, default=list),
    sa.Column('allocation_pools', sa.JSON, nullable=False),
    sa.Column('ipv6_address_mode', sa.String(32)),
    sa.Column('ipv6_ra_mode', sa.String(32)),
    # Where the search for a free address starts; moves on so that a freed
    # address is not given away at once.
    sa.Column('next_address', Address, nullable=False),
)

address_scopes = sa.Table(
    'network_address_scopes',
    database.METADATA,
    *_standard(),
    sa.Column('ip_version', sa.Integer, nullable=False),
    sa.Column('shared', sa.Boolean, nullable=False, default=False),
)

subnet_pools = sa.Table(
    'network_subnet_pools',
    database.METADATA,
    *_standard(),
    sa.Column('ip_version', sa.Integer, nullable=False),
    sa.Column('prefixes', sa.JSON, nullable=False),
    sa.Column('min_prefixlen', sa.Integer, nullable=False),
    sa.Column('default_prefixlen', sa.Integer, nullable=False),
    sa.Column('max_prefixlen', sa.Integer, nullable=False),
    sa.Column('default_quota', sa.Integer),
    sa.Column('address_scope_id', database.Id, index=True),
    sa.Column('shared', sa.Boolean, nullable=False, default=False),
    sa.Column('is_default', sa.Boolean, nullable=False, default=False),
)

# Not a column of the subnets: databases of earlier versions would lack it.
pooled_subnets = sa.Table(
    'network_pooled_subnets',
    database.METADATA,
    sa.Column('subnet_id', database.Id, primary_key=True),
    sa.Column('subnet_pool_id', database.Id, nullable=False, index=True),
)

ports = sa.Table(
    'network_ports',
    database.METADATA,
    *_standard(),
    sa.Column('network_id', database.Id, nullable=False),
    sa.Column('mac_address', sa.String(32), nullable=False),
    sa.Column('admin_state_up', sa.Boolean, nullable=False, default=True),
    sa.Column('device_id', database.Name, nullable=False, default='', index=True),
    sa.Column('device_owner', database.Name, nullable=False, default=''),
    sa.Column('port_security_enabled', sa.Boolean, nullable=False, default=True),
    sa.Column('allowed_address_pairs', sa.JSON, nullable=False, default=list),
    sa.Column('extra_dhcp_opts', sa.JSON, nullable=False, default=list),
    sa.Column('qos_policy_id', database.Id),
    sa.UniqueConstraint('network_id', 'mac_address'),
)

allocations = sa.Table(
    'network_ip_allocations',
    database.METADATA,
    sa.Column('subnet_id', database.Id, primary_key=True),
    sa.Column('ip_address', Address, primary_key=True),
    sa.Column('port_id', database.Id, nullable=False, index=True),
    sa.Column('position', sa.Integer, nullable=False),
)

bindings = sa.Table(
    'network_port_bindings',
    database.METADATA,
    sa.Column('port_id', database.Id, primary_key=True),
    sa.Column('host', database.Name, primary_key=True),
    sa.Column('status', sa.String(16), nullable=False),
    sa.Column('vnic_type', sa.String(64), nullable=False),
    sa.Column('vif_type', sa.String(64), nullable=False),
    sa.Column('vif_details', sa.JSON, nullable=False),
    sa.Column('profile', sa.JSON, nullable=False, default=dict),
    sa.Index('network_port_bindings_by_host', 'host'),
)

# The fate of ports that a host was asked to plug, drawn from the rules of a profile.
plugs = sa.Table(
    'network_port_plugs',
    database.METADATA,
    sa.Column('port_id', database.Id, primary_key=True),
    sa.Column('host', database.Name, nullable=False),
    sa.Column('outcome', sa.String(16), nullable=False),
    sa.Column('ready_at', database.Time, nullable=False),
)

port_groups = sa.Table(
    'network_port_security_groups',
    database.METADATA,
    sa.Column('port_id', database.Id, primary_key=True),
    sa.Column('security_group_id', database.Id, primary_key=True),
    sa.Index('network_ports_by_group', 'security_group_id'),
)

groups = sa.Table(
    'network_security_groups',
    database.METADATA,
    *_standard(),
    sa.Column('stateful', sa.Boolean, nullable=False, default=True),
)

default_groups = sa.Table(
    'network_default_security_groups',
    database.METADATA,
    sa.Column('project_id', database.Id, primary_key=True),
    sa.Column('security_group_id', database.Id, nullable=False),
)

rules = sa.Table(
    'network_security_group_rules',
    database.METADATA,
    *_standard(),
    sa.Column('security_group_id', database.Id, nullable=False, index=True),
    sa.Column('direction', sa.String(16), nullable=False),
    sa.Column('ethertype', sa.String(8), nullable=False),
    sa.Column('protocol', sa.String(32)),
    sa.Column('port_range_min', sa.Integer),
    sa.Column('port_range_max', sa.Integer),
    sa.Column('remote_ip_prefix', Address),
    sa.Column('remote_group_id', database.Id),
)

routers = sa.Table(
    'network_routers',
    database.METADATA,
    *_standard(),
    sa.Column('admin_state_up', sa.Boolean, nullable=False, default=True),
    sa.Column('gateway_port_id', database.Id),
    sa.Column('gateway_network_id', database.Id),
    sa.Column('enable_snat', sa.Boolean, nullable=False, default=True),
    sa.Column('routes', sa.JSON, nullable=False, default=list),
)

floating_ips = sa.Table(
    'network_floating_ips',
    database.METADATA,
    *_standard(),
    sa.Column('floating_network_id', database.Id, nullable=False),
    sa.Column('floating_ip_address', Address, nullable=False),
    sa.Column('floating_port_id', database.Id, nullable=False),
    sa.Column('port_id', database.Id, index=True),
    sa.Column('fixed_ip_address', Address),
    sa.Column('router_id', database.Id),
)

rbac_policies = sa.Table(
    'network_rbac_policies',
    database.METADATA,
    *_standard(),
    sa.Column('object_type', sa.String(32), nullable=False),
    sa.Column('object_id', database.Id, nullable=False, index=True),
    sa.Column('action', sa.String(32), nullable=False),
    sa.Column('target_project', database.Id, nullable=False, index=True),
)

trunks = sa.Table(
    'network_trunks',
    database.METADATA,
    *_standard(),
    sa.Column('port_id', database.Id, nullable=False, unique=True),
    sa.Column('admin_state_up', sa.Boolean, nullable=False, default=True),
)

subports = sa.Table(
    'network_subports',
    database.METADATA,
    sa.Column('port_id', database.Id, primary_key=True),
    sa.Column('trunk_id', database.Id, nullable=False, index=True),
    sa.Column('segmentation_type', sa.String(16), nullable=False),
    sa.Column('segmentation_id', sa.Integer, nullable=False),
)

quotas = sa.Table(
    'network_quotas',
    database.METADATA,
    sa.Column('project_id', database.Id, primary_key=True),
    sa.Column('resource', sa.String(64), primary_key=True),
    sa.Column('limit', sa.Integer, nullable=False),
)

qos_policies = sa.Table(
    'network_qos_policies',
    database.METADATA,
    *_standard(),
    sa.Column('shared', sa.Boolean, nullable=False, default=False),
)


# Not a column of the policies: databases of earlier versions would lack it.
qos_defaults = sa.Table(
    'network_qos_defaults',
    database.METADATA,
    sa.Column('project_id', database.Id, primary_key=True),
    sa.Column('qos_policy_id', database.Id, nullable=False, index=True),
)

gateway_policies = sa.Table(
    'network_gateway_policies',
    database.METADATA,
    sa.Column('router_id', database.Id, primary_key=True),
    sa.Column('qos_policy_id', database.Id, nullable=False, index=True),
)


def _qos_rules(kind: str, amount: str, *more: sa.Column[typing.Any]) -> sa.Table:
    return sa.Table(
        f'network_qos_{kind}_rules',
        database.METADATA,
        sa.Column('id', database.Id, primary_key=True, default=runtime.new_uuid),
        sa.Column('qos_policy_id', database.Id, nullable=False, index=True),
        sa.Column(amount, sa.Integer, nullable=False),
        *more,
    )


def _direction() -> sa.Column[typing.Any]:
    return sa.Column('direction', sa.String(16), nullable=False, default='egress')


def _qos_limits(kind: str, amount: str, burst: str) -> sa.Table:
    more = sa.Column(burst, sa.Integer, nullable=False, default=0)
    return _qos_rules(kind, amount, more, _direction())


bandwidth_rules = _qos_rules('minimum_bandwidth', 'min_kbps', _direction())
packet_rate_rules = _qos_rules('minimum_packet_rate', 'min_kpps', _direction())
bandwidth_limits = _qos_limits('bandwidth_limit', 'max_kbps', 'max_burst_kbps')
packet_rate_limits = _qos_limits('packet_rate_limit', 'max_kpps', 'max_burst_kpps')
dscp_marks = _qos_rules('dscp_marking', 'dscp_mark')

# (name of a resource in messages, prefix of its types of faults) by table.
TITLES = {
    networks.name: ('Network', 'Network'),
    subnets.name: ('Subnet', 'Subnet'),
    ports.name: ('Port', 'Port'),
    groups.name: ('Security group', 'SecurityGroup'),
    rules.name: ('Security group rule', 'SecurityGroupRule'),
    routers.name: ('Router', 'Router'),
    floating_ips.name: ('Floating IP', 'FloatingIP'),
    qos_policies.name: ('QoS policy', 'QosPolicy'),
    address_scopes.name: ('Address scope', 'AddressScope'),
    subnet_pools.name: ('Subnet pool', 'SubnetPool'),
    trunks.name: ('Trunk', 'Trunk'),
    rbac_policies.name: ('RBAC policy', 'RbacPolicy'),
}
