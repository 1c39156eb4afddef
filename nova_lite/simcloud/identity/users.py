"""/v3/users."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import passwords
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
# What an answer already says in its own words; a request cannot store it beside.
RESERVED = frozenset(
    (
        *_PROPERTIES,
        'id',
        'links',
        'password_hash',
        'password_expires_at',
        'password_changed_at',
        'extra',
    )
)


def view(req, row):
    """One user, never with the password."""
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


def collection(req, found):
    """A list of users."""
    return views.collection(req, 'users', [view(req, row) for row in found])


def get(conn, user_id):
    """One row; NotFound otherwise."""
    row = tables.find(conn, tables.users, id=user_id)
    if row is None:
        raise faults.NotFound(f'Could not find user: {user_id[:64]}.')
    return row


def _require_free_name(conn, domain_id, name, user_id=None):
    same = tables.find(conn, tables.users, domain_id=domain_id, name=name)
    if same and same['id'] != user_id:
        raise faults.Conflict(
            f'Conflict occurred attempting to store user - it is not '
            f'permitted to have two with the name {name} in one domain.'
        )


def create(conn, wanted, password_hash):
    """Insert a user from a request's values and return the row."""
    domain_id = wanted.get('domain_id') or domains.DEFAULT_ID
    domains.get(conn, domain_id)
    _require_free_name(conn, domain_id, wanted['name'])
    row = {
        'id': runtime.new_uuid().replace('-', ''),
        'domain_id': domain_id,
        'name': wanted['name'],
        'password_hash': password_hash,
        'password_changed_at': runtime.naive_now(),
        'enabled': wanted.get('enabled', True),
        'default_project_id': wanted.get('default_project_id'),
        'extra': {k: v for k, v in wanted.items() if k not in RESERVED},
    }
    conn.execute(tables.users.insert().values(**row))
    return row


def update(conn, user_id, wanted, password_hash):
    """Change a user and return the row; a new password voids the tokens."""
    row = get(conn, user_id)
    if wanted.get('domain_id') not in (None, row['domain_id']):
        raise faults.BadRequest('A user cannot move to another domain.')
    values = {
        name: wanted[name] for name in ('name', 'enabled', 'default_project_id') if name in wanted
    }
    if password_hash is not None:
        values |= {'password_hash': password_hash, 'password_changed_at': runtime.naive_now()}
    _require_free_name(conn, row['domain_id'], values.get('name', row['name']), user_id)
    values['extra'] = row['extra'] | {k: v for k, v in wanted.items() if k not in RESERVED}
    conn.execute(tables.users.update().where(tables.users.c.id == user_id).values(**values))
    tables.touch(conn)
    return get(conn, user_id)


def delete(conn, user_id):
    """Remove a user with assignments and tokens."""
    get(conn, user_id)
    grants.revoke(conn, user_id=user_id)
    conn.execute(tables.tokens.delete().where(tables.tokens.c.user_id == user_id))
    conn.execute(tables.users.delete().where(tables.users.c.id == user_id))
    tables.touch(conn)


def listed(conn, req):
    """The users that the request's filters choose, by name."""
    table = tables.users
    query = sa.select(table).order_by(table.c.name, table.c.id)
    for name in ('name', 'domain_id'):
        if value := req.get_param(name):
            query = query.where(table.c[name] == value)
    if enabled := req.get_param('enabled'):
        query = query.where(table.c.enabled == listing.boolean(enabled, 'enabled'))
    return views.truncated(database.rows(conn, query), req)


def _hash_in(wanted):
    password = wanted.get('password')
    return passwords.hashed(password) if password is not None else None


class UserResource:
    """All are the administrators'; users may show and re-key themselves."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        req.context.caller.require_admin('listing users')
        with self._db.read() as conn:
            resp.media = collection(req, listed(conn, req))

    def on_post(self, req, resp):
        req.context.caller.require_admin('creating a user')
        wanted = bodies.read(req, CREATE, 'user')
        row = self._db.change(create, wanted, _hash_in(wanted))
        resp.status = falcon.HTTP_201
        resp.media = {'user': view(req, row)}

    @staticmethod
    def _require_self(req, user_id, action):
        if user_id != req.context.caller.user_id:
            req.context.caller.require_admin(action)

    def on_get_one(self, req, resp, user_id):
        self._require_self(req, user_id, 'showing a user')
        with self._db.read() as conn:
            resp.media = {'user': view(req, get(conn, user_id))}

    def on_patch_one(self, req, resp, user_id):
        req.context.caller.require_admin('changing a user')
        wanted = bodies.read(req, UPDATE, 'user')
        row = self._db.change(update, user_id, wanted, _hash_in(wanted))
        resp.media = {'user': view(req, row)}

    def on_delete_one(self, req, resp, user_id):
        req.context.caller.require_admin('deleting a user')
        self._db.change(delete, user_id)
        resp.status = falcon.HTTP_204

    def on_post_password(self, req, resp, user_id):
        wanted = bodies.read(req, CHANGE_PASSWORD, 'user')
        with self._db.read() as conn:
            row = tables.find(conn, tables.users, id=user_id)
        known = row['password_hash'] if row else None
        if not passwords.matches(wanted['original_password'], known):
            raise faults.Unauthorized('The original password does not match.')
        self._db.change(update, user_id, {}, passwords.hashed(wanted['password']))
        resp.status = falcon.HTTP_204

    def on_get_projects(self, req, resp, user_id):
        self._require_self(req, user_id, "listing a user's projects")
        with self._db.read() as conn:
            resp.media = projects.collection(
                req, projects.enabled_for(conn, grants.targets(conn, user_id, tables.PROJECT))
            )
