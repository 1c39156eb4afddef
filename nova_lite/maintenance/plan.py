"""What is to become of each server of a host. Plain decisions, nothing is asked or done."""

import dataclasses
import enum

from nova_lite import states
from nova_lite import transitions

_V = states.VmState
EVACUATED = (_V.ACTIVE, _V.STOPPED, _V.ERROR)
HINTS = {
    _V.SUSPENDED: 'suspended: resume or shelve it',
    _V.RESCUED: 'rescued: unrescue it',
    _V.RESIZED: 'its last resize or migration waits to be confirmed or reverted',
    _V.SHELVED: 'shelved: offload it',
    _V.SOFT_DELETED: 'deleted, and not reclaimed yet: delete it by force, or wait',
    _V.ERROR: 'in error: reset its state, or delete it',
    _V.PAUSED: 'paused: only a live migration moves it',
}
OVER = frozenset(str(status) for status in states.MIGRATION_OVER) | {'finished', 'done'}


class How(enum.StrEnum):
    """How a server leaves the host."""

    LIVE = 'live'
    COLD = 'cold'
    EVACUATE = 'evacuate'
    # A move of before is under way; it is watched.
    FOLLOW = 'follow'
    # It has left, and a copy of it is kept on the host until it is confirmed.
    CONFIRM = 'confirm'
    WAITS = 'waits'
    STAYS = 'stays'


ACTIVE_KINDS = (How.LIVE, How.COLD, How.EVACUATE, How.FOLLOW, How.CONFIRM)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One server of the plan. reason: why it stays or waits"""

    uuid: str
    name: str
    status: str
    how: How
    reason: str = ''
    cold_instead: bool = False

    @property
    def is_work(self):
        return self.how in ACTIVE_KINDS


def entry(server, how, reason='', *, cold_instead=False):
    """The Entry of a server as the API shows it."""
    name = server.get('name', '')
    return Entry(server['id'], name, server['status'], how, reason, cold_instead)


def drain(server, migration=None, *, cold=True, live=True):
    """How a server leaves a host that is up.

    migration: the server's newest one, if it leaves this host and has not ended
    cold, live: whether such moves are allowed
    """
    if migration is not None:
        return entry(server, How.FOLLOW, f'{migration["migration_type"]} {migration["status"]}')
    reason = _held_back(server)
    if reason:
        return entry(server, How.STAYS, reason)
    state = server['OS-EXT-STS:vm_state']
    if live and state in transitions.LIVE_MIGRATE.vm_states:
        return entry(server, How.LIVE, cold_instead=cold and state in transitions.MIGRATE.vm_states)
    if cold and state in transitions.MIGRATE.vm_states:
        return entry(server, How.COLD)
    if state == _V.STOPPED:
        return entry(server, How.STAYS, 'off: no live migration moves it')
    return entry(server, How.STAYS, HINTS.get(state, f'its state is {state}'))


def _held_back(server):
    task = server['OS-EXT-STS:task_state']
    if task is not None:
        return f'busy: {task}'
    if server.get('locked'):
        why = server.get('locked_reason')
        return f'locked: {why}' if why else 'locked'
    return None


def evacuation(server, migration=None):
    """How a server leaves a host that is down."""
    if migration is not None and migration['migration_type'] == states.MigrationType.EVACUATION:
        return entry(server, How.FOLLOW, f'evacuation {migration["status"]}')
    state = server['OS-EXT-STS:vm_state']
    if state in EVACUATED:
        if server['OS-SRV-USG:launched_at'] is None:
            return entry(server, How.STAYS, 'it never ran: delete it')
        return entry(server, How.EVACUATE)
    if state == _V.PAUSED:
        return entry(server, How.STAYS, 'paused: reset its state, then run this again')
    return entry(server, How.STAYS, HINTS.get(state, f'its state is {state}'))


def kept(server, migration, *, confirm=False):
    """What becomes of a server that has left the host but for its old copy there."""
    if migration['migration_type'] != states.MigrationType.MIGRATION:
        return entry(server, How.WAITS, 'left by a resize that its user confirms or reverts')
    if confirm:
        return entry(server, How.CONFIRM)
    return entry(server, How.WAITS, 'left by a cold migration: say --confirm')


def is_under_way(migration, host):
    """Whether a migration leaves the host and has not come to an end."""
    return migration['source_compute'] == host and migration['status'] not in OVER
