"""/v3/users/{user_id}/application_credentials: secrets that stand for a user in a project."""

from collections.abc import Collection
import datetime
import functools

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import authentication
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import password_hashes
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

_DOMAIN = bodies.record({'id': bodies.ID, 'name': bodies.NAME})
_ROLE = {
    **bodies.record({'id': bodies.ID, 'name': bodies.NAME, 'domain': bodies.nullable(_DOMAIN)}),
    'anyOf': [{'required': ['id']}, {'required': ['name']}],
}
CREATE = bodies.wrapped(
    'application_credential',
    {
        'name': bodies.NAME,
        'description': bodies.nullable(bodies.TEXT),
        'secret': bodies.nullable({'type': 'string', 'minLength': 1, 'maxLength': 4096}),
        'expires_at': bodies.OPTIONAL_STRING,
        'roles': bodies.array(_ROLE),
        'unrestricted': bodies.nullable(bodies.BOOLEAN),
        'access_rules': bodies.array(access_rules.SCHEMA),
        'project_id': bodies.OPTIONAL_ID,
    },
    ['name'],
)


def _role(row: database.Row) -> bodies.Json:
    shown = {'id': row['id'], 'name': row['name'], 'description': row['description'] or None}
    return {**shown, 'domain_id': None, 'options': {}}


def _moment(moment: datetime.datetime | None) -> str | None:
    return moment.isoformat(timespec='microseconds') if moment else None


def view(conn: sa.Connection, req: web.Request, row: database.Row) -> bodies.Json:
    """Return one credential, with its secret in the answer to its creation."""
    roles = tables.among(conn, tables.roles, row['roles'])
    shown = {name: row[name] for name in ('id', 'name', 'description', 'project_id')}
    if 'secret' in row:
        shown['secret'] = row['secret']
    if rules := access_rules.of(conn, row['id']):
        shown['access_rules'] = [access_rules.view(one) for one in rules]
    return {
        **shown,
        'user_id': row['user_id'],
        'system': None,
        'expires_at': _moment(row['expires_at']),
        'unrestricted': row['unrestricted'],
        'roles': [_role(one) for one in roles],
        # As in Keystone, whose links lead nowhere.
        'links': views.links(req, f'application_credentials/{row["id"]}'),
    }


def create(
    conn: sa.Connection, caller: callers.Caller, user_id: str, wanted: bodies.Json
) -> database.Row:
    """Insert a credential for the caller's project and return its row, with the secret."""
    project_id = caller.project_id
    if project_id is None:
        raise faults.Forbidden('An application credential needs a token scoped to a project.')
    own = {'user_id': user_id, 'name': wanted['name']}
    if database.exists(conn, tables.application_credentials, **own):
        raise faults.Conflict(f'The user has an application credential {wanted["name"]} already.')
    tables.touch(conn)
    row = database.insert(
        conn,
        tables.application_credentials,
        **own,
        project_id=project_id,
        description=wanted.get('description'),
        secret_hash=wanted['secret_hash'],
        expires_at=tables.expiry(wanted.get('expires_at')),
        unrestricted=bool(wanted.get('unrestricted')),
        roles=_roles(conn, caller, project_id, wanted.get('roles') or ()),
    )
    access_rules.keep(conn, user_id, row['id'], wanted.get('access_rules') or ())
    return {**row, 'secret': wanted['secret']}


def _roles(
    conn: sa.Connection, caller: callers.Caller, project_id: str, wanted: Collection[bodies.Json]
) -> list[str]:
    """Return the ids of the requested roles, by default of all that the caller has there."""
    held = grants.effective(conn, caller.user_id, tables.PROJECT, project_id)
    held = [role for role in held if role['name'] in caller.roles]
    if not wanted:
        return [role['id'] for role in held]
    chosen: list[str] = []
    for asked in wanted:
        key = 'id' if 'id' in asked else 'name'
        found = [role['id'] for role in held if role[key] == asked[key]]
        if not found:
            raise faults.BadRequest(f'The user has no role {asked[key]} in the project.')
        chosen += found
    return sorted(set(chosen))


def delete(conn: sa.Connection, caller: callers.Caller, user_id: str, credential_id: str) -> None:
    """Delete a credential. Tokens that were obtained with it become void."""
    get(conn, caller, user_id, credential_id)
    database.delete(conn, tables.credential_rules, credential_id=credential_id)
    tables.remove(conn, tables.application_credentials, credential_id)


def get(
    conn: sa.Connection, _caller: callers.Caller, user_id: str, credential_id: str
) -> database.Row:
    """Return one credential of the user. Raise NotFound."""
    row = tables.get(conn, tables.application_credentials, credential_id)
    if row['user_id'] != user_id:
        raise faults.NotFound(f'Could not find application credential: {credential_id[:64]}.')
    return row


def listed(conn: sa.Connection, req: web.Request, user_id: str) -> list[database.Row]:
    """Return the user's credentials, by name."""
    table = tables.application_credentials
    query = sa.select(table).where(table.c.user_id == user_id).order_by(table.c.name)
    if name := req.get_param('name'):
        query = query.where(table.c.name == name)
    return database.rows(conn, query)


def _permit(caller: callers.Caller, action: str, path: resources.Path) -> None:
    """Raise Forbidden unless the caller owns it, or is an administrator who reads or deletes."""
    own = path['user_id'] == caller.user_id
    if action == resources.CREATE or (action == resources.DELETE and own):
        if caller.restricted or caller.trust_id:
            means = (
                'token is of a trust' if caller.trust_id else 'application credential is restricted'
            )
            raise faults.Forbidden(f'{callers.NOT_ALLOWED} (the {means})')
        if not own:
            raise faults.Forbidden(callers.NOT_ALLOWED)
    elif not own:
        caller.require_admin('seeing the application credentials of others')


def _prepare(wanted: bodies.Json, cost: int) -> database.Row:
    """Return the values with a secret and its hash."""
    secret = wanted.get('secret') or runtime.new_secret(64)
    return {**wanted, 'secret': secret, 'secret_hash': password_hashes.hashed(secret, cost)}


def by_secret(conn: sa.Connection, reference: database.Row) -> tuple[database.Row, database.Row]:
    """Return (user, credential) of an authentication request. Raise Unauthorized or NotFound."""
    row = authentication.credential(conn, reference)
    if row is None and 'id' in reference:
        raise faults.NotFound(f'Could not find Application Credential: {reference["id"][:64]}.')
    known = row['secret_hash'] if row else None
    if not password_hashes.matches(reference['secret'], known) or row is None:
        raise authentication.refused()
    user = database.find(conn, tables.users, id=row['user_id'], enabled=True)
    if user is None or tables.is_expired(row):
        raise authentication.refused()
    return user, row


def resource(password_cost: int) -> resources.Resource:
    """Return the resource. password_cost: scrypt's N for new secrets"""
    return resources.Resource(
        name='application_credential',
        style=views.STYLE,
        permit=_permit,
        prepare=lambda _req, wanted: _prepare(wanted, password_cost),
        listed=listed,
        get=get,
        views=lambda conn, req, rows: list(map(functools.partial(view, conn, req), rows)),
        create=(create, CREATE),
        delete=delete,
    )
