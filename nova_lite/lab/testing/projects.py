"""Projects for tests: a user, a network with a router, no quotas, and all of it removed again."""

from collections.abc import Iterator
import contextlib
import dataclasses
import os
import tempfile
import typing

from openstack import connection
import yaml

from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import openrc
from nova_lite.lab.testing import admin_requests
from nova_lite.lab.testing import clouds
from nova_lite.lab.testing import project_purge
from nova_lite.lab.testing import unlimited_quotas

# Of a cloud in the project's clouds.yaml.
CLOUD = 'nova-lite-test'
NETWORK, CIDR = 'private', '10.0.0.0/24'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Project:
    """A project with one user, who has the role member.

    network_id: of its network, called private. clouds_yaml: the path of a file whose cloud
    `nova-lite-test` is the project
    """

    cloud: clouds.Cloud
    id: str
    name: str
    user_id: str
    password: str
    network_id: str
    clouds_yaml: str
    _opened: list[connection.Connection] = dataclasses.field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables OS_* of the user's clients."""
        found: dict[str, str] = openrc.variables(self.clouds_yaml, CLOUD)
        return found

    def connect(self, **options: typing.Any) -> connection.Connection:
        """Return a new openstacksdk Connection of the user, closed with the project."""
        made: connection.Connection = client_connections.connect(self.clouds_yaml, CLOUD, **options)
        self._opened.append(made)
        return made

    def close(self) -> None:
        """Close the connections."""
        while self._opened:
            self._opened.pop().close()


@contextlib.contextmanager
def project(cloud: clouds.Cloud, prefix: str = 'test') -> Iterator[Project]:
    """Create a project; afterwards delete it, its user, and all that they hold.

    Raise cleaning.NotCleaned if a server cannot be deleted.
    """
    admin = cloud.requests
    name = f'{prefix}-{runtime.new_uuid()[:8]}'
    with contextlib.ExitStack() as undo:
        directory = undo.enter_context(tempfile.TemporaryDirectory(prefix='nova-lite-project-'))
        project_id = admin.create('identity', '/projects', {'project': {'name': name}})['id']
        undo.callback(admin.delete, 'identity', f'/projects/{project_id}')
        password = runtime.new_secret()
        user_id = _create_user(admin, name, password)
        undo.callback(admin.delete, 'identity', f'/users/{user_id}')
        path = f'/projects/{project_id}/users/{user_id}/roles/{cloud.member_role_id}'
        admin.call('identity', 'PUT', path)
        undo.callback(unlimited_quotas.forget, admin, project_id, defaults=cloud.is_unlimited)
        unlimited_quotas.lift(admin, project_id, defaults=cloud.is_unlimited)
        undo.callback(project_purge.clean, cloud, project_id=project_id, user_id=user_id)
        made = Project(
            cloud=cloud,
            id=project_id,
            name=name,
            user_id=user_id,
            password=password,
            network_id=_create_network(cloud, project_id),
            clouds_yaml=_write_clouds(
                cloud, os.path.join(directory, 'clouds.yaml'), name, password
            ),
        )
        undo.callback(made.close)
        yield made


def _create_user(admin: admin_requests.Services, name: str, password: str) -> str:
    wanted = {'user': {'name': name, 'password': password}}
    return str(admin.create('identity', '/users', wanted)['id'])


def _create_network(cloud: clouds.Cloud, project_id: str) -> str:
    """Create a network with a subnet and, where there is an external network, a router to it."""

    def create(kind: str, **wanted: typing.Any) -> str:
        body = {kind: {'name': NETWORK, 'project_id': project_id, **wanted}}
        return str(cloud.requests.create('network', f'/{kind}s', body)['id'])

    network_id = create('network')
    subnet_id = create('subnet', network_id=network_id, ip_version=4, cidr=CIDR)
    if cloud.external_network_id is not None:
        gateway = {'network_id': cloud.external_network_id}
        router_id = create('router', external_gateway_info=gateway)
        path = f'/routers/{router_id}/add_router_interface'
        cloud.requests.call('network', 'PUT', path, {'subnet_id': subnet_id})
    return network_id


def _write_clouds(cloud: clouds.Cloud, path: str, name: str, password: str) -> str:
    """Write clouds.yaml for the user: as the administrator's, with other credentials."""
    with open(cloud.clouds_yaml) as file:
        admins = yaml.safe_load(file)['clouds'][client_connections.ADMIN]
    own = {'username': name, 'project_name': name, 'password': password}
    layout.write(
        path, yaml.safe_dump({'clouds': {CLOUD: {**admins, 'auth': {**admins['auth'], **own}}}})
    )
    return path
