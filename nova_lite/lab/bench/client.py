"""A thin client of the compute API, whose own cost does not distort the figures."""

import contextlib
import os

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk
import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import client_connections

WAIT_S = 120
FAILED = 'ERROR'
LIMITS, UNLIMITED = ('instances', 'cores', 'ram'), -1


class Client:
    """Calls as the admin of the cloud in `directory`, from many threads."""

    def __init__(self, directory):
        path = os.path.join(directory, 'clouds.yaml')
        if not os.path.exists(path):
            raise exception.Invalid(
                reason=f'{path} does not exist. Start the cloud with `nova-lite up`'
            )
        self.connection = client_connections.connect(path)
        try:
            self.base = self.connection.compute.get_endpoint()
        except (keystone.ClientException, sdk.SDKException) as error:
            raise exception.Unavailable(
                service=f'The cloud of {directory}', reason=f'{error}. Start it with `nova-lite up`'
            ) from error
        self._headers = {
            'X-Auth-Token': self.connection.auth_token,
            'OpenStack-API-Version': 'compute 2.74',
            # Used only by a cloud with noauth.
            'X-User-Id': self.connection.current_user_id,
            'X-Project-Id': self.connection.current_project_id,
            'X-Roles': 'admin,member,reader',
        }
        self._local = runtime.Local()

    def call(self, method, path, body=None):
        """Send one request and return its decoded body or None.

        Raise Conflict for a status of 400 and above, Unavailable without a response.
        """
        return self.content(method, path, self.send(method, path, body))

    def send(self, method, path, body=None):
        """Send one request and return its response. Raise Unavailable without one."""
        session = getattr(self._local, 'session', None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers.update(self._headers)
        try:
            return session.request(method, self.base + path, json=body, timeout=WAIT_S)
        except requests.RequestException as error:
            raise exception.Unavailable(service=self.base, reason=error) from error

    @staticmethod
    def content(method, path, response):
        """Return the decoded body of a response, or None. Raise as `call` does."""
        if response.status_code >= 400:
            raise exception.Conflict(
                reason=f'{method} {path} answered {response.status_code}: {response.text[:200]}'
            )
        return response.json() if response.content else None

    def flavor_id(self, name):
        """Return the id of a flavor. Raise Invalid if there is none of that name."""
        for flavor in self.call('GET', '/flavors?is_public=None')['flavors']:
            if name in (flavor['name'], flavor['id']):
                return flavor['id']
        raise exception.Invalid(
            reason=f'flavor {name} does not exist. `openstack flavor list` lists flavors'
        )

    def server_body(self, name, args):
        """Return the body of a request that creates a server without networks."""
        image = self.connection.image.find_image(args.image)
        if image is None:
            raise exception.Invalid(
                reason=f'image {args.image} does not exist. `openstack image list` lists images'
            )
        return {
            'server': {
                'name': name,
                'flavorRef': self.flavor_id(args.flavor),
                'imageRef': image.id,
                'networks': 'none',
            }
        }

    @contextlib.contextmanager
    def without_quotas(self):
        """Lift the limits on the servers of the project meanwhile."""
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

    def settle(self, wanted, pause_s):
        """Wait for many servers at once, with short lists for all.

        wanted: {server id: status}; yields (id, seconds of `monotonic`) as each gets there.
        Raises Conflict for a server in ERROR, Unavailable when time is up.
        """
        left = dict(wanted)
        deadline = runtime.monotonic() + WAIT_S
        while left:
            for status in {*left.values(), FAILED}:
                listed = self.call('GET', f'/servers?limit=1000&status={status}')['servers']
                now = runtime.monotonic()
                for uuid in [server['id'] for server in listed if server['id'] in left]:
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
