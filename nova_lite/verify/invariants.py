"""The invariants of a cloud, each a generator of findings over a snapshot.

Violations of I8 (a repeated or late message changes nothing) violate other invariants as well;
tests send such messages.
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping

from nova_lite import states
from nova_lite.states import transitions as transition_table
from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import guests
from nova_lite.verify import holdings
from nova_lite.verify import inventories
from nova_lite.verify import membership
from nova_lite.verify import messaging
from nova_lite.verify import networking
from nova_lite.verify import numa
from nova_lite.verify import observed
from nova_lite.verify import placing
from nova_lite.verify import port_devices
from nova_lite.verify import quota
from nova_lite.verify import shares
from nova_lite.verify import unfinished
from nova_lite.verify import volumes

Finding = findings.Finding


def found(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I1: every accepted, undeleted server is found by GET."""
    visible = snapshot.visible()
    cells = {cell.id: cell for cell in snapshot.cells}
    for uuid, mapping in snapshot.mappings.items():
        if mapping.queued_for_delete:
            continue
        if mapping.cell_id is None:
            if uuid not in snapshot.build_requests:
                yield Finding('I1', f'server {uuid}', 'is in no cell and has no build request')
        elif uuid not in visible:
            yield Finding(
                'I1',
                f'server {uuid}',
                f'is mapped to {cells[mapping.cell_id].name}, which has no record',
            )


