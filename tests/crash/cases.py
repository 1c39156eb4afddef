"""The kill tables: every step of every saga, before and after it, and who is killed.

Steps come from the code: a new one is a new case without a line here.
"""

import collections
import typing

from tests.crash import hooks
from tests.fixtures import saga_faults

SUPER, API = 'super-conductor', 'API'
SOURCE_CONDUCTOR, DEST_CONDUCTOR = 'source cell conductor', 'destination cell conductor'
SOURCE_COMPUTE, DEST_COMPUTE = 'source compute', 'destination compute'
ROLES = (SUPER, SOURCE_CONDUCTOR, DEST_CONDUCTOR, SOURCE_COMPUTE, DEST_COMPUTE, API)
# Other faults than a kill: brokers are restarted, a database is away, and a frozen
# super-conductor goes on once another has taken over what it had.
BROKERS = ('top broker', 'source broker', 'destination broker')
DATABASE, FROZEN = 'destination database', 'frozen super-conductor'
# Calls over the bus: who was called dies, or handles it when the caller waits no longer.
CALLED, LATE = 'who is called', 'late call or answer'
EVERYONE = (*ROLES, *BROKERS, DATABASE, FROZEN, CALLED, LATE)
CROSS_CELL, SAME_CELL, OTHER, CALLS = 'cross-cell', 'same-cell', 'other faults', 'calls'
# The API dies before it has answered; and who dies while a move is undone.
ACCEPT, UNDO = 'accept', 'undo'
# Who dies while a guest's memory is copied, and while that is aborted.
PHASES, ABORT = 'live phases', 'live abort'
# What changes the devices of a server that stays where it is.
DEVICES = 'devices'
# What is no saga: builds, deletions, power actions, and the acceptance of servers.
ACTIONS = 'actions'
IN_A_CELL = (SAME_CELL, PHASES, ABORT, DEVICES)
QUEUED, PREPARING, COPYING = 'queued', 'preparing', 'running'
POST_COPY, POST_MIGRATION = 'post-copy', 'post-migration'
# In the order in which they are brought about: who waits comes last.
ALL_PHASES = (POST_MIGRATION, COPYING, PREPARING, POST_COPY, QUEUED)
ABORT_CALLS = (
    'live_migration_abort',
    'rollback_live_migration',
    'rollback_live_migration_at_destination',
)


class Move(typing.NamedTuple):
    """A move that a user requests.

    done, undone: status of the server afterwards; None: it is gone
    begins: (status, whether it is at home) where it may be asked for
    arguments: of the saga, that steps depend on
    roles: who is killed, or meets another fault
    points: what cases are about that are not about the saga's steps
    whens: of each of them
    """

    kind: str
    done: str | None
    undone: str
    begins: tuple
    arguments: typing.Mapping = {}
    roles: tuple = (SUPER,)
    points: tuple = ()
    whens: tuple = hooks.WHENS


def _calls(*methods):
    return {'points': methods, 'roles': (CALLED, LATE)}


