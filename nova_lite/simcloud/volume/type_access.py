"""/v3/types/{id}: the projects that may use a private volume type."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_types

ACCESS = tables.type_access
ADD, REMOVE = 'addProjectAccess', 'removeProjectAccess'
_PROJECT = bodies.record({'project': bodies.ID}, ['project'], extra=False)
ACTION = bodies.action({ADD: _PROJECT, REMOVE: _PROJECT})


def _add(conn: sa.Connection, key: dict[str, str]) -> None:
    if database.exists(conn, ACCESS, **key):
        raise faults.Conflict(f'Volume type access for {_pair(key)} combination already exists.')
    database.insert(conn, ACCESS, **key)


def _remove(conn: sa.Connection, key: dict[str, str]) -> None:
    if not database.delete(conn, ACCESS, **key):
        raise faults.NotFound(f'Volume type access not found for {_pair(key)} combination.')


def _pair(key: dict[str, str]) -> str:
    return f'{key["volume_type_id"]} / {key["project_id"]}'


def act(conn: sa.Connection, caller: callers.Caller, type_id: str, action: bodies.Json) -> None:
    """Grant or revoke the access of a project to a private type."""
    ((name, wanted),) = action.items()
    row = volume_types.get(conn, caller, type_id)
    if row['is_public']:
        raise faults.BadRequest(
            'Invalid volume type: Type access modification is not applicable to public volume type.'
        )
    change = _add if name == ADD else _remove
    change(conn, {'volume_type_id': row['id'], 'project_id': wanted['project']})


class AccessResource:
    """Lists and changes the access of projects, for administrators."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, req: web.Request, resp: falcon.Response, type_id: str) -> None:
        req.context.caller.require_admin('listing access to a volume type')
        with self._db.read() as conn:
            row = volume_types.get(conn, req.context.caller, type_id)
            if row['is_public']:
                raise faults.NotFound('Access list not available for public volume types.')
            key = {'volume_type_id': row['id']}
            found = database.find_all(conn, ACCESS, **key, order=['project_id'])
        resp.media = {'volume_type_access': found}

    def on_post_action(self, req: web.Request, resp: falcon.Response, type_id: str) -> None:
        req.context.caller.require_admin('changing access to a volume type')
        self._db.change(act, req.context.caller, type_id, bodies.read(req, ACTION))
        resp.status = falcon.HTTP_202
