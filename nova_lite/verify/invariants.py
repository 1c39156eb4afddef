"""The invariants of a cloud, each a generator of findings over a picture.

I8 (a repeated or late message changes nothing) shows itself in the others and
is tested by sending such messages.
"""

import collections

from nova_lite import states
from nova_lite.verify import findings
from nova_lite.verify import holdings
from nova_lite.verify import leftovers
from nova_lite.verify import placing

Finding = findings.Finding

SHELVED = (states.VmState.SHELVED_OFFLOADED,)
# Within so many seconds the super-conductor mends what counts, by its default intervals.
AUDITED_S = 180


def check(picture, bound_s):
    """Every finding of every invariant. bound_s: age at which work is stuck."""
    for invariant in (found, one_record, one_guest, allocations, owned, hidden_copies, moved):
        yield from invariant(picture)
    yield from ended(picture, bound_s)
    for invariant in (transitions, no_server_error, quota, filters):
        yield from invariant(picture)


def found(picture):
    """I1: every accepted, undeleted server is found by GET."""
    visible = picture.visible()
    cells = {cell.id: cell for cell in picture.cells}
    for uuid, mapping in picture.mappings.items():
        if mapping.queued_for_delete:
            continue
        if mapping.cell_id is None:
            if uuid not in picture.build_requests:
                yield Finding('I1', f'server {uuid}', 'is in no cell and has no build request')
        elif uuid not in visible:
            yield Finding(
                'I1',
                f'server {uuid}',
                f'is mapped to {cells[mapping.cell_id].name}, which has no record',
            )


def one_record(picture):
    """I2: exactly one visible record per server, in the cell its mapping names."""
    for uuid, records in picture.visible().items():
        names = [cell.name for cell, _row in records]
        if len(records) > 1:
            yield Finding('I2', f'server {uuid}', f'has a visible record in each of {names}')
        mapping = picture.mappings.get(uuid)
        if mapping is None:
            yield Finding('I5', f'server {uuid}', f'has a record in {names}, and no mapping')
        elif mapping.cell_id not in [cell.id for cell, _row in records]:
            yield Finding('I2', f'server {uuid}', f'is in {names}, its mapping says otherwise')


def hidden_copies(picture):
    """I5: a hidden record belongs to a move that has not ended."""
    moving = {
        migration.instance_uuid
        for cell in picture.cells
        for migration in cell.migrations
        if migration.cross_cell_move and migration.status not in states.MIGRATION_OVER
    }
    moving |= {saga.instance_uuid for saga in picture.sagas if saga.active_for}
    for cell, row in picture.instances():
        if row.hidden and row.uuid not in moving:
            yield Finding('I5', f'server {row.uuid}', f'has a hidden record in {cell.name}')
        if row.sealed and not row.hidden and row.uuid not in moving:
            yield Finding('I6', f'server {row.uuid}', f'is sealed in {cell.name}')


def moved(picture):
    """I5: what moves made, on hosts and at neighbours, belongs to one that goes on."""
    yield from leftovers.migrations(picture)
    yield from leftovers.bindings(picture)
    yield from leftovers.attachments(picture)
    yield from leftovers.connections(picture)
    yield from leftovers.images(picture)


def one_guest(picture):
    """I3: at most one running guest per server, over all hosts."""
    running = collections.defaultdict(list)
    for guest in picture.guests:
        if guest.running:
            running[guest.uuid].append(guest.node)
    for uuid, nodes in running.items():
        if len(nodes) > 1:
            yield Finding('I3', f'server {uuid}', f'runs on {sorted(nodes)}')


def allocations(picture):
    """I4: placement holds exactly what servers and moves in progress hold."""
    expected, moving = holdings.expected(picture), holdings.under_way(picture)
    for consumer in (expected.keys() | picture.allocations.keys()) - moving:
        wanted, held = expected.get(consumer, {}), picture.allocations.get(consumer, {})
        if wanted != held:
            yield Finding(
                'I4',
                f'consumer {consumer}',
                f'should hold {_sorted(wanted)} and holds {_sorted(held)}',
            )


def _sorted(holding):
    return {
        provider: dict(sorted(resources.items())) for provider, resources in sorted(holding.items())
    }


