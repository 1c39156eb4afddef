"""Delete all that a project and its user hold, in the order in which one needs the other."""

from collections.abc import Generator
import contextlib
import http

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import events_endpoint
from nova_lite.lab.testing import admin_requests
from nova_lite.lab.testing import clouds

LIMIT_S = 60
# Interval of polling in a cloud of several processes, which does not stream notifications.
PAUSE_S = 0.1
DELETED = 'instance.delete.end'
# Microversions: a list of the groups of all projects has their project; keypairs of others.
OF_PROJECT = '2.13'
OF_USER = '2.10'
ROUTER_PORT, GATEWAY_PORT = 'network:router_interface', 'network:router_gateway'


class NotCleaned(exception.Conflict):
    msg = 'Project %(project)s still has servers after %(seconds)s s: %(servers)s'


def clean(cloud: clouds.Cloud, *, project_id: str, user_id: str) -> None:
    """Delete the resources of a project, not the project itself. Raise NotCleaned."""
    admin = cloud.requests
    _trunks(admin, project_id)
    _servers(admin, cloud.state_dir, project_id)
    _groups_and_keypairs(admin, project_id, user_id)
    _volumes(admin, project_id)
    _shares(admin, project_id)
    _images(admin, project_id)
    _networks(admin, project_id)


def _trunks(admin: admin_requests.Services, project_id: str) -> None:
    """Delete the trunks: a server with the parent port of one is not deleted before."""
    for trunk in admin.list('network', '/trunks', project_id=project_id):
        admin.delete('network', f'/trunks/{trunk["id"]}')


def _servers(admin: admin_requests.Services, state_dir: str, project_id: str) -> None:
    """Delete the servers, and those that appear in the meantime, and wait for their end."""

    def remaining() -> list[admin_requests.Json]:
        return admin.list(
            'compute', '/servers', all_tenants=True, soft_deleted=True, project_id=project_id
        )

    found = remaining()
    if not found:
        return
    until = runtime.monotonic() + LIMIT_S
    asked: set[str] = set()
    with contextlib.closing(_moments(state_dir)) as moments:
        # Listen before something is deleted.
        next(moments)
        while found:
            if runtime.monotonic() > until:
                left = ', '.join(each['id'] for each in found)
                raise NotCleaned(project=project_id, seconds=LIMIT_S, servers=left)
            for server_id in {each['id'] for each in found} - asked:
                _delete_server(admin, server_id)
                asked.add(server_id)
            next(moments)
            found = remaining()


def _delete_server(admin: admin_requests.Services, server_id: str) -> None:
    _act(admin, 'compute', f'/servers/{server_id}', {'forceDelete': None})


def _act(
    admin: admin_requests.Services, service: str, path: str, body: admin_requests.Json
) -> None:
    """Send an action, unless the resource is gone: the test may have deleted it already."""
    try:
        admin.call(service, 'POST', f'{path}/action', body)
    except admin_requests.Refused as error:
        if error.kwargs['status'] != http.HTTPStatus.NOT_FOUND:
            raise


def _moments(state_dir: str) -> Generator[None, None, None]:
    """Yield at once, when a server has been deleted, and once a second."""
    try:
        for message in events_endpoint.follow(state_dir):
            if message is None or message.get('event_type') == DELETED:
                yield
    except exception.Unavailable:
        # It has a process for each daemon, or stops.
        pass
    while True:
        yield
        runtime.sleep(PAUSE_S)


def _groups_and_keypairs(admin: admin_requests.Services, project_id: str, user_id: str) -> None:
    options: admin_requests.Json = {
        'headers': _version(OF_PROJECT),
        'params': {'all_projects': True},
    }
    for group in admin.call('compute', 'GET', '/os-server-groups', **options)['server_groups']:
        if group['project_id'] == project_id:
            admin.delete('compute', f'/os-server-groups/{group["id"]}')
    options = {'headers': _version(OF_USER), 'params': {'user_id': user_id}}
    for each in admin.call('compute', 'GET', '/os-keypairs', **options)['keypairs']:
        admin.delete('compute', f'/os-keypairs/{each["keypair"]["name"]}', **options)


def _version(number: str) -> dict[str, str]:
    return {'OpenStack-API-Version': f'compute {number}'}


def _volumes(admin: admin_requests.Services, project_id: str) -> None:
    wanted = {'all_tenants': True, 'project_id': project_id}
    for volume in admin.list(admin_requests.VOLUME, '/volumes', **wanted):
        _act(admin, admin_requests.VOLUME, f'/volumes/{volume["id"]}', {'os-force_delete': {}})
    # Snapshots of volumes that another project got, and backups, of which later ones, the first
    # in a list, add to earlier ones.
    for kind in ('snapshots', 'backups'):
        for each in admin.list(admin_requests.VOLUME, f'/{kind}', **wanted):
            _act(admin, admin_requests.VOLUME, f'/{kind}/{each["id"]}', {'os-force_delete': {}})


def _shares(admin: admin_requests.Services, project_id: str) -> None:
    wanted = {'all_tenants': 1, 'project_id': project_id}
    for share in admin.list(admin_requests.SHARE, '/shares', **wanted):
        admin.delete(admin_requests.SHARE, f'/shares/{share["id"]}')


def _images(admin: admin_requests.Services, project_id: str) -> None:
    for image in admin.list('image', '/images', owner=project_id):
        path = f'/images/{image["id"]}'
        if image['protected']:
            change = [{'op': 'replace', 'path': '/protected', 'value': False}]
            kind = {'Content-Type': 'application/openstack-images-v2.1-json-patch'}
            admin.call('image', 'PATCH', path, change, headers=kind)
        admin.delete('image', path)


def _networks(admin: admin_requests.Services, project_id: str) -> None:
    def found(kind: str) -> list[admin_requests.Json]:
        return admin.list('network', f'/{kind}', project_id=project_id)

    for address in found('floatingips'):
        admin.delete('network', f'/floatingips/{address["id"]}')
    ports = found('ports')
    inward = [each for each in ports if each['device_owner'] == ROUTER_PORT]
    for port in inward:
        path = f'/routers/{port["device_id"]}/remove_router_interface'
        admin.call('network', 'PUT', path, {'port_id': port['id']})
    for router in found('routers'):
        admin.delete('network', f'/routers/{router["id"]}')
    for port in ports:
        if port['device_owner'] not in (ROUTER_PORT, GATEWAY_PORT):
            admin.delete('network', f'/ports/{port["id"]}')
    for kind in ('networks', 'security-groups', 'subnetpools', 'address-scopes'):
        for each in found(kind):
            admin.delete('network', f'/{kind}/{each["id"]}')
