"""Requests to placement, Neutron and Cinder, none of which changes anything."""

from collections.abc import Collection
from collections.abc import Iterator
import re
import typing

from keystoneauth1 import adapter as adapters
from keystoneauth1 import exceptions as auth_exceptions
from keystoneauth1 import identity

from nova_lite import exception
from nova_lite.lab.audit import observed

Json: typing.TypeAlias = dict[str, typing.Any]
TITLES = {
    observed.PLACEMENT: 'Placement',
    observed.NEUTRON: 'Neutron',
    observed.CINDER: 'Cinder',
}
# Path of the API, unless the endpoint has a version.
VERSIONS = {observed.PLACEMENT: '', observed.NEUTRON: '/v2.0', observed.CINDER: '/v3'}
MICROVERSIONS = {observed.PLACEMENT: 'placement 1.19', observed.CINDER: 'volume 3.44'}
VERSION = re.compile(r'/v\d')
PAGE = 500
PORT_FIELDS = ('id', 'device_id', 'device_owner', 'binding:host_id', 'project_id')
VOLUME_PROJECT = 'os-vol-tenant-attr:tenant_id'
ADMIN = 'admin'
# The trait of the root providers that nova creates, and that of providers of shared resources.
NODE, SHARING = 'COMPUTE_NODE', 'MISC_SHARES_VIA_AGGREGATE'


class Service:
    """A service that is asked as an administrator. name: as a section of nova.conf is called"""

    def __init__(self, name: str, adapter: adapters.Adapter) -> None:
        self._title, self._adapter = TITLES[name], adapter
        self._version = VERSIONS[name]
        self._headers = {'Accept': 'application/json'}
        if name in MICROVERSIONS:
            self._headers['OpenStack-API-Version'] = MICROVERSIONS[name]
        self._endpoint: str | None = None

    def endpoint(self) -> str | None:
        """Return the URL with a version, None if the catalog lacks the service."""
        if self._endpoint is None:
            try:
                self._require_identity()
                found = self._adapter.get_endpoint()
            except (auth_exceptions.ClientException, OSError) as error:
                raise self._unavailable(error) from error
            if found is not None:
                base = found.rstrip('/')
                self._endpoint = base if VERSION.search(base) else base + self._version
        return self._endpoint

    def get(
        self, path: str, key: str, *, may_lack: bool = False, **params: typing.Any
    ) -> typing.Any:
        """Return a value of the decoded answer. Raise Unavailable.

        may_lack: whether the object may be deleted by now; then the answer is {}
        """
        try:
            answer = self._adapter.get(
                path,
                params=params,
                headers=self._headers,
                endpoint_override=self.endpoint(),
                raise_exc=False,
            )
        except (auth_exceptions.ClientException, OSError) as error:
            raise self._unavailable(error) from error
        if answer.status_code == 404 and may_lack:
            return {}
        if not answer.ok:
            reason = f'GET {path} was answered with {answer.status_code}'
            if answer.status_code in (401, 403):
                reason += '. The user must be an administrator'
            raise self._unavailable(reason)
        try:
            return answer.json()[key]
        except (KeyError, TypeError, ValueError) as error:
            reason = f'GET {path} was not answered with JSON that has {key}. Check its endpoint'
            raise self._unavailable(reason) from error

    def require_all_projects(self, seen: Collection[str | None]) -> None:
        """Raise Unavailable if the user is shown one project only.

        Neutron and Cinder answer such a user with the objects of that project, and no error.
        seen: projects of the objects that the user is shown
        """
        session = self._adapter.session
        if not isinstance(session.auth, identity.BaseIdentityPlugin):
            return
        try:
            access = session.auth.get_access(session)
        except (auth_exceptions.ClientException, OSError) as error:
            raise self._unavailable(error) from error
        others = set(seen) - {access.project_id, None}
        if not others and ADMIN not in (access.role_names or ()):
            raise self._unavailable(
                'its user is shown no other project than their own. The user must be an '
                'administrator'
            )

    def _require_identity(self) -> None:
        """Raise Unavailable if auth_url refuses to answer without a token.

        Keystone answers. To get a token for another service, keystoneauth would wait for itself.
        """
        session = self._adapter.session
        if not isinstance(session.auth, identity.BaseIdentityPlugin) or not session.auth.auth_url:
            return
        url = session.auth.auth_url
        if session.get(url, authenticated=False, raise_exc=False).status_code == 401:
            raise self._unavailable(f'auth_url {url} is not of Keystone: it was answered with 401')

    def _unavailable(self, reason: object) -> exception.Unavailable:
        return exception.Unavailable(service=self._title, reason=reason)