ACTIVE, MOVED = ('ACTIVE', True), ('VERIFY_RESIZE', False)
LIVE_ROLES = (SUPER, SOURCE_CONDUCTOR, SOURCE_COMPUTE, DEST_COMPUTE)
DURING = 'during'
DEVICE_ROLES = (SUPER, SOURCE_CONDUCTOR, SOURCE_COMPUTE)
DEVICE_SAGAS = {
    'attach-volume': {},
    'detach-volume': {},
    'swap-volume': {'old_volume_id': 'old', 'volume_id': 'new'},
    'attach-interface': {},
    'detach-interface': {},
}
LIVE = {'synchronous': False, 'forced': False}
SHELVE = {'offload': False, 'image': True}
TABLES = {
    CROSS_CELL: {
        'resize': Move('cross-cell-resize', 'VERIFY_RESIZE', 'ACTIVE', ACTIVE, roles=ROLES),
        'confirm': Move('cross-cell-confirm', 'ACTIVE', 'VERIFY_RESIZE', MOVED, roles=ROLES),
        'revert': Move('cross-cell-revert', 'ACTIVE', 'VERIFY_RESIZE', MOVED, roles=ROLES),
        'delete': Move(
            'cross-cell-confirm', None, 'VERIFY_RESIZE', MOVED, {'delete': True}, roles=ROLES
        ),
    },
    SAME_CELL: {
        'resize': Move('resize', 'VERIFY_RESIZE', 'ACTIVE', ACTIVE),
        'migrate': Move('migrate', 'VERIFY_RESIZE', 'ACTIVE', ACTIVE),
        'confirm': Move('confirm-resize', 'ACTIVE', 'VERIFY_RESIZE', MOVED),
        'revert': Move('revert-resize', 'ACTIVE', 'VERIFY_RESIZE', MOVED),
        'delete': Move('confirm-resize', None, 'VERIFY_RESIZE', MOVED, {'delete': True}),
        'live-migrate': Move(
            'live-migration',
            'ACTIVE',
            'ACTIVE',
            ACTIVE,
            LIVE,
            roles=(SUPER, SOURCE_COMPUTE, DEST_COMPUTE),
        ),
        'shelve': Move('shelve', 'SHELVED', 'ACTIVE', ACTIVE, SHELVE),
        'shelve-offload': Move('shelve-offload', 'SHELVED_OFFLOADED', 'SHELVED', ('SHELVED', True)),
        'unshelve': Move(
            'unshelve',
            'ACTIVE',
            'SHELVED_OFFLOADED',
            ('SHELVED_OFFLOADED', None),
            {'offloaded': True},
        ),
        'rebuild': Move(
            'rebuild',
            'ACTIVE',
            'ACTIVE',
            ACTIVE,
            {'reimage': None},
            roles=(SUPER, SOURCE_COMPUTE),
        ),
        'crash-dump': Move('crash-dump', 'ACTIVE', 'ACTIVE', ACTIVE, roles=(SUPER, SOURCE_COMPUTE)),
        'evacuate': Move('evacuation', 'ACTIVE', 'ERROR', ACTIVE, {'forced': False}),
    },
    OTHER: {
        'resize': Move(
            'cross-cell-resize',
            'VERIFY_RESIZE',
            'ACTIVE',
            ACTIVE,
            roles=(*BROKERS, DATABASE, FROZEN),
        ),
    },
    CALLS: {
        'resize': Move(
            'cross-cell-resize',
            'VERIFY_RESIZE',
            'ACTIVE',
            ACTIVE,
            **_calls(
                'select_destinations',
                'prep_resize',
                'prep_snapshot_based_resize_at_source',
                'resize_instance',
                'finish_snapshot_based_resize_at_dest',
            ),
        ),
        'confirm': Move(
            'cross-cell-confirm',
            'ACTIVE',
            'VERIFY_RESIZE',
            MOVED,
            **_calls(
                'confirm_resize',
            ),
        ),
        'revert': Move(
            'cross-cell-revert',
            'ACTIVE',
            'VERIFY_RESIZE',
            MOVED,
            **_calls(
                'revert_resize',
                'restore_guest',
            ),
        ),
        'delete': Move(
            'cross-cell-confirm',
            None,
            'VERIFY_RESIZE',
            MOVED,
            **_calls(
                'confirm_resize',
                'delete_instance',
            ),
        ),
    },
}

TABLES[ACCEPT] = {
    name: move._replace(roles=(API,), points=hooks.ACCEPTING)
    for name, move in TABLES[CROSS_CELL].items()
}


