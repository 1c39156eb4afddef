"""Operations of clients: what they ask of a server, by its status."""

from tests.sim.workload import devices

POWER = ('stop', 'reboot_soft', 'reboot_hard', 'pause', 'suspend', 'rescue', 'shelve', 'snapshot')
MOVES = ('resize', 'migrate', 'live_migrate', 'cross')
RARE = ('rename', 'crash_dump', 'password', 'backup')
# Asked for only while the power of the server's host is known to be off.
EVACUATE = ('evacuate',) * 4
# Of some plans only; what others draw does not depend on it.
CONSOLE = 'console'
# What is asked of servers that are kept after their deletion.
KEEPING = ('restore', 'restore', 'force_delete')
# What may be asked of a server, by its status.
ALLOWED = {
    'ACTIVE': (
        *(*POWER, *MOVES, *MOVES, *MOVES, *devices.DEVICES, *RARE, 'rebuild', *EVACUATE),
        CONSOLE,
    ),
    'SHUTOFF': (
        *('start', 'start', *MOVES[:2], 'cross', 'shelve', 'attach_volume', 'rebuild'),
        *EVACUATE,
        *devices.SHARES,
    ),
    'REBOOT': ('reboot_hard',),
    'HARD_REBOOT': ('reboot_hard',),
    'PAUSED': ('unpause',),
    'SUSPENDED': ('resume',),
    'RESCUE': ('unrescue',),
    'MIGRATING': ('abort', 'force', CONSOLE),
    'VERIFY_RESIZE': ('confirm', 'confirm', 'revert', 'revert', 'stop', 'rename'),
    'SHELVED': ('unshelve', 'offload'),
    'SOFT_DELETED': (*KEEPING, 'delete'),
    'SHELVED_OFFLOADED': ('unshelve', 'unshelve', 'attach_volume'),
    'ERROR': ('delete', 'reboot_hard', 'rebuild', *EVACUATE),
}
EVERY = sorted({*sum(ALLOWED.values(), ())} - {'delete', CONSOLE, *devices.SHARES, *KEEPING})
SIMPLE = {
    'stop': ('os-stop', None),
    'start': ('os-start', None),
    'pause': ('pause', None),
    'unpause': ('unpause', None),
    'suspend': ('suspend', None),
    'resume': ('resume', None),
    'rescue': ('rescue', None),
    'unrescue': ('unrescue', None),
    'shelve': ('shelve', None),
    'offload': ('shelveOffload', None),
    'confirm': ('confirmResize', None),
    'revert': ('revertResize', None),
    'reboot_soft': ('reboot', {'type': 'SOFT'}),
    'reboot_hard': ('reboot', {'type': 'HARD'}),
    'crash_dump': ('trigger_crash_dump', None),
    'password': ('changePassword', {'adminPass': 'changed'}),
}