def ports(neutron: Service) -> list[Json]:
    """Return all ports, with PORT_FIELDS only."""
    found: list[Json] = []
    marker: Json = {}
    while True:
        page = neutron.get('/ports', 'ports', fields=PORT_FIELDS, limit=PAGE, **marker)
        # Without support for pages, each answer has all ports.
        if not page or (found and page[0]['id'] == found[0]['id']):
            neutron.require_all_projects([port.get('project_id') for port in found])
            return found
        found += page
        marker = {'marker': page[-1]['id']}


def volumes(cinder: Service) -> observed.Volumes:
    """Return the attachments and the statuses of all volumes.

    Volumes are read last: an attachment that is read has its volume.
    """
    attachments = list(_pages(cinder, '/attachments/detail', 'attachments'))
    found = list(_pages(cinder, '/volumes/detail', 'volumes'))
    cinder.require_all_projects([each.get(VOLUME_PROJECT) for each in found])
    return observed.Volumes({each['id']: each['status'] for each in found}, attachments)


def _pages(cinder: Service, path: str, key: str) -> Iterator[Json]:
    """Yield each item of a list once. Cinder does not link to the next page of attachments."""
    known: set[str] = set()
    offset = 0
    while True:
        page = cinder.get(path, key, all_tenants=1, limit=PAGE, offset=offset)
        if not page:
            return
        yield from (each for each in page if each['id'] not in known)
        known.update(each['id'] for each in page)
        offset += len(page)


class PlacementReader:
    """Reads the trees of compute nodes. It asks again only for providers that may have changed.

    Everything raises the generation of a provider, except for the loss of allocations.
    """

    def __init__(self, placement: Service) -> None:
        self._placement = placement
        # {uuid: (generation, aggregates)} of providers without allocations.
        self._unused: dict[str, tuple[int, frozenset[str]]] = {}

    def read(self, nodes: set[str], *, with_aggregates: bool) -> observed.Placement:
        """Return the Placement of compute nodes. nodes: their uuids"""
        listed = self._providers()
        roots = nodes | {each['uuid'] for each in self._providers(required=NODE)}
        found = observed.Placement(shares_disks=bool(self._providers(required=SHARING)))
        unused, self._unused = self._unused, {}
        for each in listed:
            uuid, root, generation = each['uuid'], each['root_provider_uuid'], each['generation']
            if root not in roots:
                continue
            before = unused.get(uuid)
            if before is not None and before[0] == generation:
                self._unused[uuid] = before
                found.providers[uuid] = observed.Provider(each['name'], root, before[1])
                continue
            aggregates = self._aggregates(uuid) if with_aggregates and uuid == root else frozenset()
            found.providers[uuid] = observed.Provider(each['name'], root, aggregates)
            path = f'/resource_providers/{uuid}/allocations'
            held = self._placement.get(path, 'allocations', may_lack=True)
            for consumer, holding in held.items():
                found.allocations.setdefault(consumer, {})[uuid] = holding['resources']
            if not held:
                self._unused[uuid] = generation, aggregates
        return found

    def _providers(self, **query: typing.Any) -> list[Json]:
        found: list[Json] = self._placement.get(
            '/resource_providers', 'resource_providers', **query
        )
        return found

    def _aggregates(self, uuid: str) -> frozenset[str]:
        path = f'/resource_providers/{uuid}/aggregates'
        return frozenset(self._placement.get(path, 'aggregates', may_lack=True))
