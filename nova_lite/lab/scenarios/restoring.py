"""The end of a drill: the cloud has the faults, hosts, servers and volumes that it had before."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import typing

from nova_lite import exception
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import control_client
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import stage as stages
from nova_lite.lab.scenarios import step_actions

GONE_S = 120.0
UP_S = 60.0
OPEN = ('running', 'parked', 'stopped')
# Errors that end one action of a restore, and not the restore.
ERRORS = (stages.NotAsExpected, exception.Unavailable, control_client.Refused)


class InUse(exception.Conflict):
    msg = (
        'The cloud in %(directory)s has %(what)s, which a drill would remove at its end. First run '
        '`%(command)s`'
    )


def require_no_faults(cloud: clients.Cloud) -> None:
    """Raise InUse if the cloud has faults, breakpoints or a changed clock. Raise Unavailable."""
    control = cloud.control
    clock = control.get('clock')
    shown, points = control.get('faults'), control.get('breakpoints')
    for found, what, command in (
        (any(shown.values()), 'injected faults', 'nova-lite fault clear'),
        (points['breakpoints'], 'breakpoints', 'nova-lite saga break --remove all'),
        (points['stopped'], 'stopped moves', 'nova-lite saga go SERVER'),
        (clock['frozen'], 'a frozen clock', 'nova-lite clock resume'),
        (clock['rate'] != 1, 'a clock with another rate', 'nova-lite clock resume'),
    ):
        if found:
            raise InUse(directory=cloud.directory, what=what, command=command)


def require_none_of_drills(cloud: clients.Cloud) -> None:
    """Raise InUse if the cloud has servers or volumes that the end of a drill would delete."""
    for found, what, command in (
        (_servers_of_drills(cloud), 'servers', 'openstack server delete --all-projects'),
        (_volumes_of_drills(cloud), 'volumes', 'openstack volume delete'),
    ):
        if found:
            what = f'{what} whose names begin with {stages.PREFIX}'
            command = f'{command} {" ".join(found)}'
            raise InUse(directory=cloud.directory, what=what, command=command)


def heal(cloud: clients.Cloud) -> None:
    """Remove all faults and breakpoints, continue stopped moves, and resume the clock."""
    control = cloud.control
    clock = control.get('clock')
    if clock['frozen'] or clock['rate'] != 1:
        control.post('clock', action='resume')
    shown = control.get('faults')
    if shown['failures']:
        control.post('faults/clear')
    if shown['buses_cut'] or shown['buses_frozen']:
        control.post('bus', state='healed')
    for name in shown['databases_down']:
        control.post('cell', name=name, state='up')
    for name in shown['hosts_off']:
        control.post('host', name=name, power='on')
    points = control.get('breakpoints')
    if points['breakpoints']:
        control.post('breakpoints/remove')
    for saga in points['stopped']:
        control.post('saga/go', server=saga['server'])


def restore(stage: stages.Stage) -> Iterator[tuple[str, str]]:
    """Undo the changes of a drill that remain. Yield (the action, why it failed or '').

    Each action does no harm if there is nothing to undo, or if it was done before.
    """
    yield 'Remove the faults', _failure(heal, stage.cloud)
    running = stage.processes.end()
    yield 'End commands', f'still running: {", ".join(running)}' if running else ''
    # A server is deleted without its guest while its host is down.
    down = _remaining(_is_in_use, stage, stage.record.hosts)
    yield 'Enable the hosts', f'not up and enabled: {down}' if down else ''
    servers, failure = _found(_servers_of_drills, stage)
    servers = sorted({*stage.servers.values(), *servers})
    left = failure or _remaining(_is_deleted, stage, servers)
    yield 'Delete the servers', f'not deleted: {left}' if left else ''
    busy = _remaining(_is_over, stage, servers)
    yield 'Wait for the end of the moves', f'these go on: {busy}' if busy else ''
    volumes, failure = _found(_volumes_of_drills, stage)
    left = failure or _remaining(_is_volume_deleted, stage, volumes)
    yield 'Delete the volumes', f'not deleted: {left}' if left else ''
    for change in reversed(stage.record.undo):
        failure = _failure(step_actions.undo, stage, change)
        yield f'{change["method"]} {change["path"]}', failure


def _servers_of_drills(cloud: clients.Cloud) -> list[str]:
    """Return the uuids of all servers of drills, also of those whose creation got no answer."""
    found = cloud.read(f'/servers?all_tenants=1&name=^{stages.PREFIX}')['servers']
    return [each['id'] for each in found]


def _volumes_of_drills(cloud: clients.Cloud) -> list[str]:
    """Return the ids of all volumes of drills, also of those whose creation got no answer."""
    found = cloud.read('/volumes?all_tenants=1', service='volume')['volumes']
    return [each['id'] for each in found if (each['name'] or '').startswith(stages.PREFIX)]


def _found(
    find: Callable[[clients.Cloud], list[str]], stage: stages.Stage
) -> tuple[list[str], str]:
    """Return the result of a search, and why it failed or ''."""
    try:
        return find(stage.cloud), ''
    except exception.Unavailable as error:
        return [], messages.of(error)


def _failure(undo: Callable[..., None], *arguments: typing.Any) -> str:
    """Undo something. Return why that failed, or ''."""
    try:
        undo(*arguments)
    except ERRORS as error:
        return messages.of(error)
    return ''


def _remaining(
    check: Callable[[stages.Stage, str], bool], stage: stages.Stage, names: Sequence[str]
) -> str:
    """Check objects one after the other. Return a text with those that failed, and why."""
    found = {}
    for name in names:
        try:
            if not check(stage, name):
                found[name] = ''
        except exception.Unavailable as error:
            found[name] = f' ({messages.of(error)})'
    return ', '.join(f'{name}{reason}' for name, reason in found.items())


def _is_deleted(stage: stages.Stage, uuid: str) -> bool:
    """Delete a server, which may be moving; return whether it is gone in time."""
    return _is_gone(stage, f'/servers/{uuid}')


def _is_volume_deleted(stage: stages.Stage, uuid: str) -> bool:
    """Delete a volume, which may be in use for a moment; return whether it is gone in time."""
    return _is_gone(stage, f'/volumes/{uuid}', service='volume')


def _is_gone(stage: stages.Stage, path: str, service: str = clients.COMPUTE) -> bool:
    def look() -> int:
        status = stage.cloud.request('GET', path, service=service).status_code
        if status != 404:
            stage.cloud.request('DELETE', path, service=service)
        return status

    return stage.wait(look, lambda status: status == 404, GONE_S) == 404


def _is_over(stage: stages.Stage, uuid: str) -> bool:
    """Return whether the last move of a server has ended in time."""

    def look() -> bool:
        # For a server without a move the answer is 409.
        status, found = stage.cloud.look(f'/saga?server={uuid}', service=clients.CONTROL)
        return status == 200 and found['state'] in OPEN

    return not stage.wait(look, lambda is_open: not is_open, GONE_S)


def _is_in_use(stage: stages.Stage, host: str) -> bool:
    """Enable the service of a host, and wait until it is up. Return whether it is up in time."""

    def look() -> bool:
        found = stage.cloud.read(f'/os-services?host={host}&binary=nova-compute')['services']
        if not found:
            raise exception.Unavailable(service=f'Host {host}', reason='it has no service')
        service = found[0]
        if service['status'] != 'enabled' or service['forced_down']:
            # The request is refused until the host has removed the guests that were evacuated.
            body = {'status': 'enabled', 'forced_down': False}
            stage.cloud.request('PUT', f'/os-services/{service["id"]}', body)
            return False
        return bool(service['state'] == 'up')

    return stage.wait(look, bool, UP_S)
