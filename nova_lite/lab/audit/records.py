"""Checks of servers' records in nova's databases. Each yields violations."""

from collections.abc import Iterator

from nova_lite.lab.audit import observed
from nova_lite.lab.audit import violation
from nova_lite.verify import age_limits

Violation = violation.Violation
Snapshot = observed.Snapshot
Ages = age_limits.AgeLimits


def _lost(snapshot: Snapshot) -> Iterator[tuple[str, str, str | None]]:
    """Yield (uuid, name of the cell, fate) of each mapped server without a record in any cell."""
    for uuid, mapping in snapshot.mappings.items():
        if mapping.cell_id is None or mapping.queued_for_delete or uuid in snapshot.visible:
            continue
        if any(uuid in cell.instances for cell in snapshot.cells):
            continue  # a hidden record: see `hidden`
        cell = snapshot.by_id.get(mapping.cell_id)
        fates = [each.fates[uuid] for each in snapshot.cells if uuid in each.fates]
        name = cell.name if cell else f'with the id {mapping.cell_id}, which does not exist'
        yield uuid, name, fates[0] if fates else None


def mapped_but_deleted(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R1: Each instance mapping that is not queued for deletion leads to a server that exists.

    The record of the server is deleted or archived, but its mapping was not marked. Lists of
    servers read such mappings for nothing, and quotas that are counted from mappings count it.
    """
    for uuid, cell, fate in _lost(snapshot):
        if fate is not None:
            yield Violation(f'server {uuid}', f'is mapped to cell {cell}, and its record is {fate}')


def mapped_but_absent(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R2: Each instance mapping that is not queued for deletion leads to a record.

    No cell has a record of the server, not even a deleted one: a cell's database was restored
    from an older backup, or rows were deleted by hand. The API answers 404.
    """
    for uuid, cell, fate in _lost(snapshot):
        if fate is None:
            yield Violation(f'server {uuid}', f'is mapped to cell {cell}, and no cell has a record')


def mapped_elsewhere(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R3: Each server is in the cell that its instance mapping names.

    The API reads the cell that the mapping names. It does not find the server in the other cell,
    where its guest runs on.
    """
    for uuid, records in snapshot.visible.items():
        mapping = snapshot.mappings.get(uuid)
        if mapping is None or mapping.cell_id in [cell.id for cell, _row in records]:
            continue
        there = snapshot.by_id.get(mapping.cell_id)
        detail = (
            f'is in cell {records[0][0].name}, its mapping names {there.name if there else "none"}'
        )
        yield Violation(f'server {uuid}', detail, server=uuid)


def unmapped(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R4: Each server in a cell has an instance mapping.

    Without a mapping the API does not find the server. Its guest runs on and uses resources.
    """
    for uuid, records in snapshot.visible.items():
        if uuid not in snapshot.mappings:
            for cell, _row in records:
                detail = f'is in cell {cell.name} and has no instance mapping'
                yield Violation(f'server {uuid}', detail, cell=cell.uuid)


def in_two_cells(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R5: No server has visible records in two cells.

    A resize between cells hides one of its two records. Two visible records mean that it ended
    halfway, or that a cell's database was restored. Find out which host runs the guest; the
    record in the other cell is wrong.
    """
    for uuid, records in snapshot.visible.items():
        if len(records) > 1:
            names = ', '.join(sorted(cell.name for cell, _row in records))
            yield Violation(
                f'server {uuid}', f'has a visible record in each of {names}', server=uuid
            )


def hidden(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R6: Each hidden record belongs to a migration that has not ended.

    A resize between cells keeps a hidden record of the server in the other cell until it is
    confirmed or reverted. A record that stays hidden holds block devices and network information
    that no service will delete.
    """
    for cell in snapshot.cells:
        for uuid, row in cell.instances.items():
            if row.hidden and uuid not in snapshot.open_migrations:
                detail = f'has a hidden record in cell {cell.name} and does not move'
                yield Violation(f'server {uuid}', detail)


def built_twice(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R7: Each build request ends when its server has a record in a cell.

    While the build request exists, the API shows the request in place of the server.
    """
    for uuid in snapshot.build_requests:
        if uuid in snapshot.visible:
            name = snapshot.visible[uuid][0][0].name
            yield Violation(
                f'build request {uuid}', f'exists although the server is in cell {name}'
            )


def forgotten(snapshot: Snapshot, ages: Ages) -> Iterator[Violation]:
    """R8: Each server that is in no cell has a build request.

    The server was accepted, and neither a cell nor a build request knows it. Its user gets 404,
    and quotas that are counted from mappings count it.
    """
    for uuid, mapping in snapshot.mappings.items():
        has_record = uuid in snapshot.visible or uuid in snapshot.build_requests
        if mapping.cell_id is not None or mapping.queued_for_delete or has_record:
            continue
        if snapshot.age_s(mapping) >= ages.work:
            yield Violation(f'server {uuid}', 'is in no cell and has no build request')


def unbuilt(snapshot: Snapshot, ages: Ages) -> Iterator[Violation]:
    """R9: Each accepted server gets into a cell within the age limit.

    The conductor or the scheduler has lost the request. The server stays in the status BUILD.
    """
    for uuid, request in snapshot.build_requests.items():
        age_s = snapshot.age_s(request)
        if uuid not in snapshot.visible and age_s >= ages.work:
            detail = f'was accepted {age_s:.0f} s ago and is in no cell'
            yield Violation(f'build request {uuid}', detail, server=uuid)


def without_spec(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R10: Each server has a request spec.

    Without it the server can be neither moved nor unshelved.
    """
    for uuid in snapshot.visible:
        if uuid not in snapshot.specs:
            yield Violation(f'server {uuid}', 'has no request spec')


def spec_left(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R11: Each request spec belongs to a server or to an instance mapping.

    Servers are archived with their request specs. Request specs that stay use space only.
    """
    for uuid in snapshot.specs:
        known = uuid in snapshot.mappings or uuid in snapshot.build_requests
        if not known and uuid not in snapshot.visible:
            yield Violation(f'request spec {uuid}', 'has neither a server nor an instance mapping')


def device_left(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """R12: Each block device belongs to a server in the same cell.

    Nova deletes the block devices of a server before the server. A volume that such a row names
    may still be attached in Cinder.
    """
    for cell in snapshot.cells:
        for device in cell.devices:
            uuid = device.instance_uuid
            if uuid not in cell.instances:
                fate = cell.fates.get(uuid, 'absent')
                detail = f'in cell {cell.name} belongs to server {uuid}, whose record is {fate}'
                yield Violation(f'block device {device.uuid}', detail)
