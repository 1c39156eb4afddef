"""The end of a drill: the cloud has the faults, hosts and servers that it had before."""

from collections.abc import Callable
from collections.abc import Iterator

from nova_lite import exception
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import stage as stages
from nova_lite.lab.scenarios import step_actions

GONE_S = 120.0
UP_S = 60.0
OPEN = ('running', 'parked', 'stopped')


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


def require_no_servers(cloud: clients.Cloud) -> None:
    """Raise InUse if the cloud has servers that the end of a drill would take for its own."""
    found = _named(cloud)
    if found:
        what = f'servers whose names begin with {stages.PREFIX}'
        command = f'openstack server delete --all-projects {" ".join(found)}'
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
    """Undo the changes of a drill that remain. Yield (the action, why it failed or '')."""
    heal(stage.cloud)
    running = stage.processes.end()
    yield 'End commands', f'still running: {", ".join(running)}' if running else ''
    # A server is deleted without its guest while its host is down.
    down = [host for host in stage.record.hosts if not _is_true(_is_in_use, stage, host)]
    yield 'Enable the hosts', f'not up and enabled: {", ".join(down)}' if down else ''
    servers = _servers(stage)
    left = [uuid for uuid in servers if not _is_true(_is_deleted, stage, uuid)]
    yield 'Delete the servers', f'not deleted: {", ".join(left)}' if left else ''
    busy = [uuid for uuid in servers if not _is_true(_is_over, stage, uuid)]
    yield 'Wait for the end of the moves', f'moves of {", ".join(busy)} go on' if busy else ''
    for change in reversed(stage.record.undo):
        yield f'{change["method"]} {change["path"]}', _failure(stage, change)


def _servers(stage: stages.Stage) -> list[str]:
    """Return the uuids of all servers of drills, also of those whose creation got no answer."""
    try:
        found = _named(stage.cloud)
    except exception.Unavailable:
        found = []
    return sorted({*stage.servers.values(), *found})


def _named(cloud: clients.Cloud) -> list[str]:
    found = cloud.read(f'/servers?all_tenants=1&name=^{stages.PREFIX}')['servers']
    return [each['id'] for each in found]


def _failure(stage: stages.Stage, change: kept.Undo) -> str:
    try:
        step_actions.undo(stage, change)
    except (stages.NotAsExpected, exception.Unavailable) as error:
        return str(error)
    return ''


def _is_true(check: Callable[[stages.Stage, str], bool], stage: stages.Stage, what: str) -> bool:
    """Return the result of a check, False if a service does not answer, so that undoing goes on."""
    try:
        return check(stage, what)
    except exception.Unavailable:
        return False


def _is_deleted(stage: stages.Stage, uuid: str) -> bool:
    """Delete a server, which may be moving; return whether it is gone in time."""

    def look() -> int:
        status = stage.cloud.request('GET', f'/servers/{uuid}').status_code
        if status != 404:
            stage.cloud.request('DELETE', f'/servers/{uuid}')
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
        found = stage.cloud.read(f'/os-services?host={host}&binary=nova-compute')
        service = found['services'][0]
        if service['status'] != 'enabled' or service['forced_down']:
            # The request is refused until the host has removed the guests that were evacuated.
            body = {'status': 'enabled', 'forced_down': False}
            stage.cloud.request('PUT', f'/os-services/{service["id"]}', body)
            return False
        return bool(service['state'] == 'up')

    return stage.wait(look, bool, UP_S)
