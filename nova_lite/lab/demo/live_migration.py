"""Scenes: live migration, abort and force complete, forced hosts, evacuation.

The profile sets the duration of a copy by the name of the server.
"""

import os
import typing

from openstack.compute.v2 import server as server_module
from openstack.compute.v2 import service as service_module

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.demo import presenter as presenters
from nova_lite.virt.sim import hostpower

PROFILE = """
guests:
  - match: {server: 'steady-*'}
    live_migration: {bandwidth_mb_s: 200, dirty_rate_mb_s: 60}
  - match: {server: 'busy-*'}
    live_migration: {bandwidth_mb_s: 200, converges: false}
"""
ENDED = ('completed', 'cancelled', 'failed', 'error', 'done')
LATEST = '2.96'
MIB = 2**20
LOOK_S = 1.0

Json: typing.TypeAlias = dict[str, typing.Any]


def write_profile(directory: str) -> str:
    """Write the profile for these scenes. Return its path."""
    path = os.path.join(directory, 'demo-profile.yaml')
    with open(path, 'w') as file:
        file.write(PROFILE)
    return path


def watched(presenter: presenters.Presenter) -> None:
    """Live migrate a server, and print the counters of the migration."""
    presenter.title('Live migration: memory is copied in rounds while the guest runs')
    server = presenter.wait(presenter.boot('steady-1'))
    _migrate(presenter, server)
    seen: list[Json] = []
    while (migration := _running(presenter, server)) or presenter.migration_status(
        server
    ) not in ENDED:
        if migration and migration['memory_total_bytes']:
            seen.append(migration)
            presenter.say(
                '{status}: {memory_processed_bytes:>4} MiB sent, {memory_remaining_bytes:>3} of '
                '{memory_total_bytes} MiB left in this round'.format(**_in_mib(migration))
            )
        runtime.sleep(LOOK_S)
    moved = presenter.wait(server)
    presenter.say(f'{presenter.migration_status(server)}: now on {presenter.where(moved)}')
    presenter.check(moved.compute_host != server.compute_host, 'the server runs on another host')
    presenter.check(
        seen and seen[-1]['memory_processed_bytes'] > seen[0]['memory_processed_bytes'],
        'the counters increased',
    )
    presenter.delete([server])


def ended_early(presenter: presenters.Presenter) -> None:
    """Abort a live migration that does not converge, then force another to complete."""
    presenter.title('A guest writes faster than its memory is copied: abort, then force complete')
    server = presenter.wait(presenter.boot('busy-1'))
    path = f'/servers/{server.id}/migrations'
    _migrate(presenter, server)
    number = _wait_running(presenter, server)
    presenter.admin.compute.delete(f'{path}/{number}', microversion=LATEST)
    presenter.check(_ended(presenter, server) == 'cancelled', 'aborted: the migration is cancelled')
    after = presenter.wait(server)
    presenter.check(after.compute_host == server.compute_host, 'the guest has not moved')
    _migrate(presenter, server)
    number = _wait_running(presenter, server)
    body = {'force_complete': None}
    presenter.admin.compute.post(f'{path}/{number}/action', json=body, microversion=LATEST)
    presenter.check(
        _ended(presenter, server) == 'completed',
        'forced: the guest was paused for the rest of the copy',
    )
    presenter.delete([server])


def checked(presenter: presenters.Presenter) -> None:
    """Live migrate a server to a named host, which the scheduler checks unless it is forced."""
    presenter.title('The scheduler checks a host that an operator names, unless it is forced')
    compute = presenter.admin.compute
    server = presenter.wait(presenter.boot('visitor'))
    cell = server.compute_host.split('-')[0]
    closed = next(
        node.name
        for node in compute.hypervisors()
        if node.name.startswith(f'{cell}-') and node.name != server.compute_host
    )
    service = next(each for each in compute.services(binary='nova-compute') if each.host == closed)
    compute.disable_service(service)
    _migrate(presenter, server, closed)
    presenter.check(_ended(presenter, server) == 'error', f'{closed} is disabled: refused')
    after = presenter.wait(server)
    presenter.check(after.compute_host == server.compute_host, 'the server has not moved')
    content = {'block_migration': 'auto', 'host': closed, 'force': True}
    _act(presenter, server, 'os-migrateLive', content, version='2.67')
    presenter.check(
        _ended(presenter, server) == 'completed', f'forced: the server moved to {closed}'
    )
    action = next(iter(compute.server_actions(server)))
    presenter.say(f'message of its instance action: {action.message}')
    compute.enable_service(service)
    presenter.delete([server])


