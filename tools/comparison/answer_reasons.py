"""Why some answers differ from nova's.

Those of the fake driver and of the comparison itself are explained here, the others in
doc/source/reference/deviations.rst.
"""

import functools
import re

# (pattern of 'STATE: REQUEST: FIELD: nova X, here Y', reason).
REASONS: tuple[tuple[str, str], ...] = (
    (r'end power: nova \d, here \d', "nova's fake driver does not power guests off or pause them"),
    (r'GET /diagnostics .* status', "nova's fake driver runs all guests but those it rescues"),
    (r'GET /diagnostics .*(vnet\d|_rate)', "interfaces of nova's fake driver are invented"),
    (r'getConsoleOutput.* output: ', "nova's fake driver has some output of each guest"),
    (r'trigger_crash_dump.* end (fault|message)', "nova's fake driver interrupts each guest"),
    (r'hypervisors.*cpu_info\.topology', 'NUMA cells of a CPU are shown'),
    (r'hypervisors.*uptime', "nova's fake driver has no uptime"),
    (r'hypervisors.*servers', 'the clouds have other servers on their hosts'),
    (r'end fault: nova \d+, here None', 'nova records a fault when it refuses a request'),
    (r'server\.fault', 'nova records a fault when it refuses a request'),
    (r'^groups: soft-.* to none: hosts', 'other servers weigh as well'),
    (r'^building: .* PUT ', 'a server without a cell is changed when it has one'),
    (r'^building: .*os-start', 'a server without a cell is refused with 409'),
    (r'evacuate.*: status: nova 400, here 409', 'a server on no host is refused with 409'),
    (r'^building: .*server\.security_groups', 'servers without a cell show their requested groups'),
    (r'rebuild.*task_state', 'the rebuild may have ended when nova answers'),
    (r'end migration: nova None', 'migrations of deleted servers stay listed'),
    (r'POST /servers ".*: nova 500, here 202', 'nova fails with 500 for some scheduler hints'),
    (r'POST /servers "accepted" / "Block Device', 'devices that no host can make are refused at once'),
    (r'POST /servers "accepted" / "The requested avail', 'the zone of no host is refused'),
    (r'POST /servers "accepted" / "Security group', 'security groups of other projects are refused'),
    (r'POST /servers "Volume .*: subject', 'nova looks for volumes before other checks of devices'),
    (r'recorded tags', 'servers without a cell show their tags in order, each once'),
    (r'^\w+ 2\.\d+ flavor .*"flavorRef": 1}.*: status', 'one cloud has a flavor with this id'),
    (r': nova 500, here 4\d\d', 'nova fails with 500'),
    (r'removeFixedIp.* status: nova 202, here 400', 'an unknown address is refused at once'),
    (r'addFixedIp.*unknown.* status: nova 202, here 404', 'an unknown network is refused at once'),
    (r'^down.*os-interface.* (status: nova 20\d, here 409|end)', 'devices are refused if the host is down'),
    (r'^(attached-|volume-)?offloaded.*volumeAttachment\.device: nova null',
     'volumes of offloaded servers have a device name'),
    (r'offloaded: .* DELETE / .* end vm_state: nova soft-delete', 'a deleted server is not soft-deleted'),
    (r'os-migrateLive.* end message: nova None, here Forced', 'the message of a forced move says so'),
)  # fmt: skip


@functools.cache
def _compiled() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), reason) for pattern, reason in REASONS]


def of(state: str, request: str, field: str, *, nova: str, ours: str) -> str | None:
    """Return the reason of a difference, or None."""
    text = f'{state}: {request}: {field}: nova {nova}, here {ours}'
    return next((reason for pattern, reason in _compiled() if pattern.search(text)), None)