BUILDING = (
    'build_servers',
    'select_destinations',
    'build_instance',
    'build_started',
    'build_finished',
)
DELETING = ('delete_instance', 'delete_started', 'instance_deleted')
STOPPING = ('stop_instance', 'action_started', 'action_finished')
NOWHERE = (None, None)
TABLES[ACTIONS] = {
    'build': Move('build', 'ACTIVE', 'ERROR', NOWHERE, roles=(CALLED,), points=BUILDING),
    'delete': Move('delete', None, 'ERROR', ACTIVE, roles=(CALLED,), points=DELETING),
    'stop': Move('stop', 'SHUTOFF', 'ACTIVE', ACTIVE, roles=(CALLED,), points=STOPPING),
    'create': Move('create', 'ACTIVE', 'ERROR', NOWHERE, roles=(API,), points=(hooks.STORE,)),
}


class Case(typing.NamedTuple):
    """One field of a table: `role` fails while the move `name` stands at that point."""

    table: str
    name: str
    step: str
    when: str
    role: str

    def __str__(self):
        return f'{self.table} {self.name}: {self.role} {self.when} "{self.step}"'

    @property
    def move(self):
        return TABLES[self.table][self.name]


def steps(move):
    """The names of a move's steps, in order, or of its other points."""
    return list(move.points) or [step.id for step in _steps(move)]


def _steps(move):
    return saga_faults.steps_of(move.kind, move.arguments)


def last(move):
    """The last step whose failure has the move undone: its pivot."""
    return next(step.id for step in _steps(move) if step.pivot)


def _undone(move):
    """The steps that are undone when the pivot fails."""
    found = _steps(move)
    pivot = next(at for at, step in enumerate(found) if step.pivot)
    return tuple(step.id for step in found[:pivot] if step.undo is not None)


TABLES[UNDO] = {
    name: TABLES[CROSS_CELL][name]._replace(
        roles=(SUPER, SOURCE_COMPUTE, DEST_COMPUTE), points=_undone(TABLES[CROSS_CELL][name])
    )
    for name in ('resize', 'revert')
}

TABLES |= {
    DEVICES: {
        kind: Move(kind, 'ACTIVE', 'ACTIVE', ACTIVE, arguments, roles=DEVICE_ROLES)
        for kind, arguments in DEVICE_SAGAS.items()
    },
    PHASES: {
        'live-migrate': TABLES[SAME_CELL]['live-migrate']._replace(
            roles=LIVE_ROLES, points=ALL_PHASES, whens=(DURING,)
        )
    },
    ABORT: {
        'live-migrate': TABLES[SAME_CELL]['live-migrate']._replace(
            roles=LIVE_ROLES,
            points=(*_undone(TABLES[SAME_CELL]['live-migrate']), *ABORT_CALLS),
        )
    },
}


def every(*tables, roles=EVERYONE, names=None):
    """The cases of these tables, or of all."""
    return [
        Case(title, name, step, when, role)
        for title, moves in TABLES.items()
        for name, move in moves.items()
        for step in steps(move)
        for when in move.whens
        for role in move.roles
        if (not tables or title in tables) and role in roles and (not names or name in names)
    ]


def spread(wanted, count):
    """At most `count` cases of each role in each table, spread over the steps.

    Other ones for each role, and by turns before and after.
    """
    groups = collections.defaultdict(list)
    for case in wanted:
        groups[case.table, case.role].append(case)
    chosen = []
    for number, found in enumerate(groups.values()):
        stride = -(-len(found) // count) | 1
        chosen += found[number % stride :: stride]
    return chosen


def batches(wanted, at_once):
    """The cases in batches of one role that begin alike; moves there and back in turn."""
    groups = {}
    for case in wanted:
        alone = case.name if case.name == 'evacuate' else None
        groups.setdefault((case.role, case.table, case.move.begins, alone), []).append(case)
    chunks = {
        key: [found[at : at + at_once] for at in range(0, len(found), at_once)]
        for key, found in groups.items()
    }
    for role in EVERYONE:
        of_role = [found for key, found in chunks.items() if key[0] == role]
        while any(of_role):
            for found in of_role:
                if found:
                    yield found.pop(0)