def owned(picture):
    """I5: nothing without an owner."""
    records = {row.uuid for _cell, row in picture.instances()}
    known = records | picture.build_requests.keys()
    for uuid in picture.specs.keys() - picture.mappings.keys():
        yield Finding('I5', f'request spec {uuid}', 'has no server')
    for uuid in picture.build_requests.keys() - picture.mappings.keys():
        yield Finding('I5', f'build request {uuid}', 'has no mapping')
    for cell in picture.cells:
        here = {row.uuid for row in cell.instances}
        for device in cell.block_devices:
            if device.instance_uuid not in here:
                yield Finding(
                    'I5',
                    f'block device {device.uuid} of {device.instance_uuid}',
                    f'has no server in {cell.name}',
                )
    yield from _guests_owned(picture)
    for port in picture.ports:
        if port['device_owner'].startswith('compute:') and port['device_id'] not in known:
            yield Finding('I5', f'port {port["id"]}', f'belongs to no server: {port["device_id"]}')
    for attachment in picture.attachments:
        owner = attachment.get('instance') or attachment.get('instance_uuid')
        if owner and owner not in known:
            yield Finding('I5', f'attachment {attachment["id"]}', f'belongs to no server: {owner}')


def _guests_owned(picture):
    """Guests that no record places on their node, and records without their guest."""
    placed = holdings.guests_expected(picture)
    there = {(guest.uuid, guest.node) for guest in picture.guests}
    for guest in picture.guests:
        if (guest.uuid, guest.node) not in placed:
            yield Finding('I5', f'guest {guest.uuid}', f'is on {guest.node} without a record')
    for uuid, node in holdings.guests_required(picture) - there:
        yield Finding('I5', f'server {uuid}', f'has no guest on {node}')


def ended(picture, bound_s):
    """I6, I7: no task state older than its bound; every build and saga ends."""

    def age(moment):
        return (picture.now - moment).total_seconds()

    for cell, row in picture.instances():
        if row.task_state and not row.hidden and age(row.updated_at or row.created_at) > bound_s:
            yield Finding(
                'I6', f'server {row.uuid}', f'in {cell.name} is {row.task_state} for too long'
            )
    for saga in picture.sagas:
        if saga.active_for and age(saga.created_at) > bound_s:
            yield Finding(
                'I6',
                f'saga {saga.uuid} ({saga.kind})',
                f'of server {saga.instance_uuid} has not ended; at {saga.step}',
            )
    for uuid, request in picture.build_requests.items():
        if age(request.created_at) > bound_s:
            yield Finding('I7', f'build request {uuid}', 'was accepted and nobody built it')


def transitions(picture):
    """I9: states follow the transition table.

    A copy that another cell hides while a move brings it is on no host yet, and has the
    states of the record that users see.
    """
    for cell, row in picture.instances():
        if row.vm_state not in states.STATUS:
            yield Finding('I9', f'server {row.uuid}', f'has the vm state {row.vm_state}')
        if row.task_state and row.task_state not in list(states.TaskState):
            yield Finding('I9', f'server {row.uuid}', f'has the task state {row.task_state}')
        if row.vm_state == states.VmState.ACTIVE and not row.host and not row.hidden:
            yield Finding('I9', f'server {row.uuid}', f'is active in {cell.name} on no host')


def no_server_error(picture):
    """I10: a client's fault never gets a 5xx."""
    for line in picture.server_errors:
        yield Finding('I10', 'the API answered 500', line)


def quota(picture):
    """I11: what quota counts is what there is."""
    moving = {saga.instance_uuid for saga in picture.sagas if saga.active_for}
    counted, present = collections.Counter(), collections.Counter()
    for uuid, mapping in picture.mappings.items():
        if not mapping.queued_for_delete and uuid not in picture.build_requests:
            counted[mapping.project_id, 'servers'] += 1
            counted[mapping.project_id, 'vcpus'] += mapping.vcpus
            counted[mapping.project_id, 'MiB'] += mapping.memory_mb
    for records in picture.visible().values():
        _cell, row = records[0]
        mapping = picture.mappings.get(row.uuid)
        if mapping is None or mapping.queued_for_delete:
            stays = row.deleted_at is None and row.task_state != states.TaskState.DELETING
            since = (picture.now - (row.updated_at or row.created_at)).total_seconds()
            if mapping is not None and stays and row.uuid not in moving and since > AUDITED_S:
                yield Finding('I11', f'server {row.uuid}', 'stays, and no quota counts it')
            continue
        present[row.project_id, 'servers'] += 1
        # A saga changes one after the other; until it ends, the greater size counts.
        size = mapping if row.uuid in moving else row
        present[row.project_id, 'vcpus'] += size.vcpus
        present[row.project_id, 'MiB'] += size.memory_mb
    for key in counted.keys() | present.keys():
        if counted[key] != present[key]:
            yield Finding(
                'I11',
                f'project {key[0]}',
                f'quota counts {counted[key]} {key[1]}, there are {present[key]}',
            )


def filters(picture):
    """I12: no server where a rule forbids it, unless it was forced there."""
    for uuid, detail in placing.violations(picture):
        yield Finding('I12', f'server {uuid}', detail)
