"""/v3/credentials and /v3/policies: texts that Keystone stores for others and never reads."""

import hashlib
import json

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

CREDENTIALS, POLICIES = tables.credentials, tables.policies
EC2 = 'ec2'
_POLICY = {'type': bodies.NAME, 'blob': bodies.TEXT}
_CREDENTIAL = {
    **_POLICY,
    'user_id': bodies.ID,
    'project_id': bodies.nullable(bodies.ID),
}


# ---- credentials ----


def _own(query: views.Query, caller: callers.Caller) -> views.Query:
    """Restrict a query to the credentials of the caller, unless that is an administrator."""
    return query if caller.is_admin else query.where(CREDENTIALS.c.user_id == caller.user_id)


def _require_owner(caller: callers.Caller, user_id: str) -> None:
    if not caller.is_admin and user_id != caller.user_id:
        raise faults.Forbidden(callers.NOT_ALLOWED)


def _get(conn: sa.Connection, caller: callers.Caller, credential_id: str) -> database.Row:
    row = tables.get(conn, CREDENTIALS, credential_id)
    _require_owner(caller, row['user_id'])
    return row


def _ec2_id(values: dict[str, str]) -> str:
    """Return the ID of a credential of type ec2, by which its access key is found."""
    if not values.get('project_id'):
        raise faults.BadRequest('A credential of type ec2 needs a project_id.')
    try:
        access = json.loads(values['blob'])['access']
        return hashlib.sha256(access.encode()).hexdigest()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise faults.BadRequest('The blob is not JSON with a text `access`.') from error


def _create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    _require_owner(caller, wanted['user_id'])
    values = database.columns(CREDENTIALS, wanted)
    if wanted['type'] == EC2:
        values['id'] = _ec2_id(wanted)
        if database.exists(conn, CREDENTIALS, id=values['id']):
            raise faults.Conflict('Conflict occurred attempting to store credential.')
    else:
        values.pop('id', None)
    return database.insert(conn, CREDENTIALS, **values)


def _update(
    conn: sa.Connection, caller: callers.Caller, credential_id: str, wanted: bodies.Json
) -> database.Row:
    row = _get(conn, caller, credential_id)
    tables.require_change(wanted)
    return database.save(conn, CREDENTIALS, row, **wanted)


def _delete(conn: sa.Connection, caller: callers.Caller, credential_id: str) -> None:
    _get(conn, caller, credential_id)
    database.delete(conn, CREDENTIALS, id=credential_id)


def forget(conn: sa.Connection, user_id: str) -> None:
    """Delete the credentials of a user who is being deleted."""
    database.delete(conn, CREDENTIALS, user_id=user_id)


CREDENTIAL = resources.Resource(
    name='credential',
    style=views.STYLE,
    listed=views.seen(CREDENTIALS, 'user_id', 'type', see=_own),
    get=_get,
    views=views.viewer('credentials'),
    create=(
        _create,
        bodies.wrapped('credential', _CREDENTIAL, ['type', 'blob', 'user_id'], extra=True),
    ),
    # Keystone refuses to change other attributes.
    update=(_update, bodies.wrapped('credential', {'blob': bodies.TEXT}, extra=False)),
    delete=_delete,
)


# ---- policies ----


def _create_policy(
    conn: sa.Connection, _caller: callers.Caller, wanted: bodies.Json
) -> database.Row:
    return database.insert(conn, POLICIES, **wanted)


def _update_policy(
    conn: sa.Connection, _caller: callers.Caller, policy_id: str, wanted: bodies.Json
) -> database.Row:
    tables.require_change(wanted)
    return database.save(conn, POLICIES, tables.get(conn, POLICIES, policy_id), **wanted)


def _delete_policy(conn: sa.Connection, _caller: callers.Caller, policy_id: str) -> None:
    tables.get(conn, POLICIES, policy_id)
    database.delete(conn, POLICIES, id=policy_id)


POLICY = resources.Resource(
    name='policy',
    plural='policies',
    style=views.STYLE,
    permit=resources.admins('policy'),
    listed=views.seen(POLICIES, 'type'),
    get=views.known(POLICIES),
    views=views.viewer('policies'),
    create=(_create_policy, bodies.wrapped('policy', _POLICY, ['type', 'blob'], extra=False)),
    update=(_update_policy, bodies.wrapped('policy', _POLICY, extra=False)),
    delete=_delete_policy,
)
