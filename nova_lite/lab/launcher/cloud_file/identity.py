"""Projects with their quotas, and users with their roles."""

from collections.abc import Mapping
import typing

from nova_lite import runtime
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import defaults

Json: typing.TypeAlias = dict[str, typing.Any]
DOMAIN = 'default'


class Quota(typing.NamedTuple):
    """Paths of the limits of a project in an API. key: of a body"""

    path: str
    key: str
    defaults: str


QUOTAS = {
    'compute': Quota('/os-quota-sets/{}', 'quota_set', '/os-quota-sets/{}/defaults'),
    'network': Quota('/v2.0/quotas/{}', 'quota', '/v2.0/quotas/{}/default'),
    'volume': Quota('/os-quota-sets/{}', 'quota_set', '/os-quota-sets/{}/defaults'),
}


def create_project(api: apis.Api, entry: Json) -> None:
    """Create a project unless every cloud has it, and set its quotas. Raise Refused."""
    if entry['name'] not in defaults.NAMES['projects']:
        wanted = {'name': entry['name'], 'domain_id': DOMAIN}
        if 'description' in entry:
            wanted['description'] = entry['description']
        api.create('identity', '/v3/projects', {'project': wanted})
    project_id = api.project_id(entry['name'])
    for service, limits in entry.get('quotas', {}).items():
        quota = QUOTAS[service]
        api.call(service, 'PUT', quota.path.format(project_id), {quota.key: limits})


def read_projects(api: apis.Api) -> list[Json]:
    """Return the entries of projects that not every cloud has, and of projects with quotas."""
    found = []
    for project in api.list('identity', '/v3/projects', 'projects'):
        entry: Json = {'name': project['name']}
        is_default = project['name'] in defaults.NAMES['projects']
        if project.get('description') and not is_default:
            entry['description'] = project['description']
        limits = {service: _changed(api, service, project['id']) for service in QUOTAS}
        entry['quotas'] = {service: values for service, values in limits.items() if values}
        if not entry['quotas']:
            del entry['quotas']
        if not is_default or 'quotas' in entry:
            found.append(entry)
    return found


def _changed(api: apis.Api, service: str, project_id: str) -> dict[str, int]:
    """Return the limits of a project that differ from the cloud's defaults."""
    quota = QUOTAS[service]
    now, usual = (
        api.call(service, 'GET', path.format(project_id))[quota.key]
        for path in (quota.path, quota.defaults)
    )
    return {
        name: value
        for name, value in now.items()
        if isinstance(value, int) and value != usual.get(name)
    }


def with_passwords(users: list[Json]) -> list[Json]:
    """Return the entries of users. An entry without a password gets one."""
    return [{'password': runtime.new_secret(), **entry} for entry in users]


def create_user(api: apis.Api, entry: Json) -> None:
    """Create a user with roles in projects. Raise Refused."""
    wanted = {'name': entry['name'], 'password': entry['password'], 'domain_id': DOMAIN}
    user = api.create('identity', '/v3/users', {'user': wanted})
    for project, roles in entry['projects'].items():
        for role in roles:
            grant(api, project, user['id'], role)


def grant(api: apis.Api, project: str, user_id: str, role: str, *, method: str = 'PUT') -> None:
    """Give a user a role in a project. method: DELETE to take it. Raise Refused."""
    role_id = api.id_of('identity', '/v3/roles', 'roles', role)
    project_id = api.project_id(project)
    path = f'/v3/projects/{project_id}/users/{user_id}/roles/{role_id}'
    api.call('identity', method, path)


def roles_of(api: apis.Api) -> dict[str, dict[str, list[str]]]:
    """Return {user: {project: [role]}} of all users that have a role in a project."""
    found: dict[str, dict[str, list[str]]] = {}
    rows = api.list('identity', '/v3/role_assignments', 'role_assignments', include_names=1)
    for row in rows:
        project = row.get('scope', {}).get('project')
        if project and 'user' in row and 'OS-INHERIT:inherited_to' not in row['scope']:
            roles = found.setdefault(row['user']['name'], {}).setdefault(project['name'], [])
            roles.append(row['role']['name'])
    return found


def read_users(api: apis.Api, passwords: Mapping[str, str]) -> list[Json]:
    """Return the entries of users that not every cloud has. passwords: known passwords by user"""
    found = []
    for name, projects in sorted(roles_of(api).items()):
        if name not in defaults.NAMES['users']:
            entry: Json = {'name': name}
            if name in passwords:
                entry['password'] = passwords[name]
            entry['projects'] = {each: sorted(roles) for each, roles in projects.items()}
            found.append(entry)
    return found
