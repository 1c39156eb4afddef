"""Routes below /network."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.network import address_scopes
from nova_lite.simcloud.network import auto_topology
from nova_lite.simcloud.network import bindings
from nova_lite.simcloud.network import floating_ips
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import plugging
from nova_lite.simcloud.network import ports
from nova_lite.simcloud.network import qos
from nova_lite.simcloud.network import qos_rules
from nova_lite.simcloud.network import quotas
from nova_lite.simcloud.network import rbac
from nova_lite.simcloud.network import router_interfaces
from nova_lite.simcloud.network import routers
from nova_lite.simcloud.network import security_groups
from nova_lite.simcloud.network import security_rules
from nova_lite.simcloud.network import subnet_pools
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.network import tags
from nova_lite.simcloud.network import trunks

PREFIX = '/network'
# {alias: name} of extensions. Clients choose their requests by these aliases.
EXTENSIONS = {
    'address-scope': 'Address scope',
    'allowed-address-pairs': 'Allowed Address Pairs',
    'auto-allocated-topology': 'Auto Allocated Topology Services',
    'availability_zone': 'Availability Zone',
    'binding': 'Port Binding',
    'binding-extended': 'Port Bindings Extended',
    'default-subnetpools': 'Default Subnetpools',
    'external-net': 'Neutron external network',
    'extraroute': 'Neutron Extra Route',
    'extraroute-atomic': 'Atomically add/remove extra routes',
    'extra_dhcp_opt': 'Neutron Extra DHCP options',
    'fip-port-details': 'Floating IP Port Details Extension',
    'net-mtu': 'Network MTU',
    'net-mtu-writable': 'Network MTU (writable)',
    'pagination': 'Pagination support',
    'port-resource-request': 'Port Resource Request',
    'port-resource-request-groups': 'Port Resource Request Groups',
    'port-security': 'Port Security',
    'project-id': 'project_id field enabled',
    'provider': 'Provider Network',
    'qos': 'Quality of Service',
    'qos-bw-limit-direction': 'Direction for QoS bandwidth limit rule',
    'qos-bw-minimum-ingress': 'Ingress direction for QoS minimum bandwidth rule',
    'qos-default': 'QoS default policy',
    'qos-gateway-ip': 'Gateway IP QoS',
    'qos-pps': 'QoS packet rate limit rule',
    'qos-pps-minimum': 'QoS minimum packet rate rule',
    'qos-rule-type-details': 'Details of QoS rule types',
    'qos-rule-type-filter': 'QoS rule type filter',
    'quota_details': 'Quota details management support',
    'quotas': 'Quota management support',
    'rbac-address-scope': 'Address scope RBAC',
    'rbac-policies': 'RBAC Policies',
    'rbac-security-groups': 'RBAC for security groups',
    'rbac-subnetpool': 'Subnet pool RBAC',
    'revision-if-match': 'If-Match constraints based on revision_number',
    'router': 'Neutron L3 Router',
    'security-group': 'security-group',
    'service-type': 'Neutron Service Type Management',
    'sorting': 'Sorting support',
    'standard-attr-description': 'standard-attr-description',
    'standard-attr-revisions': 'Resource revision numbers',
    'standard-attr-tag': 'Tag support for resources with standard attribute',
    'standard-attr-timestamp': 'Resource timestamps',
    'stateful-security-group': 'Stateful security group',
    'subnet_allocation': 'Subnet Allocation',
    'trunk': 'Trunk Extension',
    'trunk-details': 'Trunk port details',
}


ZONES = {
    'availability_zones': [
        {'name': 'nova', 'resource': resource, 'state': 'available'}
        for resource in ('network', 'router')
    ]
}


def _versions(req: web.Request) -> dict[str, list[database.Row]]:
    link = {'rel': 'self', 'href': f'{req.context.public_url}{PREFIX}/v2.0/'}
    return {'versions': [{'id': 'v2.0', 'status': 'CURRENT', 'links': [link]}]}


def _collections(req: web.Request) -> dict[str, list[bodies.Json]]:
    base = f'{req.context.public_url}{PREFIX}/v2.0'
    return {
        'resources': [
            {
                'name': name.removesuffix('s'),
                'collection': name,
                'links': [{'rel': 'self', 'href': f'{base}/{name}'}],
            }
            for name in ('networks', 'subnets', 'ports', 'routers')
        ]
    }


class Extensions:
    """The extensions of Neutron that simcloud has."""

    @staticmethod
    def _view(alias: str) -> bodies.Json:
        return {
            'alias': alias,
            'name': EXTENSIONS[alias],
            'description': EXTENSIONS[alias],
            'links': [],
            'updated': '2020-01-01T00:00:00-00:00',
        }

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        resp.media = {'extensions': [self._view(alias) for alias in EXTENSIONS]}

    def on_get_one(self, req: web.Request, resp: falcon.Response, alias: str) -> None:
        if alias not in EXTENSIONS:
            raise faults.NotFound(
                f'Extension with alias {alias[:64]} does not exist', 'ExtensionNotFound'
            )
        resp.media = {'extension': self._view(alias)}


def add(
    app: routing.App,
    db: database.Database,
    events: external_events.Sender,
    plugging: plugging.Plugging,
) -> None:
    """Put the network service's routes into `app`."""
    v2 = f'{PREFIX}/v2.0'
    app.add_route(PREFIX, routing.Document(_versions))
    app.add_route(v2, routing.Document(_collections))
    routing.add_crud(app, f'{v2}/extensions', Extensions(), 'alias')
    app.add_route(f'{v2}/availability_zones', routing.Document(ZONES))
    routing.add_crud(app, f'{v2}/qos/rule-types', qos_rules.RuleTypes(), 'name')
    # The simulated network service has no agents.
    app.add_route(f'{v2}/agents', routing.Document({'agents': []}))
    # Services that need a provider, such as VPN, are not simulated.
    app.add_route(f'{v2}/service-providers', routing.Document({'service_providers': []}))
    for path, resource, field in (
        ('networks', networks.RESOURCE, 'network_id'),
        ('subnets', subnets.RESOURCE, 'subnet_id'),
        ('subnetpools', subnet_pools.RESOURCE, 'pool_id'),
        ('address-scopes', address_scopes.RESOURCE, 'scope_id'),
        ('ports', ports.resource(events, plugging), 'port_id'),
        ('security-groups', security_groups.RESOURCE, 'group_id'),
        ('security-group-rules', security_rules.RESOURCE, 'rule_id'),
        ('routers', routers.RESOURCE, 'router_id'),
        ('floatingips', floating_ips.resource(events, plugging), 'floating_id'),
        ('rbac-policies', rbac.RESOURCE, 'policy_id'),
        ('trunks', trunks.resource(plugging), 'trunk_id'),
        ('qos/policies', qos.POLICY, 'policy_id'),
        *(
            (f'qos/policies/{{policy_id}}/{kind.name}_rules', kind.resource, 'rule_id')
            for kind in qos_rules.KINDS
        ),
        ('ports/{port_id}/bindings', bindings.resource(plugging), 'host'),
    ):
        routing.add_resource(app, db, f'{v2}/{path}', field=field, resource=resource)
        if resource.revisions is not None:
            tag = tags.TagResource(db, resource.revisions)
            routing.add_crud(app, f'{v2}/{path}/{{{field}}}/tags', tag, 'tag')
    tag = tags.TagResource(db, qos.POLICIES, qos.POLICY.permit)
    # As in Neutron, tags of QoS policies are not below qos/policies.
    routing.add_crud(app, f'{v2}/policies/{{policy_id}}/tags', tag, 'tag')
    _add_actions(app, db, v2, plugging)
    _add_quotas(app, db, v2)
    app.add_route(
        f'{v2}/auto-allocated-topology/{{project_id}}', auto_topology.TopologyResource(db)
    )


def _add_quotas(app: routing.App, db: database.Database, v2: str) -> None:
    """Put the routes of quotas into `app`."""
    quota = quotas.QuotaResource(db)
    routing.add_crud(app, f'{v2}/quotas', quota, 'project_id')
    for path in ('default', 'details', 'details.json'):
        suffix = path.removesuffix('.json')
        app.add_route(f'{v2}/quotas/{{project_id}}/{path}', quota, suffix=suffix)


def _add_actions(
    app: routing.App, db: database.Database, v2: str, plugging: plugging.Plugging
) -> None:
    """Put the routes of actions on routers, bindings and trunks into `app`."""
    router = f'{v2}/routers/{{router_id}}'
    interface, extra = router_interfaces.InterfaceResource(db), routers.RoutesResource(db)
    for name in ('add', 'remove'):
        app.add_route(f'{router}/{name}_router_interface', interface, suffix=name)
        app.add_route(f'{router}/{name}_extraroutes', extra, suffix=name)
    app.add_route(
        f'{v2}/ports/{{port_id}}/bindings/{{host}}/activate',
        bindings.ActivateResource(db, plugging),
    )
    trunks.add(app, db, f'{v2}/trunks', plugging)