def evacuation(presenter: presenters.Presenter) -> None:
    """Power off a host, evacuate its server, and power the host on again."""
    presenter.title('A host fails: its server is evacuated, and the host cleans up when it returns')
    compute = presenter.admin.compute
    server = presenter.wait(presenter.boot('survivor'))
    source = server.compute_host
    guests = _guests_of(presenter, source)
    hostpower.power_off(guests, source)
    service = next(each for each in compute.services(binary='nova-compute') if each.host == source)
    _force_down(presenter, service, True)
    presenter.say(f'{source} is powered off and forced down')
    _act(presenter, server, 'evacuate', {}, version='2.94')
    presenter.check(_ended(presenter, server) == 'done', 'the evacuation is done')
    rebuilt = presenter.wait(server)
    presenter.say(f'{server.name}: {rebuilt.status} on {presenter.where(rebuilt)}')
    presenter.check(rebuilt.compute_host != source, 'it runs on another host')
    presenter.check(
        _force_down(presenter, service, False) == 400,
        f'{source} stays forced down until it has removed the guest',
    )
    hostpower.power_on(guests, source)
    presenter.wait_for(lambda: presenter.migration_status(server) == 'completed')
    presenter.check(
        _force_down(presenter, service, False) == 200, f'{source} is up and has removed the guest'
    )
    presenter.delete([server])


# ---- requests -------------------------------------------------------------


def _act(
    presenter: presenters.Presenter,
    server: server_module.Server,
    action: str,
    content: Json,
    *,
    version: str = LATEST,
) -> None:
    path = f'/servers/{server.id}/action'
    presenter.admin.compute.post(path, json={action: content}, microversion=version)


def _migrate(
    presenter: presenters.Presenter, server: server_module.Server, host: str | None = None
) -> None:
    _act(presenter, server, 'os-migrateLive', {'block_migration': 'auto', 'host': host})


def _running(
    presenter: presenters.Presenter, server: server_module.Server, status: str | None = None
) -> Json | None:
    """Return the live migration of a server that is in progress, with a status, or None."""
    path = f'/servers/{server.id}/migrations'
    for found in presenter.admin.compute.get(path, microversion=LATEST).json()['migrations']:
        if status in (None, found['status']):
            migration: Json = found
            return migration
    return None


def _wait_running(presenter: presenters.Presenter, server: server_module.Server) -> int:
    """Wait until the live migration of a server copies its memory. Return the id."""
    found = presenter.wait_for(lambda: _running(presenter, server, 'running'))
    if found is None:
        raise exception.Unavailable(service=f'Server {server.name}', reason='it does not move')
    number: int = found['id']
    return number


def _in_mib(migration: Json) -> Json:
    return {
        name: value // MIB if name.startswith('memory') else value
        for name, value in migration.items()
    }


def _ended(presenter: presenters.Presenter, server: server_module.Server) -> str:
    """Wait until the newest migration of a server has ended. Return its status."""
    presenter.wait_for(lambda: presenter.migration_status(server) in ENDED)
    return presenter.migration_status(server)


def _guests_of(presenter: presenters.Presenter, host: str) -> str:
    """Return the path of the file with the guests of a host."""
    cell = host.split('-')[0]
    return os.path.join(presenter.cloud.confs[f'compute-{cell}'].state_path, 'guests.sqlite')


def _force_down(
    presenter: presenters.Presenter, service: service_module.Service, down: bool
) -> int:
    """Force a service down, or end that. Return the status code of the response."""
    body = {'forced_down': down}
    path = f'/os-services/{service.id}'
    return presenter.admin.compute.put(path, json=body, microversion=LATEST).status_code
