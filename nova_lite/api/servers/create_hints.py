"""Scheduler hints of new servers, and the server group among them.

Source: reference/nova/create-server 1.3 and 2.3.
"""

import json

from nova_lite import exception
from nova_lite.db.api import server_groups

KEYS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')
INTERNAL = '_nova'


def parse(req, plan):
    """Fill hints and server_group from the body, beside `server`; raises Invalid."""
    given = next((req.body[key] for key in KEYS if key in req.body), {})
    plan.hints = {
        name: _texts(value) for name, value in given.items() if not name.startswith(INTERNAL)
    }
    groups = plan.hints.get('group')
    if not groups:
        return
    project_id = None if req.ctxt.is_admin else req.ctxt.project_id
    try:
        plan.server_group = req.app.api_db.read(server_groups.get, groups[0], project_id)
    except exception.ServerGroupNotFound as error:
        raise exception.Invalid(error.message) from error


def _texts(value):
    """Return a hint as the request spec keeps it: a list of texts."""
    values = value if isinstance(value, list) else [value]
    return [each if isinstance(each, str) else json.dumps(each) for each in values]
