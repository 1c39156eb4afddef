"""Compare the usage that quotas count with existing servers and limits (I11)."""

import collections
from collections.abc import Iterator

from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import observed

Finding = findings.Finding
COUNTED = ('instances', 'cores', 'ram')


def counted(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I11: quota usage agrees with the existing servers."""
    busy = snapshot.busy()
    used = usage(snapshot)
    present: collections.Counter[tuple[str, str]] = collections.Counter()
    for records in snapshot.visible().values():
        _cell, row = records[0]
        mapping = snapshot.mappings.get(row.uuid)
        if mapping is None or mapping.queued_for_delete:
            since = (snapshot.now - (row.updated_at or row.created_at)).total_seconds()
            is_free = not observed.is_going(row) and row.uuid not in busy
            if mapping is not None and is_free and since > ages.audit:
                yield Finding('I11', f'server {row.uuid}', 'exists and does not count in quotas')
            continue
        # A saga changes one after the other; until it ends, the greater size counts.
        size = mapping if row.uuid in busy else row
        for name, amount in zip(COUNTED, (1, size.vcpus, size.memory_mb), strict=True):
            present[row.project_id, name] += amount
    for key in used.keys() | present.keys():
        if used[key] != present[key]:
            yield Finding(
                'I11',
                f'project {key[0]}: {key[1]}',
                f'quota counts {used[key]}, there are {present[key]}',
            )


def usage(snapshot: observed.Snapshot) -> collections.Counter[tuple[str, str]]:
    """Return {(project, resource): amount} that quota counts of servers that are in a cell."""
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for uuid, mapping in snapshot.mappings.items():
        if not mapping.queued_for_delete and uuid not in snapshot.build_requests:
            for name, amount in zip(COUNTED, (1, mapping.vcpus, mapping.memory_mb), strict=True):
                found[mapping.project_id, name] += amount
    return found


def exceeded(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I11: no project uses more than its limits (``--quota-limits``).

    Only where it was asked for: to lower a limit below the usage is no error.
    """
    used = usage(snapshot)
    for project, limits in snapshot.limits.items():
        for name in COUNTED:
            if 0 <= limits[name] < used[project, name]:
                yield Finding(
                    'I11',
                    f'project {project}: limit of {name}',
                    f'is {limits[name]}, and {used[project, name]} are used',
                )
