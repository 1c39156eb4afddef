"""/v3/users."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import lockout
from nova_lite.simcloud.identity import password_hashes
from nova_lite.simcloud.identity import projects
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

PASSWORD = {'type': 'string', 'minLength': 1, 'maxLength': 4096}
_PROPERTIES = {
    'name': bodies.NAME,
    'password': bodies.nullable(PASSWORD),
    'enabled': bodies.BOOLEAN,
    'domain_id': bodies.nullable(bodies.ID),
    'default_project_id': bodies.nullable(bodies.ID),
    'options': {'type': 'object'},
}
CREATE = bodies.wrapped('user', _PROPERTIES, ['name'], extra=True)
UPDATE = bodies.wrapped('user', _PROPERTIES, extra=True)
CHANGE_PASSWORD = bodies.wrapped(
    'user', {'password': PASSWORD, 'original_password': PASSWORD}, ['password', 'original_password']
)
# Attributes that answers compute. A request cannot store other values for them.
RESERVED = {
    *_PROPERTIES,
    *bodies.words('id links password_hash password_expires_at password_changed_at extra'),
}
CHANGEABLE = ('name', 'enabled', 'default_project_id', 'password_hash')


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one user, without the password."""
    values = {name: row[name] for name in ('id', 'name', 'domain_id', 'enabled')}
    if row['default_project_id']:
        values['default_project_id'] = row['default_project_id']
    return {
        **row['extra'],
        **values,
        'options': {},
        'password_expires_at': None,
        'links': views.links(req, f'users/{row["id"]}'),
    }


def create(
    conn: sa.Connection, _caller: callers.Caller | None, wanted: bodies.Json
) -> database.Row:
    """Insert a user from a request's values and return the row."""
    domain_id = wanted.get('domain_id') or domains.DEFAULT_ID
    tables.get(conn, tables.domains, domain_id)
    tables.require_free_name(conn, tables.users, wanted['name'], domain_id=domain_id)
    return database.insert(
        conn,
        tables.users,
        domain_id=domain_id,
        **{name: wanted[name] for name in CHANGEABLE if name in wanted},
        extra={k: v for k, v in wanted.items() if k not in RESERVED},
    )


def update(
    conn: sa.Connection, _caller: callers.Caller, user_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a user and return the row. A new password makes the user's tokens void.

    To enable a user, again, ends the lock after failed logins.
    """
    row = tables.get(conn, tables.users, user_id)
    if wanted.get('enabled'):
        lockout.forget(conn, user_id)
    if wanted.get('domain_id') not in (None, row['domain_id']):
        raise faults.BadRequest('A user cannot move to another domain.')
    values = {name: wanted[name] for name in CHANGEABLE if name in wanted}
    if 'password_hash' in values:
        values['password_changed_at'] = runtime.naive_now()
    name = (row | values)['name']
    domain_id = row['domain_id']
    tables.require_free_name(conn, tables.users, name, row_id=user_id, domain_id=domain_id)
    values['extra'] = row['extra'] | {k: v for k, v in wanted.items() if k not in RESERVED}
    return tables.save(conn, tables.users, row, **values)


def delete(conn: sa.Connection, _caller: callers.Caller, user_id: str) -> None:
    """Delete a user with assignments and tokens."""
    tables.get(conn, tables.users, user_id)
    grants.forget_user(conn, user_id)
    lockout.forget(conn, user_id)
    for table in (tables.tokens, tables.application_credentials):
        database.delete(conn, table, user_id=user_id)
    tables.remove(conn, tables.users, user_id)


def _hashed(wanted: bodies.Json, cost: int) -> database.Row:
    """Return the values with the hash of the password, computed outside of the transaction."""
    values = {name: value for name, value in wanted.items() if name != 'password_hash'}
    if wanted.get('password') is not None:
        values['password_hash'] = password_hashes.hashed(wanted['password'], cost)
    return values


def _permit(caller: callers.Caller, action: str, path: resources.Path) -> None:
    """Raise Forbidden unless the caller is an administrator, or reads their own user."""
    if action != resources.SHOW or path['user_id'] != caller.user_id:
        _by_admins(caller, action, path)


_by_admins = resources.admins('user')


def resource(password_cost: int) -> resources.Resource:
    """Return the resource. password_cost: scrypt's N for new passwords"""
    return resources.Resource(
        name='user',
        style=views.STYLE,
        permit=_permit,
        prepare=lambda _req, wanted: _hashed(wanted, password_cost),
        listed=views.lists(tables.users, 'name', 'domain_id'),
        get=views.known(tables.users),
        views=resources.each_as_asked(view),
        create=(create, CREATE),
        update=(update, UPDATE),
        only_updated=views.extra,
        delete=delete,
    )


class OwnResource:
    """Answers requests of users to change their own password and to list their own projects."""

    def __init__(
        self, db: database.Database, password_cost: int, passwords: lockout.Passwords
    ) -> None:
        self._db = db
        self._password_cost = password_cost
        self._passwords = passwords

    def on_post_password(self, req: web.Request, resp: falcon.Response, user_id: str) -> None:
        wanted = bodies.read(req, CHANGE_PASSWORD, 'user', limit=bodies.UNKNOWN_LIMIT_BYTES)
        with self._db.read() as conn:
            row = database.find(conn, tables.users, id=user_id)
        if not self._passwords.match(row, wanted['original_password']):
            raise faults.Unauthorized('The original password does not match.')
        changed = {'password_hash': password_hashes.hashed(wanted['password'], self._password_cost)}
        self._db.change(update, req.context.caller, user_id, changed)
        resp.status = falcon.HTTP_204

    def on_get_projects(self, req: web.Request, resp: falcon.Response, user_id: str) -> None:
        if user_id != req.context.caller.user_id:
            req.context.caller.require_admin("listing a user's projects")
        with self._db.read() as conn:
            found = grants.enabled_targets(conn, user_id, tables.projects)
            resp.media = projects.RESOURCE.collection(conn, req, found)
