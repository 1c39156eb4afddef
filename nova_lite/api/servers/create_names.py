"""Names of new servers: display names, hostnames, and where they must be unique.

Source: reference/create-server 3.
"""

import re

from nova_lite import exception
from nova_lite.db.api import build_requests
from nova_lite.db.cell import instance_lists

LONGEST = 63
LONGEST_NAME = 255


def display_name(name, count, index):
    """The name of one of `count` servers; several are numbered from 1."""
    if count == 1:
        return name
    suffix = f'-{index + 1}'
    return name[: LONGEST_NAME - len(suffix)] + suffix


def hostname(name, uuid):
    """The hostname that follows from a display name."""
    found = re.sub(r'[ _.]', '-', name.lower())
    found = re.sub(r'[^a-z0-9-]', '', found)[:LONGEST].strip('-')
    return found or f'Server-{uuid}'


def require_unique(req, names):
    """Raise AlreadyExists for names that [DEFAULT] says must not occur twice."""
    scope = req.conf.osapi_compute_unique_server_name_scope
    if not scope:
        return
    project_id = req.ctxt.project_id if scope == 'project' else None
    lowered = {name.lower() for name in names}
    conditions = [instance_lists.named(lowered), instance_lists.equals('deleted', False)]
    if project_id is not None:
        conditions.append(instance_lists.equals('project_id', project_id))
    counts = req.app.cells.scatter(instance_lists.count, conditions)
    taken = any(count for count in counts.values() if isinstance(count, int))
    pending = req.app.api_db.read(build_requests.every, project_id)
    if taken or any(row.instance['display_name'].lower() in lowered for row in pending):
        raise exception.AlreadyExists(what='Server', key=', '.join(names))
