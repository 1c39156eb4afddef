"""Answers of the APIs of a cloud that a test describes, as nova, placement and glance give them."""

import json
import types
import urllib.parse

import requests
import yaml

from nova_lite import runtime
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import settings
from nova_lite.lab.twin import importing

NAMESPACE = '0a2c9d55-3a34-4e6c-9f1a-6d1f6d8f2b10'
SMALL = {'vcpus': 1, 'ram': 512, 'disk': 1, 'ephemeral': 0, 'swap': 0}
OFFER = {'VCPU': 8, 'MEMORY_MB': 8192, 'DISK_GB': 100}


def uuid_of(name):
    """Return the id of an object of a cloud by its name."""
    return runtime.uuid_of(NAMESPACE, name)


def inventory(total, **more):
    """Return an inventory of placement."""
    return {'total': total, 'reserved': 0, 'allocation_ratio': 1.0, **more}


class Adapter:
    """Answers GET requests to a service in place of keystoneauth's Adapter.

    routes: {path: function of the query that returns the body, or None for 404}
    """

    def __init__(self, routes, newest=(2, 96)):
        self._routes, self._newest = routes, newest

    def get_endpoint_data(self):
        return types.SimpleNamespace(max_microversion=self._newest)

    def request(self, url, method, *, params=None, **_options):
        assert method == 'GET'
        parsed = urllib.parse.urlsplit(url)
        query = {**dict(urllib.parse.parse_qsl(parsed.query)), **(params or {})}
        route = self._routes.get(parsed.path)
        body = None if route is None else route(query)
        answer = requests.Response()
        answer.status_code = 404 if body is None else 200
        answer._content = json.dumps(body or {'error': {'message': 'not found'}}).encode()
        return answer


class Cloud:
    """A cloud without anything. Tests add objects, and change the rows of the answers."""

    def __init__(self):
        self.hypervisors, self.services, self.servers = [], [], []
        self.flavors, self.aggregates, self.groups = [], [], []
        # By uuid, each with its name, root, inventories, traits and allocations.
        self.providers = {}
        self.images, self.topologies = {}, {}

    def add_host(self, name, inventories=None, *, traits=(), cells=1, **service):
        """Add a host. inventories: {class: total or inventory}. Return its provider."""
        row = {'id': uuid_of(name), 'service': {'host': name}}
        self.hypervisors.append({**row, 'cpu_info': {'topology': {'cells': cells}}})
        self.services.append(
            {
                'id': uuid_of(f'{name} service'),
                'host': name,
                'binary': 'nova-compute',
                'status': 'enabled',
                'disabled_reason': None,
                'state': 'up',
                'forced_down': False,
                **service,
            }
        )
        return self.add_provider(name, OFFER if inventories is None else inventories, traits=traits)

    def add_provider(self, name, inventories, *, root=None, traits=()):
        """Add a resource provider. root: name of the root of its tree, None for itself"""
        found = {
            'name': name,
            'root': uuid_of(root or name),
            'inventories': {
                key: value if isinstance(value, dict) else inventory(value)
                for key, value in inventories.items()
            },
            'traits': list(traits),
            'allocations': {},
        }
        self.providers[uuid_of(name)] = found
        return found

    def add_flavor(self, name, **more):
        """Add a flavor. Return it as answers about servers embed it."""
        specs = more.pop('specs', {})
        sizes = {**SMALL, **more}
        public = {'os-flavor-access:is_public': True, 'description': None, 'extra_specs': specs}
        row = {**sizes, 'OS-FLV-EXT-DATA:ephemeral': sizes['ephemeral'], **public}
        self.flavors.append({**row, 'id': uuid_of(f'flavor {name}'), 'name': name})
        return {**sizes, 'original_name': name, 'extra_specs': specs}

    def add_server(self, name, host, flavor, *, held=None, **more):
        """Add a server. held: its allocations on the host, None for those of its sizes"""
        row = {
            'id': uuid_of(name),
            'name': name,
            'tenant_id': uuid_of('project'),
            'status': 'ACTIVE',
            'OS-EXT-STS:task_state': None,
            'OS-EXT-SRV-ATTR:host': host,
            'flavor': flavor,
            'image': '',
            'pinned_availability_zone': None,
            **more,
        }
        self.servers.append(row)
        if host is not None and held != {}:
            sizes = {'VCPU': flavor['vcpus'], 'MEMORY_MB': flavor['ram']}
            self.hold(host, row['id'], held or sizes)
        return row

    def add_node(self, row, node, pinned):
        """Show that a server has one node of its host. pinned: number of dedicated CPUs"""
        shown = {
            'memory_mb': row['flavor']['ram'],
            'vcpu_set': list(range(pinned)),
            'host_node': node,
            'cpu_pinning': {str(number): number for number in range(pinned)},
        }
        self.topologies[row['id']] = {'nodes': [shown], 'pagesize_kb': None}

    def hold(self, host, consumer, resources):
        """Allocate resources of a host, if placement knows it."""
        if uuid_of(host) in self.providers:
            self.providers[uuid_of(host)]['allocations'][consumer] = {'resources': resources}

    def api(self, newest=(2, 96)):
        """Return the Api of the cloud. newest: microversion of compute"""
        return apis.Api(
            {
                'compute': Adapter(self._compute(), newest),
                'placement': Adapter(self._placement()),
                'image': Adapter(
                    {
                        f'/v2/images/{key}': lambda _query, row=row: row
                        for key, row in self.images.items()
                    }
                ),
            }
        )

    def _compute(self):
        listed = {
            '/servers/detail': ('servers', self.servers),
            '/os-hypervisors/detail': ('hypervisors', self.hypervisors),
            '/os-services': ('services', self.services),
            '/os-aggregates': ('aggregates', self.aggregates),
            '/flavors/detail': ('flavors', self.flavors),
        }
        routes = {
            path: lambda _query, key=key, rows=rows: {key: rows}
            for path, (key, rows) in listed.items()
        }
        routes['/os-server-groups'] = lambda query: {
            'server_groups': [] if query['offset'] else self.groups
        }
        for server_id, shown in self.topologies.items():
            routes[f'/servers/{server_id}/topology'] = lambda _query, shown=shown: shown
        return routes

    def _placement(self):
        def listed(query):
            tree = query.get('in_tree')
            rows = [
                {'uuid': uuid, 'name': each['name'], 'root_provider_uuid': each['root']}
                for uuid, each in self.providers.items()
                if tree is None or each['root'] == tree
            ]
            return {'resource_providers': rows}

        routes = {'/resource_providers': listed}
        for uuid, each in self.providers.items():
            for part in ('inventories', 'traits', 'allocations'):
                path = f'/resource_providers/{uuid}/{part}'
                routes[path] = lambda _query, part=part, each=each: {part: each[part]}
        return routes

    def read(self, *, shown=False, options=None, newest=(2, 96)):
        """Return (document of the twin, the Import). `nova-lite up -f` accepts the document."""
        reading = importing.Import(self.api(newest), shown=shown, options=options or {})
        found = reading.read()
        settings.described(documents.parse('twin.yaml', yaml.safe_dump(found)), '/nowhere')
        return found, reading
