"""Authentication requests: their user and scope."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import trusts

# Keystone has fewer than ten.
MOST_METHODS = 20
REFUSED = 'The request you have made requires authentication.'

_DOMAIN = bodies.record({'id': bodies.ID, 'name': bodies.NAME})
_NAMED = bodies.record({'id': bodies.ID, 'name': bodies.NAME, 'domain': _DOMAIN})
# The name of a project is unique only in its domain.
_PROJECT = {**_NAMED, 'anyOf': [{'required': ['id']}, {'required': ['name', 'domain']}]}
_USER = bodies.record({**_NAMED['properties'], 'password': {'type': 'string'}}, ['password'])
# The name of a credential is unique only for its user.
_CREDENTIAL = {
    **bodies.record(
        {'id': bodies.ID, 'name': bodies.NAME, 'user': _NAMED, 'secret': {'type': 'string'}},
        ['secret'],
    ),
    'anyOf': [{'required': ['id']}, {'required': ['name', 'user']}],
}
_IDENTITY = bodies.record(
    {
        'methods': bodies.array(bodies.NAME, MOST_METHODS),
        'password': bodies.record({'user': _USER}, ['user']),
        'token': bodies.record({'id': bodies.NAME}, ['id']),
        'application_credential': _CREDENTIAL,
    },
    ['methods'],
)
TRUST = 'OS-TRUST:trust'
_TRUST = bodies.record({'id': bodies.ID}, ['id'])
_SCOPES = {'project': _PROJECT, 'domain': _DOMAIN, TRUST: _TRUST}
_SCOPE = {'anyOf': [{'enum': ['unscoped']}, bodies.record(_SCOPES)]}
REQUEST = bodies.wrapped('auth', {'identity': _IDENTITY, 'scope': _SCOPE}, ['identity'], extra=True)


def refused() -> faults.Unauthorized:
    """Return the answer to every failed login. It must not reveal the reason."""
    return faults.Unauthorized(REFUSED)


def _domain_id(conn: sa.Connection, reference: bodies.Json | None) -> str | None:
    if not reference:
        return None
    if 'id' in reference:
        return str(reference['id'])
    domain = database.find(conn, tables.domains, name=reference.get('name'))
    return domain['id'] if domain else None


def _by_reference(
    conn: sa.Connection, table: sa.Table, reference: database.Row
) -> database.Row | None:
    """Return the row that {id} or {name, domain} refers to, or None."""
    if 'id' in reference:
        return database.find(conn, table, id=reference['id'])
    domain_id = _domain_id(conn, reference.get('domain'))
    if domain_id is None or 'name' not in reference:
        return None
    return database.find(conn, table, name=reference['name'], domain_id=domain_id)


def user_of(conn: sa.Connection, reference: database.Row) -> database.Row | None:
    """Return the user that {id} or {name, domain} refers to, or None."""
    return _by_reference(conn, tables.users, reference)


def credential(conn: sa.Connection, reference: database.Row) -> database.Row | None:
    """Return the application credential that {id} or {name, user} refers to, or None."""
    table = tables.application_credentials
    if 'id' in reference:
        return database.find(conn, table, id=reference['id'])
    user = user_of(conn, reference['user'])
    return user and database.find(conn, table, name=reference['name'], user_id=user['id'])


def scope_of(conn: sa.Connection, auth: database.Row, user: database.Row) -> tuple[str, str] | None:
    """Return the requested scope as (kind, id); None for an unscoped token."""
    scope = auth.get('scope')
    if scope == 'unscoped':
        return None
    if not scope:
        default = user['default_project_id']
        return (tables.PROJECT, default) if default else None
    if 'project' in scope:
        project = _by_reference(conn, tables.projects, scope['project'])
        if project is None:
            raise refused()
        return tables.PROJECT, project['id']
    if 'domain' in scope:
        domain_id = _domain_id(conn, scope['domain'])
        if domain_id is None:
            raise refused()
        return tables.DOMAIN, domain_id
    if TRUST in scope:
        return _of_trust(conn, scope[TRUST]['id'], user)
    raise faults.BadRequest('Invalid input for auth.scope: name a project, a domain or a trust.')


def _of_trust(conn: sa.Connection, trust_id: str, user: database.Row) -> tuple[str, str]:
    trust = trusts.find_usable(conn, trust_id)
    if trust is None:
        raise refused()
    if user['id'] != trust['trustee_user_id']:
        raise faults.Forbidden('User is not a trustee.')
    if not database.exists(conn, tables.users, id=trust['trustor_user_id'], enabled=True):
        raise faults.Forbidden('Trustor is disabled.')
    if not trusts.roles_of(conn, trust):
        raise faults.Forbidden('Trustee has no delegated roles.')
    return tables.TRUST, trust_id
