"""The decisions how each server leaves a host, as functions without side effects."""

import dataclasses
import enum
import typing

from nova_lite import states
from nova_lite.states import transitions

# A server, a migration or a service, as the API shows it.
Json: typing.TypeAlias = dict[str, typing.Any]

_V = states.VmState
EVACUATED = (_V.ACTIVE, _V.STOPPED, _V.ERROR)
HINTS = {
    _V.SUSPENDED: 'suspended: resume or shelve it',
    _V.RESCUED: 'rescued: unrescue it',
    _V.RESIZED: 'resized: confirm or revert its last resize or migration',
    _V.SHELVED: 'shelved: offload it',
    _V.SOFT_DELETED: 'soft-deleted: force-delete it, or wait until it is reclaimed',
    _V.ERROR: 'in ERROR: reset its state, or delete it',
    _V.PAUSED: 'paused: only live migration can move it',
}
LIVE_STATES = transitions.LIVE_MIGRATE.vm_states or ()
COLD_STATES = transitions.MIGRATE.vm_states or ()
OVER = frozenset(str(status) for status in states.MIGRATION_OVER) | {'finished', 'done'}


class How(enum.StrEnum):
    """The way in which a server leaves the host."""

    LIVE = 'live'
    COLD = 'cold'
    EVACUATE = 'evacuate'
    # The server is already being moved. The command waits for the end of that move.
    FOLLOW = 'follow'
    # The server has left. Its old guest stays on the host until the move is confirmed.
    CONFIRM = 'confirm'
    WAITS = 'waits'
    STAYS = 'stays'


ACTIVE_KINDS = (How.LIVE, How.COLD, How.EVACUATE, How.FOLLOW, How.CONFIRM)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One server of the plan.

    reason: why the server stays or waits
    cold_instead: whether the server is cold migrated if its live migration is refused
    """

    uuid: str
    name: str
    status: str
    how: How
    reason: str = ''
    cold_instead: bool = False

    @property
    def is_work(self) -> bool:
        return self.how in ACTIVE_KINDS


def entry(server: Json, how: How, reason: str = '', *, cold_instead: bool = False) -> Entry:
    """Return the entry of a server. server: as the API shows it"""
    name = server.get('name', '')
    return Entry(server['id'], name, server['status'], how, reason, cold_instead)


def drain(
    server: Json, migration: Json | None = None, *, cold: bool = True, live: bool = True
) -> Entry:
    """Return the entry of a server on a host that is up.

    migration: the newest migration of the server if the server is leaving this host, else None
    cold, live: whether cold and live migrations are allowed
    """
    if migration is not None:
        return entry(server, How.FOLLOW, f'{migration["migration_type"]} {migration["status"]}')
    reason = _held_back(server)
    if reason:
        return entry(server, How.STAYS, reason)
    state = server['OS-EXT-STS:vm_state']
    if live and state in LIVE_STATES:
        return entry(server, How.LIVE, cold_instead=cold and state in COLD_STATES)
    if cold and state in COLD_STATES:
        return entry(server, How.COLD)
    if state == _V.STOPPED:
        return entry(server, How.STAYS, 'stopped: live migration cannot move it')
    return entry(server, How.STAYS, HINTS.get(state, f'its state is {state}'))


def _held_back(server: Json) -> str | None:
    task = server['OS-EXT-STS:task_state']
    if task is not None:
        return f'busy: {task}'
    if server.get('locked'):
        why = server.get('locked_reason')
        return f'locked: {why}' if why else 'locked'
    return None


def evacuation(server: Json, migration: Json | None = None) -> Entry:
    """Return the entry of a server on a host that is down."""
    if migration is not None and migration['migration_type'] == states.MigrationType.EVACUATION:
        return entry(server, How.FOLLOW, f'evacuation {migration["status"]}')
    state = server['OS-EXT-STS:vm_state']
    if state in EVACUATED:
        if server['OS-SRV-USG:launched_at'] is None:
            return entry(server, How.STAYS, 'never launched: delete it')
        return entry(server, How.EVACUATE)
    if state == _V.PAUSED:
        return entry(server, How.STAYS, 'paused: reset its state and run the command again')
    return entry(server, How.STAYS, HINTS.get(state, f'its state is {state}'))


def kept(server: Json, migration: Json, *, confirm: bool = False) -> Entry:
    """Return the entry of a server that has left the host and whose old guest is still there."""
    if migration['migration_type'] != states.MigrationType.MIGRATION:
        return entry(server, How.WAITS, 'resized: its user must confirm or revert the resize')
    if confirm:
        return entry(server, How.CONFIRM)
    return entry(server, How.WAITS, 'cold migrated: use --confirm to remove its old guest')


def is_under_way(migration: Json, host: str) -> bool:
    """Return whether a migration leaves a host and has not ended."""
    return migration['source_compute'] == host and migration['status'] not in OVER
