"""A thin client of the compute API, which uses too little CPU to distort the figures."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import os
import typing

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk
import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import client_connections

WAIT_S = 120
# Servers of a page of a list: as many as the API shows at most by default.
PAGE = 1000
FAILED = 'ERROR'
# In the error of a page that begins after a deleted server.
BAD_MARKER = 'answered 400'
LIMITS, UNLIMITED = ('instances', 'cores', 'ram'), -1

Json: typing.TypeAlias = dict[str, typing.Any]


class Client:
    """Sends requests as the administrator of the cloud in `directory`, from many threads."""

    def __init__(self, directory: str) -> None:
        path = os.path.join(directory, 'clouds.yaml')
        if not os.path.exists(path):
            raise exception.Invalid(
                reason=f'{path} does not exist. Start the cloud with `nova-lite up`'
            )
        self.connection = client_connections.connect(path)
        try:
            self.base = self.connection.compute.get_endpoint() or ''
        except (keystone.ClientException, sdk.SDKException) as error:
            raise exception.Unavailable(
                service=f'The cloud of {directory}', reason=f'{error}. Start it with `nova-lite up`'
            ) from error
        self._headers = {
            'X-Auth-Token': self.connection.auth_token or '',
            'OpenStack-API-Version': 'compute 2.74',
            # Only a cloud with noauth uses these.
            'X-User-Id': self.connection.current_user_id or '',
            'X-Project-Id': self.connection.current_project_id or '',
            'X-Roles': 'admin,member,reader',
        }
        self._local = runtime.Local()

    def call(self, method: str, path: str, body: Json | None = None) -> typing.Any:
        """Send one request. Return the decoded body of the response, or None.

        Raise Conflict for a status of 400 and above, Unavailable without a response.
        """
        return self.content(method, path, self.send(method, path, body))

    def send(self, method: str, path: str, body: Json | None = None) -> requests.Response:
        """Send one request. Return the response. Raise Unavailable if there is none."""
        session = getattr(self._local, 'session', None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers.update(self._headers)
        try:
            response: requests.Response = session.request(
                method, self.base + path, json=body, timeout=WAIT_S
            )
            return response
        except requests.RequestException as error:
            raise exception.Unavailable(service=self.base, reason=error) from error

    @staticmethod
    def content(method: str, path: str, response: requests.Response) -> typing.Any:
        """Return the decoded body of a response, or None. Raise Conflict as `call` does."""
        if response.status_code >= 400:
            raise exception.Conflict(
                reason=f'{method} {path} answered {response.status_code}: {response.text[:200]}'
            )
        return response.json() if response.content else None

    def flavor_id(self, name: str) -> str:
        """Return the id of the flavor with a name or id. Raise Invalid if it does not exist."""
        for flavor in self.call('GET', '/flavors?is_public=None')['flavors']:
            if name in (flavor['name'], flavor['id']):
                found: str = flavor['id']
                return found
        raise exception.Invalid(
            reason=f'flavor {name} does not exist. `openstack flavor list` lists flavors'
        )

    def server_body(self, name: str, *, image: str, flavor: str) -> Json:
        """Return the body of a request that creates a server without networks. Raise Invalid.

        image, flavor: names
        """
        found = self.connection.image.find_image(image)
        if found is None:
            raise exception.Invalid(
                reason=f'image {image} does not exist. `openstack image list` lists images'
            )
        return {
            'server': {
                'name': name,
                'flavorRef': self.flavor_id(flavor),
                'imageRef': found.id,
                'networks': 'none',
            }
        }

    @contextlib.contextmanager
    def without_quotas(self) -> Iterator[None]:
        """Lift the quotas on servers of the project inside the block."""
        path = f'/os-quota-sets/{self.connection.current_project_id}'
        before = self.call('GET', path)['quota_set']
        self.call('PUT', path, {'quota_set': dict.fromkeys(LIMITS, UNLIMITED)})
        try:
            yield
        finally:
            if before == self.call('GET', f'{path}/defaults')['quota_set']:
                self.call('DELETE', path)
            else:
                limits = {name: before[name] for name in LIMITS}
                self.call('PUT', path, {'quota_set': {**limits, 'force': True}})

    def settle(self, wanted: Mapping[str, str], pause_s: float) -> Iterator[tuple[str, float]]:
        """Yield (server id, time of `monotonic`) as each of many servers reaches its status.

        wanted: {server id: status}. Short lists show the statuses of all servers.
        Raise Conflict for a server in ERROR, Unavailable after WAIT_S.
        """
        left = dict(wanted)
        deadline = runtime.monotonic() + WAIT_S
        while left:
            for status in {*left.values(), FAILED}:
                listed = self._listed(f'&status={status}')
                now = runtime.monotonic()
                for uuid in [each for each in listed if each in left]:
                    if left[uuid] == status:
                        del left[uuid]
                        yield uuid, now
                    elif status == FAILED:
                        raise exception.Conflict(reason=f'server {uuid} is in ERROR')
            if left and now > deadline:
                raise exception.Unavailable(
                    service=f'{len(left)} servers', reason=f'no final status within {WAIT_S} s'
                )
            runtime.sleep(pause_s)

    def gone(self, servers: Collection[str], pause_s: float) -> Iterator[str]:
        """Yield the ids of servers as lists no longer show them. Raise Unavailable after WAIT_S."""
        left = set(servers)
        deadline = runtime.monotonic() + WAIT_S
        while left:
            listed = self._listed()
            yield from left.difference(listed)
            left.intersection_update(listed)
            if left and runtime.monotonic() > deadline:
                raise exception.Unavailable(
                    service=f'{len(left)} servers', reason=f'not deleted within {WAIT_S} s'
                )
            if left:
                runtime.sleep(pause_s)

    def _listed(self, query: str = '') -> list[str]:
        """Return the ids of servers in a list, of all its pages. query: further parameters"""
        path = f'/servers?limit={PAGE}{query}'
        body = self.call('GET', path)
        found = [server['id'] for server in body['servers']]
        while body.get('servers_links'):
            try:
                body = self.call('GET', f'{path}&marker={found[-1]}')
            except exception.Conflict as error:
                if BAD_MARKER not in error.message:
                    raise
                # The server at which the next page begins was deleted.
                return self._listed(query)
            found += [server['id'] for server in body['servers']]
        return found