def one_record(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I2: exactly one visible record per server, in the cell its mapping names."""
    for uuid, records in snapshot.visible().items():
        names = [cell.name for cell, _row in records]
        if len(records) > 1:
            yield Finding('I2', f'server {uuid}', f'has a visible record in each of {names}')
        mapping = snapshot.mappings.get(uuid)
        if mapping is None:
            yield Finding('I5', f'server {uuid}', f'has a record in {names}, and no mapping')
        elif mapping.cell_id not in [cell.id for cell, _row in records]:
            yield Finding('I2', f'server {uuid}', f'is in {names}, its mapping names another cell')


def hidden_copies(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: a hidden record belongs to a move that has not ended."""
    moving = {
        migration.instance_uuid
        for cell in snapshot.cells
        for migration in cell.migrations
        if migration.cross_cell_move and migration.status not in states.MIGRATION_OVER
    }
    moving |= {saga.instance_uuid for saga in snapshot.sagas if saga.active_for}
    for cell, row in snapshot.instances():
        if row.hidden and row.uuid not in moving:
            yield Finding('I5', f'server {row.uuid}', f'has a hidden record in {cell.name}')
        if row.sealed and not row.hidden and row.uuid not in moving:
            yield Finding('I6', f'server {row.uuid}', f'is sealed in {cell.name}')


def allocations(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I4: placement holds exactly what servers and moves in progress hold."""
    expected = holdings.expected(snapshot)
    passing = holdings.under_way(snapshot) | snapshot.withdrawn.keys()
    for consumer in (expected.keys() | snapshot.allocations.keys()) - passing:
        wanted, held = expected.get(consumer, {}), snapshot.allocations.get(consumer, {})
        if wanted != held:
            yield Finding(
                'I4',
                f'consumer {consumer}',
                f'should hold {_sorted(wanted)} and holds {_sorted(held)}',
            )


def late_claims(
    snapshot: observed.Snapshot, ages: age_limits.AgeLimits
) -> Iterator[findings.Finding]:
    """I4: claims of servers that do not exist are released.

    A scheduler may answer after the server was withdrawn. The super-conductor releases such
    a claim when the lease of the request is over, again and again.
    """
    for consumer in snapshot.allocations.keys() & snapshot.withdrawn.keys():
        overdue = snapshot.now - snapshot.withdrawn[consumer].lease_until
        if overdue.total_seconds() >= ages.work:
            yield Finding(
                'I4',
                f'consumer {consumer}',
                f'was withdrawn and holds {_sorted(snapshot.allocations[consumer])}',
            )


def _sorted(holding: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {
        provider: dict(sorted(resources.items())) for provider, resources in sorted(holding.items())
    }


def owned(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: each record and each resource has an owner."""
    records = {row.uuid for _cell, row in snapshot.instances()}
    known = records | snapshot.build_requests.keys() | snapshot.withdrawn.keys()
    for uuid in snapshot.specs.keys() - snapshot.mappings.keys():
        yield Finding('I5', f'request spec {uuid}', 'has no server')
    for uuid in snapshot.build_requests.keys() - snapshot.mappings.keys():
        yield Finding('I5', f'build request {uuid}', 'has no mapping')
    for cell in snapshot.cells:
        here = {row.uuid for row in cell.instances}
        for device in cell.block_devices:
            if device.instance_uuid not in here:
                yield Finding(
                    'I5',
                    f'block device {device.uuid} of {device.instance_uuid}',
                    f'has no server in {cell.name}',
                )
    for port in snapshot.ports:
        if port['device_owner'].startswith('compute:') and port['device_id'] not in known:
            yield Finding('I5', f'port {port["id"]}', f'belongs to no server: {port["device_id"]}')
    for attachment in snapshot.attachments:
        owner = attachment.get('instance') or attachment.get('instance_uuid')
        if owner and owner not in known:
            yield Finding('I5', f'attachment {attachment["id"]}', f'belongs to no server: {owner}')


def transitions(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I9: states follow the transition table.

    A copy that another cell hides while a move brings it is on no host yet, and has the
    states of the record that users see.
    """
    for cell, row in snapshot.instances():
        if row.vm_state not in states.STATUS:
            yield Finding('I9', f'server {row.uuid}', f'has the vm state {row.vm_state}')
        if not transition_table.may_be(row.vm_state, row.task_state):
            detail = f'is {row.vm_state} with the task {row.task_state}, which no action leads to'
            yield Finding('I9', f'server {row.uuid}', detail)
        if row.vm_state == states.VmState.ACTIVE and not row.host and not row.hidden:
            yield Finding('I9', f'server {row.uuid}', f'is active in {cell.name} on no host')


def soft_deletions(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I9: a server without a task has a date of deletion if, and only if, it is soft-deleted.

    Otherwise no quota counts it, or it is not reclaimed.
    """
    for _cell, row in snapshot.resting():
        if (row.vm_state == states.VmState.SOFT_DELETED) != (row.deleted_at is not None):
            detail = f'is {row.vm_state}, its date of deletion is {row.deleted_at}'
            yield Finding('I9', f'server {row.uuid}', detail)


def no_server_error(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I10: the API does not answer 5xx."""
    for line in snapshot.server_errors:
        yield Finding('I10', 'the API answered 5xx', line)


def filters(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I12: servers are on hosts that placement rules allow, unless they were forced there."""
    for uuid, detail in placing.violations(snapshot):
        yield Finding('I12', f'server {uuid}', detail)


CHECKS = (
    found,
    one_record,
    guests.one_guest,
    allocations,
    inventories.providers,
    owned,
    guests.owned,
    guests.drives,
    guests.made_as_recorded,
    guests.idle,
    hidden_copies,
    unfinished.migrations,
    networking.bindings,
    networking.active_bindings,
    networking.recorded,
    volumes.attachments,
    volumes.connections,
    volumes.passing,
    volumes.statuses,
    volumes.made_twice,
    volumes.snapshots,
    volumes.temporary_images,
    shares.locks,
    shares.mounts,
    membership.hosts,
    membership.groups,
    messaging.consumed,
    messaging.owned,
    transitions,
    soft_deletions,
    no_server_error,
    filters,
    numa.held_once,
    numa.devices_held_once,
    numa.recorded,
    numa.given,
    port_devices.are_held,
)
# The checks that depend on ages.
BOUNDED = (
    guests.power,
    unfinished.ended,
    unfinished.owed,
    late_claims,
    unfinished.events,
    unfinished.actions,
    volumes.uploads,
    volumes.given_back,
    quota.counted,
)
# The checks that need the files of all hosts.
OF_GUESTS = frozenset(
    (
        guests.one_guest,
        guests.owned,
        guests.drives,
        guests.made_as_recorded,
        guests.idle,
        guests.power,
        shares.mounts,
        numa.held_once,
        numa.devices_held_once,
        numa.recorded,
        numa.given,
        port_devices.are_held,
    )
)
# {field of AgeLimits that enables the check: check}
OPTIONAL = {'limits': quota.exceeded, 'journal': unfinished.cleaned_up}


def every() -> tuple[Callable[..., Iterator[findings.Finding]], ...]:
    """Return all checks, for the documentation.

    The first line of each docstring is its invariant.
    """
    return (*CHECKS, *BOUNDED, *OPTIONAL.values())


def check(
    snapshot: observed.Snapshot, ages: age_limits.AgeLimits, *, with_guests: bool = True
) -> Iterator[findings.Finding]:
    """Yield every finding of every invariant.

    with_guests: whether the files of all hosts were read; else checks of guests are skipped
    """
    skipped = frozenset() if with_guests else OF_GUESTS
    for invariant in CHECKS:
        if invariant not in skipped:
            yield from invariant(snapshot)
    for aged in BOUNDED:
        if aged not in skipped:
            yield from aged(snapshot, ages)
    for name, invariant in OPTIONAL.items():
        if getattr(ages, name):
            yield from invariant(snapshot)
