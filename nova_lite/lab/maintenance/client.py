"""Client of the compute API for the commands that empty hosts.

--os-cloud names any cloud of clouds.yaml. Otherwise `which_cloud` names a cloud of nova_lite, as
for other commands. If neither an option nor NOVA_LITE_STATE names a cloud, the variables OS_* may
name any cloud.
"""

import argparse
import os
import sys
import urllib.parse

from keystoneauth1 import exceptions as auth_exceptions
import openstack
from openstack import exceptions as sdk_exceptions
import requests

from nova_lite import exception
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import openrc
from nova_lite.lab.launcher import os_variables
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud
from nova_lite.lab.maintenance import plan

# Before 2.95, servers that ran before their evacuation also run after it.
VERSION = '2.90'
PAGE = 500


class WrongUse(exception.Invalid):
    """The arguments of the command contradict the cloud or each other."""

    msg = '%(reason)s'


class Refused(exception.Conflict):
    """The API has answered a request with an error. status: HTTP status of the answer"""

    msg = '%(reason)s'

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason=reason)
        self.status = status


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select the cloud to a parser."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--os-cloud', metavar='NAME', help='name of the cloud in clouds.yaml')
    state_dir.add_names(where)
    parser.set_defaults(**which_cloud.BY_CLIENTS)


def connect(args: argparse.Namespace) -> 'Cloud':
    """Return the cloud that the options or the environment select. Raise WrongUse."""
    return Cloud(connection(args))


def connection(args: argparse.Namespace) -> openstack.connection.Connection:
    """Return the SDK's connection to that cloud. Raise WrongUse."""
    cloud = args.which
    is_ours = cloud is not None and (
        cloud.source == which_cloud.OPTION or not os_variables.are_set(os.environ)
    )
    if is_ours:
        return client_connections.connect(openrc.clouds_yaml(cloud))
    try:
        found = client_connections.connect_any(args.os_cloud)
        url = found.config.get_auth_args().get('auth_url')
    except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
        raise WrongUse(
            reason=f'cannot use the cloud of {args.os_cloud or "the variables OS_*"}: '
            f'{str(error).rstrip(".")}. Correct its name or settings, or use --state-dir, --name or '
            '--config-dir'
        ) from error
    if cloud is None:
        print(f'Cloud of {args.os_cloud or "the variables OS_*"}, {url}', file=sys.stderr)
    return found


class Cloud:
    """Sends requests of an administrator to the compute API, from many threads."""

    def __init__(self, connection: openstack.connection.Connection) -> None:
        self._connection = connection

    def call(
        self, method: str, path: str, body: plan.Json | None = None, *, version: str = VERSION
    ) -> requests.Response:
        """Send one request without retries. Return the response. Raise Refused, Unavailable."""
        try:
            answer: requests.Response = self._connection.compute.request(
                path,
                method,
                json=body,
                microversion=version,
                raise_exc=False,
                connect_retries=0,
            )
        except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
            reason = messages.of_clients(str(error))
            raise exception.Unavailable(service='Compute API', reason=reason) from error
        if answer.status_code >= 400:
            raise Refused(answer.status_code, _message(answer))
        return answer

    def _get(self, path: str, **query: object) -> plan.Json:
        query = {name: value for name, value in query.items() if value is not None}
        found: plan.Json = self.call('GET', f'{path}?{urllib.parse.urlencode(query)}').json()
        return found

    # ---- hosts ----

    def service(self, host: str) -> plan.Json:
        """Return the compute service of a host. Raise WrongUse if the host does not exist."""
        found = self._get('/os-services', host=host, binary='nova-compute')['services']
        if not found:
            raise WrongUse(
                reason=f'compute host {host} does not exist. `openstack compute service list` lists hosts'
            )
        if found[0]['status'] == 'UNKNOWN':
            raise exception.Unavailable(service=f'The cell of {host}', reason='no answer')
        service: plan.Json = found[0]
        return service

    def change_service(self, service: plan.Json, **values: object) -> plan.Json:
        """Change fields of a compute service, such as status. Return the changed service."""
        answer = self.call('PUT', f'/os-services/{service["id"]}', values)
        changed: plan.Json = answer.json()['service']
        return changed

    # ---- servers ----

    def servers_on(self, host: str) -> list[plan.Json]:
        """Return all servers on a host with details, including soft-deleted servers."""
        found: list[plan.Json] = []
        marker = None
        while True:
            page = self._get(
                '/servers/detail',
                all_tenants=1,
                soft_deleted=True,
                host=host,
                limit=PAGE,
                marker=marker,
            )['servers']
            if not page:
                return found
            found += page
            marker = page[-1]['id']

    def server(self, uuid: str) -> plan.Json | None:
        """Return a server, or None if it does not exist."""
        try:
            found: plan.Json = self._get(f'/servers/{uuid}')['server']
            return found
        except Refused as error:
            if error.status == 404:
                return None
            raise

    def act(
        self, uuid: str, action: str, content: plan.Json | None, *, version: str = VERSION
    ) -> str | None:
        """Send an action of a server. Return the id of the request."""
        answer = self.call('POST', f'/servers/{uuid}/action', {action: content}, version=version)
        return answer.headers.get('X-Compute-Request-Id')

    def failure(self, uuid: str, request_id: str) -> str | None:
        """Return the details of the first failed event of a requested action, or None."""
        path = f'/servers/{uuid}/os-instance-actions/{request_id}'
        try:
            events = self._get(path)['instanceAction']['events']
        except Refused:
            return None
        failed = [event for event in events if event['result'] == 'Error']
        return next((event['details'] for event in failed if event.get('details')), None)

    def migrations(self, **query: object) -> list[plan.Json]:
        """Return the migrations that match a query, newest first."""
        found: list[plan.Json] = []
        marker = None
        while True:
            page = self._get('/os-migrations', limit=PAGE, marker=marker, **query)['migrations']
            if not page:
                return found
            found += page
            marker = page[-1]['uuid']

    def last_migration(self, uuid: str) -> plan.Json | None:
        """Return the newest migration of a server, or None."""
        found = self._get('/os-migrations', instance_uuid=uuid, limit=1)['migrations']
        return found[0] if found else None


def _message(answer: requests.Response) -> str:
    """Return the message of an error response."""
    try:
        (error,) = answer.json().values()
        return str(error['message'])
    except (ValueError, AttributeError, KeyError, TypeError):
        return f'HTTP {answer.status_code}: {answer.text[:200]}'
