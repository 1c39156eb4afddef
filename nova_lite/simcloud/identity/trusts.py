"""/v3/OS-TRUST/trusts: roles in a project that one user delegates to another.

The trustor delegates roles to the trustee, who obtains tokens with the trust. As in Keystone, a
token of a trust cannot be exchanged for another token. Unlike in Keystone, it cannot create a
further trust.
"""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import roles
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

TRUSTS = tables.trusts
PATH = 'OS-TRUST/trusts'
ENDS = ('trustor_user_id', 'trustee_user_id')
# Keystone's default of max_redelegation_count.
DEPTH = 3
_ROLE = {
    **bodies.record({'id': bodies.ID, 'name': bodies.NAME}, extra=False),
    'minProperties': 1,
    'maxProperties': 1,
}
CREATE = bodies.wrapped(
    'trust',
    {
        **dict.fromkeys(ENDS, bodies.ID),
        'impersonation': bodies.BOOLEAN,
        'project_id': bodies.OPTIONAL_ID,
        'roles': bodies.array(_ROLE),
        'expires_at': bodies.OPTIONAL_STRING,
        'remaining_uses': bodies.nullable({**bodies.COUNT, 'minimum': 1}),
        'allow_redelegation': bodies.nullable(bodies.BOOLEAN),
        'redelegation_count': bodies.nullable(bodies.COUNT),
        'redelegated_trust_id': bodies.OPTIONAL_ID,
    },
    [*ENDS, 'impersonation'],
    extra=True,
)


