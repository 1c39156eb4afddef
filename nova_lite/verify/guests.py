"""Guests against records: their number, their hosts and their definitions."""

import collections
from collections.abc import Iterator
from collections.abc import Mapping
import datetime

from nova_lite import states
from nova_lite.db import rows
from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import holdings
from nova_lite.verify import observed
from nova_lite.virt import model
from nova_lite.virt.sim import census

Finding = findings.Finding
_V, _P = states.VmState, states.PowerState
# The power of the guest of a server at rest. SHELVED: until it is taken off its host.
POWER = {
    _V.ACTIVE: (_P.RUNNING,),
    _V.RESCUED: (_P.RUNNING,),
    _V.PAUSED: (_P.PAUSED,),
    _V.SUSPENDED: (_P.SUSPENDED,),
    _V.STOPPED: (_P.SHUTDOWN,),
    _V.SHELVED: (_P.SHUTDOWN,),
    _V.SOFT_DELETED: (_P.SHUTDOWN,),
    _V.RESIZED: (_P.RUNNING, _P.SHUTDOWN),
}


def one_guest(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I3: at most one running guest per server, over all hosts."""
    running = collections.defaultdict(list)
    for guest in snapshot.guests:
        if guest.running:
            running[guest.uuid].append(guest.node)
    for uuid, nodes in running.items():
        if len(nodes) > 1:
            yield Finding('I3', f'server {uuid}', f'runs on {sorted(nodes)}')


def owned(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: each guest has a record on its node, and each record has a guest."""
    placed = holdings.guests_expected(snapshot)
    there = {
        (guest.uuid, guest.node) for guest in snapshot.guests if guest.role is model.Role.RESIDENT
    }
    for guest in snapshot.guests:
        if (guest.uuid, guest.node) not in placed:
            yield Finding('I5', f'guest {guest.uuid}', f'is on {guest.node} without a record')
    for uuid, node in holdings.guests_required(snapshot) - there:
        yield Finding('I5', f'server {uuid}', f'has no guest on {node}')


def drives(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: each config drive has a guest."""
    for uuid, node in snapshot.ownerless_drives:
        yield Finding('I5', f'config drive of guest {uuid}', f'is on {node} without the guest')


def _at_rest(
    snapshot: observed.Snapshot,
) -> Iterator[tuple[observed.CellSnapshot, rows.Row, census.Row]]:
    """Yield (cell snapshot, row, guest) of servers at rest that have a resident guest."""
    there = {
        (guest.uuid, guest.node): guest
        for guest in snapshot.guests
        if guest.role is model.Role.RESIDENT
    }
    for cell, row in snapshot.resting():
        guest = there.get((row.uuid, row.node))
        if guest is not None:
            yield cell, row, guest


def idle(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I6: no job of a guest is in progress if its server has no task."""
    for _cell, row, guest in _at_rest(snapshot):
        if guest.jobs:
            yield Finding('I6', f'guest {row.uuid}', f'has {guest.jobs} jobs on {guest.node}')


def power(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I9: power states of guests and servers agree, on hosts whose services are up.

    A difference counts when record and guest have been as they are for `ages.power`
    seconds: the hosts' audit repairs it until then.
    """
    for cell, row, guest in _at_rest(snapshot):
        if row.host in cell.down or _unchanged_s(snapshot, row, guest) < ages.power:
            continue
        what, allowed = f'power of server {row.uuid}', POWER.get(row.vm_state)
        if allowed is not None and guest.power_state not in allowed:
            yield Finding('I9', what, f'is {guest.power_state.name}, the server is {row.vm_state}')
        elif row.power_state != guest.power_state and row.vm_state != _V.ERROR:
            recorded = states.PowerState(row.power_state).name
            yield Finding('I9', what, f'is {guest.power_state.name}, on record is {recorded}')


def _unchanged_s(snapshot: observed.Snapshot, row: rows.Row, guest: census.Row) -> float:
    """Return seconds since the record or the guest was changed last."""
    changed = row.updated_at or row.created_at
    if guest.changed_at is not None:
        changed = max(changed, guest.changed_at)
    unchanged: datetime.timedelta = snapshot.now - changed
    return unchanged.total_seconds()


def made_as_recorded(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: guests have the size of their flavors, and the recorded volumes and ports.

    The guest of a server that failed may lack some, and has none that are not its own. A host
    whose service is down follows the records once the service is up.
    """
    devices = _devices(snapshot)
    for cell, row, guest in _at_rest(snapshot):
        if guest.spec is not None and row.host not in cell.down:
            yield from _made_of(row, guest.spec, devices[row.uuid])


def _devices(snapshot: observed.Snapshot) -> dict[str, dict[model.DeviceKind, set[str]]]:
    """Return {server uuid: {DeviceKind: ids}} as the records say."""
    found = {}
    for cell in snapshot.cells:
        devices = cell.devices()
        for row in cell.instances:
            if not row.hidden:
                found[row.uuid] = {
                    model.DeviceKind.INTERFACE: {vif['id'] for vif in row.network_info},
                    model.DeviceKind.VOLUME: {
                        device.volume_id for device in devices[row.uuid] if device.volume_id
                    },
                }
    return found


def _made_of(
    row: rows.Row, spec: model.GuestSpec, recorded: Mapping[model.DeviceKind, set[str]]
) -> Iterator[findings.Finding]:
    what = f'guest {row.uuid}'
    failed = row.vm_state in (_V.ERROR, _V.BUILDING)
    size = (spec.vcpus, spec.memory_mb)
    wanted = (row.flavor['vcpus'], row.flavor['memory_mb'])
    if size != wanted and not failed:
        yield Finding('I5', f'size of {what}', f'is {size}, the flavor says {wanted}')
    for kind, ids in recorded.items():
        has = {device.id for device in spec.devices if device.kind == kind}
        if has - ids:
            yield Finding('I5', f'{kind}s of {what}', f'{sorted(has - ids)} are not on record')
        elif ids - has and not failed:
            yield Finding('I5', f'{kind}s of {what}', f'lack {sorted(ids - has)}')
