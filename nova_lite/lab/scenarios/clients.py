"""Requests of drills to the services, as users send requests, and to the control endpoint."""

import json
import typing
import urllib.parse

from keystoneauth1 import exceptions as auth_exceptions
from openstack import connection as sdk_connection
from openstack import exceptions as sdk_exceptions
import requests

from nova_lite import exception
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import state_dir

Json: typing.TypeAlias = dict[str, typing.Any]

COMPUTE, CONTROL = 'compute', 'control'
VERSIONS = {COMPUTE: '2.96', 'placement': '1.39', 'volume': '3.70'}
PROXIES = {'volume': 'block_storage'}
USERS = {'admin': client_connections.ADMIN, 'demo': client_connections.DEMO}
ADMIN = 'admin'


class Cloud:
    """A running embedded cloud. directory: its state directory"""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.control = control_client.Client(directory)
        self._connections: dict[str, sdk_connection.Connection] = {}

    def _connection(self, user: str) -> sdk_connection.Connection:
        if user not in self._connections:
            path = state_dir.existing(self.directory, 'clouds.yaml')
            self._connections[user] = client_connections.connect(path, USERS[user])
        return self._connections[user]

    def request(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        service: str = COMPUTE,
        version: str | None = None,
        user: str = ADMIN,
    ) -> requests.Response:
        """Send one request without retries; return the response. Raise Unavailable."""
        proxy = getattr(self._connection(user), PROXIES.get(service, service))
        options: Json = {} if body is None else {'json': body}
        if (used := version or VERSIONS.get(service)) is not None:
            options['microversion'] = used
        try:
            answer: requests.Response = proxy.request(
                path, method, raise_exc=False, connect_retries=0, **options
            )
        except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
            raise exception.Unavailable(service=f'Service {service}', reason=str(error)) from error
        return answer

    def read(self, path: str, **options: typing.Any) -> typing.Any:
        """Return the content of an answer to GET. Raise Unavailable unless it succeeds."""
        status, found = self.look(path, **options)
        if status >= 400:
            reason = f'the answer is {status}: {json.dumps(found)}'
            raise exception.Unavailable(service=f'GET {path}', reason=reason)
        return found

    def look(self, path: str, **options: typing.Any) -> tuple[int, typing.Any]:
        """Return the status and the content of an answer to GET; None for content that is no JSON.

        The service `control` is the control endpoint of the cloud.
        """
        if options.get('service') == CONTROL:
            parts = urllib.parse.urlsplit(path)
            arguments = dict(urllib.parse.parse_qsl(parts.query))
            try:
                return 200, self.control.get(parts.path.removeprefix('/'), **arguments)
            except control_client.Refused as error:
                return 400, {'error': str(error)}
        answer = self.request('GET', path, **options)
        kind = answer.headers.get('Content-Type', '')
        return answer.status_code, answer.json() if 'json' in kind else None
