"""Scheduler hints of new servers, and the server group among them.

Source: reference/nova/create-server 1.3 and 2.3.
"""

import json
import typing

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.db import rows
from nova_lite.db.api import server_groups

KEYS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')
INTERNAL = '_nova'
Hints: typing.TypeAlias = dict[str, list[str]]


def parse(body: operation.Body) -> Hints:
    """Return the scheduler hints of a body, which stand beside `server`."""
    given: dict[str, typing.Any] = next((body[key] for key in KEYS if key in body), {})
    return {name: _texts(value) for name, value in given.items() if not name.startswith(INTERNAL)}


def group_of(req: request.Request, hints: Hints) -> rows.Row | None:
    """Return the server group that hints name, or None. Raise Invalid."""
    groups = hints.get('group')
    if not groups:
        return None
    project_id = None if req.ctxt.is_admin else req.ctxt.project_id
    try:
        return req.app.api_db.read(server_groups.get, groups[0], project_id)
    except exception.ServerGroupNotFound as error:
        raise exception.Invalid(error.message) from error


def _texts(value: typing.Any) -> list[str]:
    """Return the values of a hint as a list of texts, as in the request spec."""
    values = value if isinstance(value, list) else [value]
    return [each if isinstance(each, str) else json.dumps(each) for each in values]
