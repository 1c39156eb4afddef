"""A thin client of the compute API: what it costs must not blur the measure."""

import os

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk
import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.launcher import clouds

WAIT_S = 120
FAILED = 'ERROR'


class Client:
    """Calls as the admin of the cloud in `directory`, from many threads."""

    def __init__(self, directory):
        path = os.path.join(directory, 'clouds.yaml')
        if not os.path.exists(path):
            raise exception.Invalid(reason=f'{path} is missing; is the cloud up?')
        self.connection = clouds.connect(path)
        try:
            self.base = self.connection.compute.get_endpoint()
        except (keystone.ClientException, sdk.SDKException) as error:
            raise exception.Unavailable(
                service=f'The cloud of {directory}', reason=f'{error}; is it up?'
            ) from error
        self._headers = {
            'X-Auth-Token': self.connection.auth_token,
            'OpenStack-API-Version': 'compute 2.74',
            # Believed by a cloud with noauth alone.
            'X-User-Id': self.connection.current_user_id,
            'X-Project-Id': self.connection.current_project_id,
            'X-Roles': 'admin,member,reader',
        }
        self._local = runtime.Local()

    def call(self, method, path, body=None):
        """One request; its decoded body or None.

        Raises Conflict for an answer of 400 and above, Unavailable without one.
        """
        session = getattr(self._local, 'session', None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers.update(self._headers)
        try:
            response = session.request(method, self.base + path, json=body, timeout=WAIT_S)
        except requests.RequestException as error:
            raise exception.Unavailable(service=self.base, reason=error) from error
        if response.status_code >= 400:
            raise exception.Conflict(
                reason=f'{method} {path} answered {response.status_code}: {response.text[:200]}'
            )
        return response.json() if response.content else None

    def flavor_id(self, name):
        """The id of a flavor; raises Invalid when there is none of that name."""
        for flavor in self.call('GET', '/flavors?is_public=None')['flavors']:
            if name in (flavor['name'], flavor['id']):
                return flavor['id']
        raise exception.Invalid(reason=f'there is no flavor {name}')

    def server_body(self, name, args):
        """The body that creates a server without networks."""
        image = self.connection.image.find_image(args.image)
        if image is None:
            raise exception.Invalid(reason=f'there is no image {args.image}')
        return {
            'server': {
                'name': name,
                'flavorRef': self.flavor_id(args.flavor),
                'imageRef': image.id,
                'networks': 'none',
            }
        }

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
                    service=f'{len(left)} servers', reason=f'not settled in {WAIT_S} s'
                )
            runtime.sleep(pause_s)