def _brief(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one trust as in lists, without its roles."""
    shown = {name: value for name, value in row.items() if name != 'roles'}
    expires_at = row['expires_at']
    return {
        **shown,
        'expires_at': expires_at and expires_at.isoformat(timespec='microseconds') + 'Z',
        'deleted_at': None,
        'redelegated_trust_id': None,
        'links': views.links(req, f'{PATH}/{row["id"]}'),
    }


def _roles_body(
    conn: sa.Connection, req: web.Request, row: database.Row
) -> tuple[list[bodies.Json], bodies.Json]:
    found = tables.among(conn, tables.roles, row['roles'])
    # As in Keystone, whose links lead nowhere.
    links = {**views.links(req, f'{row["id"]}/roles'), 'next': None, 'previous': None}
    return [roles.view(req, one) for one in found], links


def _view(conn: sa.Connection, req: web.Request, row: database.Row) -> bodies.Json:
    """Return one trust in full."""
    shown, links = _roles_body(conn, req, row)
    return {**_brief(req, row), 'roles': shown, 'roles_links': links}


def _views(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    return [_view(conn, req, row) for row in found]


def find_usable(conn: sa.Connection, trust_id: str) -> database.Row | None:
    """Return the row of a trust that has not expired and has uses left, or None."""
    row = database.find(conn, TRUSTS, id=trust_id)
    if row is None or tables.is_expired(row) or row['remaining_uses'] == 0:
        return None
    return row


def roles_of(conn: sa.Connection, row: database.Row) -> list[grants.Role]:
    """Return the roles of a trust; none if the trustor has lost one of them."""
    delegated = grants.expanded(conn, row['roles'])
    held = grants.effective(conn, row['trustor_user_id'], tables.PROJECT, row['project_id'])
    found = [role for role in held if role['id'] in delegated]
    return found if len(found) == len(delegated) else []


def use(conn: sa.Connection, trust_id: str) -> None:
    """Count one use of a trust, for a new token. Raise Forbidden after the last use."""
    row = find_usable(conn, trust_id)
    if row is None:
        raise faults.Forbidden(f'No remaining uses for trust: {trust_id}.')
    if row['remaining_uses'] is not None:
        database.save(conn, TRUSTS, row, remaining_uses=row['remaining_uses'] - 1)


def _refused(reason: str) -> faults.Forbidden:
    return faults.Forbidden(f'{callers.NOT_ALLOWED} ({reason})')


def _redelegation(wanted: bodies.Json) -> int:
    """Return the redelegation count of a new trust. Raise Forbidden or BadRequest."""
    count = wanted.get('redelegation_count')
    if not wanted.get('allow_redelegation') or count == 0:
        return 0
    if count is not None and count > DEPTH:
        raise faults.Forbidden(
            f'Requested redelegation depth of {count} is greater than allowed {DEPTH}'
        )
    if wanted.get('remaining_uses') is not None:
        raise faults.BadRequest('remaining_uses must not be set if redelegation is allowed')
    return count or DEPTH


def _delegated(conn: sa.Connection, wanted: bodies.Json) -> list[str]:
    """Return the ids of the requested roles. Raise NotFound for a role that the trustor lacks."""
    held = []
    if project_id := wanted.get('project_id'):
        tables.get(conn, tables.projects, project_id)
        held = grants.effective(conn, wanted['trustor_user_id'], tables.PROJECT, project_id)
    found = []
    for asked in wanted.get('roles', ()):
        ((key, value),) = asked.items()
        matching = [role['id'] for role in held if role[key] == value]
        if not matching:
            raise faults.NotFound(f'Could not find role: {value}.')
        found += matching
    return sorted(set(found))


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row | None:
    """Insert a trust from a request's values and return its row."""
    if wanted.get('project_id') and not wanted.get('roles'):
        raise _refused('At least one role should be specified')
    if wanted['trustor_user_id'] != caller.user_id:
        raise _refused('The authenticated user should match the trustor')
    tables.get(conn, tables.users, wanted['trustee_user_id'])
    delegated = _delegated(conn, wanted)
    values = {name: wanted[name] for name in (*ENDS, 'impersonation')}
    values |= {
        'project_id': wanted.get('project_id'),
        'expires_at': tables.expiry(wanted.get('expires_at')),
    }
    if values['expires_at'] and database.exists(conn, TRUSTS, **values):
        raise faults.Conflict('Conflict occurred attempting to store trust - Duplicate entry.')
    return database.insert(
        conn,
        TRUSTS,
        **values,
        remaining_uses=wanted.get('remaining_uses'),
        redelegation_count=_redelegation(wanted),
        roles=delegated,
    )


def get(conn: sa.Connection, caller: callers.Caller, trust_id: str) -> database.Row:
    """Return a trust that the caller may see. Raise NotFound or Forbidden."""
    row = find_usable(conn, trust_id)
    if row is None:
        raise faults.NotFound(f'Could not find trust: {trust_id[:64]}.')
    if caller.user_id not in (row[end] for end in ENDS) and not caller.is_admin:
        raise _refused('Requested user has no relation to this trust')
    return row


def delete(conn: sa.Connection, caller: callers.Caller, trust_id: str) -> None:
    """Delete a trust. Tokens that were obtained with it become void."""
    row = get(conn, caller, trust_id)
    if row['trustor_user_id'] != caller.user_id and not caller.is_admin:
        raise _refused('Only admin or trustor can delete a trust')
    tables.remove(conn, TRUSTS, trust_id)


def listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    """Return the trusts of a trustor or of a trustee, or all trusts for an administrator."""
    query = sa.select(TRUSTS).order_by(TRUSTS.c.id)
    chosen = next((end for end in ENDS if req.get_param(end)), None)
    if chosen is None:
        req.context.caller.require_admin('listing the trusts of others')
        return database.rows(conn, query)
    user_id = req.get_param(chosen)
    if user_id != req.context.caller.user_id:
        req.context.caller.require_admin('listing the trusts of others')
    return database.rows(conn, query.where(TRUSTS.c[chosen] == user_id))


def _permit(caller: callers.Caller, action: str, _path: resources.Path) -> None:
    """Raise Forbidden if a delegated token is used to create a trust."""
    if action == resources.CREATE and (caller.restricted or caller.trust_id):
        raise _refused('Delegated tokens cannot create trusts')


RESOURCE = resources.Resource(
    name='trust',
    style=views.STYLE,
    permit=_permit,
    listed=listed,
    get=get,
    views=resources.each_as_asked(_brief),
    shown=_views,
    changed=_views,
    create=(create, CREATE),
    delete=delete,
)


class RolesResource:
    """Answers requests for the roles that a trust delegates."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _read(self, req: web.Request, trust_id: str) -> tuple[list[bodies.Json], database.Row]:
        with self._db.read() as conn:
            return _roles_body(conn, req, get(conn, req.context.caller, trust_id))

    def on_get(self, req: web.Request, resp: falcon.Response, trust_id: str) -> None:
        found, links = self._read(req, trust_id)
        resp.media = {'roles': found, 'links': links}

    def on_get_one(
        self, req: web.Request, resp: falcon.Response, trust_id: str, role_id: str
    ) -> None:
        found, _links = self._read(req, trust_id)
        wanted = [role for role in found if role['id'] == role_id]
        if not wanted:
            raise faults.NotFound(f'Could not find role: {role_id[:64]}.')
        resp.media = {'role': wanted[0]}

    def on_head_one(
        self, req: web.Request, resp: falcon.Response, trust_id: str, role_id: str
    ) -> None:
        self.on_get_one(req, resp, trust_id, role_id)


def add(app: routing.App, db: database.Database, v3: str) -> None:
    """Put the routes of trusts into `app`."""
    path = f'{v3}/{PATH}'
    routing.add_resource(app, db, path, field='trust_id', resource=RESOURCE)
    routing.add_crud(app, f'{path}/{{trust_id}}/roles', RolesResource(db), 'role_id')
