"""Parts of plans that several themes use."""

from tests.sim.workload import devices
from tests.sim.world import places

# Options of the daemons under which races are more frequent.
HASTY = {
    'DEFAULT': {
        'rpc_response_timeout': 10,
        'report_interval': 5,
        # Clients have time to offload a server, or to unshelve it from its host.
        'shelved_offload_time': 10,
        'shelved_poll_interval': 5,
    },
    'conductor': {
        'lease_s': 8,
        'build_lease_s': 20,
        'sweep_interval_s': 3.0,
        'audit_interval': 10,
        'audit_idle_s': 20,
        'allocation_audit_interval': 30,
    },
    'compute': {'audit_interval': 10, 'stray_grace': 10},
}
# A host that has been silent for two reports counts as down.
ASLEEP = places.merged(HASTY, {'DEFAULT': {'service_down_time': 11, 'shelved_offload_time': 0}})
# A server leaves its host as soon as it is shelved.
OFFLOADING = places.merged(HASTY, {'DEFAULT': {'shelved_offload_time': 0}})
# What a COMMIT may meet that was carried out.
UNKNOWN = ('lost after', 'killed after')
# Databases and neighbours that answer late.
SLUGGISH = {'begin': {'slow': 0.03}, 'http': {'late': 0.03}}
SHELVES = ('shelve', 'unshelve', 'offload', 'stop', 'start')
# Beside `stop` and `start`, of servers that do not move.
POWERED = (
    ('reboot_soft',),
    ('pause', 'unpause'),
    ('suspend', 'resume'),
    ('rescue', 'unrescue', 'rebuild'),
    ('snapshot', 'backup', 'crash_dump', 'password'),
)
MOVES = ('migrate', 'resize', 'live_migrate', 'confirm', 'revert', 'abort')
DEVICES = devices.DEVICES
