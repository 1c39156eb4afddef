"""The service catalog: the addresses of the cloud's services."""

import hashlib

SERVICES = (
    ('identity', 'keystone', '/identity'),
    ('compute', 'nova', '/compute/v2.1'),
    ('placement', 'placement', '/placement'),
    ('image', 'glance', '/image'),
    ('network', 'neutron', '/network'),
    ('volumev3', 'cinderv3', '/volume/v3/{project_id}'),
    ('block-storage', 'cinder', '/volume/v3/{project_id}'),
    ('sharev2', 'manilav2', '/share/v2'),
    ('shared-file-system', 'manila', '/share/v2'),
)
INTERFACES = ('public', 'internal', 'admin')
OURS = ('/identity', '/image', '/network', '/volume', '/share')


def _id_of(*parts):
    return hashlib.sha256('/'.join(parts).encode()).hexdigest()[:32]


class Catalog:
    """Services and endpoints. Their ids follow from their names.

    internal_url: the address of simcloud inside the cloud, for interfaces that are not public
    """

    def __init__(self, public_url, *, region, endpoints, internal_url=None):
        base = public_url.rstrip('/')
        self.region = region
        self.identity_url = f'{base}/identity'
        self._urls = {kind: base + path for kind, _, path in SERVICES} | dict(endpoints)
        self._internal = dict(self._urls)
        if internal_url:
            self._internal |= {
                kind: internal_url.rstrip('/') + path
                for kind, _, path in SERVICES
                if path.startswith(OURS) and kind not in endpoints
            }
        self._names = {kind: name for kind, name, _ in SERVICES}

    @property
    def compute_url(self):
        return self._internal['compute']

    def _service(self, kind):
        return {'id': _id_of(kind), 'type': kind, 'name': self._names.get(kind, kind)}

    def _endpoint(self, kind, interface, project_id):
        url = (self._urls if interface == 'public' else self._internal)[kind]
        return {
            'id': _id_of(kind, interface),
            'interface': interface,
            'region': self.region,
            'region_id': self.region,
            'url': url.replace('{project_id}', project_id or ''),
        }

    def services(self):
        """Return all services in the form of GET /v3/services."""
        return [{**self._service(kind), 'enabled': True} for kind in self._urls]

    def endpoints(self):
        """Return all endpoints in the form of GET /v3/endpoints."""
        return [
            {
                **self._endpoint(kind, interface, '$(project_id)s'),
                'service_id': _id_of(kind),
                'enabled': True,
            }
            for kind in self._urls
            for interface in INTERFACES
        ]

    def for_project(self, project_id):
        """Return the catalog as a token scoped to `project_id` carries it."""
        return [
            {
                **self._service(kind),
                'endpoints': [self._endpoint(kind, one, project_id) for one in INTERFACES],
            }
            for kind in self._urls
        ]
