"""Shares of servers: their locks, and the shares that hosts have mounted."""

from collections.abc import Iterator

from nova_lite import states
from nova_lite.clients import share as share_client
from nova_lite.verify import findings
from nova_lite.verify import observed
from nova_lite.virt import model

Finding = findings.Finding
Status = states.ShareStatus
SETTLED = (Status.INACTIVE, Status.ACTIVE)


def locks(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: each lock of an attachment belongs to a share of a server, and each share is locked."""
    busy = snapshot.busy()
    rows = {row.uuid: row for cell in snapshot.cells for row in cell.shares}
    servers = {row.uuid for _cell, row in snapshot.instances()}
    placed: dict[str, set[str]] = {}
    used = set()
    for lock in snapshot.share_locks:
        uuid = share_client.attachment_of(lock)
        if not share_client.hides(lock):
            placed.setdefault(uuid, set()).add(lock['resource_type'])
            used |= {lock['resource_id']} if uuid in rows else set()
    for lock in snapshot.share_locks:
        uuid = share_client.attachment_of(lock)
        # The attachment that made a rule may have ended before others that use it.
        stays = share_client.hides(lock) and lock['resource_id'] in used
        if uuid not in rows and not stays and not busy:
            yield Finding(
                'I5', f'lock {lock["id"]}', f'is of attachment {uuid}, which does not exist'
            )
    for row in rows.values():
        if row.instance_uuid not in servers:
            yield Finding('I5', f'share {row.share_id}', f'is of server {row.instance_uuid}, gone')
        elif row.instance_uuid not in busy and row.status in SETTLED:
            missing = {share_client.SHARE, share_client.RULE} - placed.get(row.uuid, set())
            if missing:
                yield Finding(
                    'I5',
                    f'share {row.share_id}',
                    f'of server {row.instance_uuid} has no lock on: {", ".join(sorted(missing))}',
                )


def mounts(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: hosts have mounted the shares that are active, and no others."""
    active = {
        (row.instance_uuid, row.share_id)
        for cell in snapshot.cells
        for row in cell.shares
        if row.status == Status.ACTIVE
    }
    plugged = {
        (guest.uuid, device.id)
        for guest in snapshot.guests
        for device in (guest.spec.devices if guest.spec else ())
        if device.kind is model.DeviceKind.SHARE and guest.running
    }
    failed = (states.VmState.ERROR, states.VmState.SOFT_DELETED)
    for _cell, row in snapshot.resting():
        if row.vm_state in failed:
            continue
        mine = {share for uuid, share in active ^ plugged if uuid == row.uuid}
        for share in sorted(mine):
            state = 'not mounted' if (row.uuid, share) in active else 'mounted and not active'
            yield Finding('I5', f'share {share}', f'of server {row.uuid} is {state}')
