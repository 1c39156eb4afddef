"""Key pairs of a user.

Source: reference/nova/api-surface 2.6.
"""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import keys
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import quota
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import times
from nova_lite.api.policies import keypairs as rules
from nova_lite.db import rows
from nova_lite.db.api import keypairs
from nova_lite.db.api import quota_locks

ALL = '/os-keypairs'
ONE = '/os-keypairs/{keypair_name}'
TYPES = ('ssh', 'x509')

# ---- schemas ----------------------------------------------------------------

NAME = {**schema_parts.STRIPPED_NAME, 'pattern': r'^[a-zA-Z0-9 _-]*$'}
NAME_V92 = {**schema_parts.NAME, 'pattern': r'^[a-zA-Z0-9 @._-]*$'}
PUBLIC_KEY = {'type': 'string', 'maxLength': 16384}
USER = {'type': 'string', 'maxLength': 255}
V1: dict[str, schema.Source] = {'name': NAME, 'public_key': PUBLIC_KEY}
V2 = {**V1, 'type': {'type': 'string', 'enum': [*TYPES]}}
V10 = {**V2, 'user_id': USER}
V92 = {**V10, 'name': NAME_V92}
CREATE = {
    '2.1': schema_parts.body('keypair', schema_parts.whole(V1, required=('name',))),
    '2.2': schema_parts.body('keypair', schema_parts.whole(V2, required=('name',))),
    '2.10': schema_parts.body('keypair', schema_parts.whole(V10, required=('name',))),
    '2.92': schema_parts.body('keypair', schema_parts.whole(V92, required=('name', 'public_key'))),
}
OF_USER = {'user_id': schema_parts.multi()}
LIST_QUERY = {
    '2.1': schema_parts.query({}),
    '2.10': schema_parts.query(OF_USER),
    '2.35': schema_parts.query({**OF_USER, **schema_parts.PAGE}),
    '2.75': schema_parts.query({**OF_USER, **schema_parts.PAGE}, strict=True),
}
ONE_QUERY = {
    '2.1': schema_parts.query({}),
    '2.10': schema_parts.query(OF_USER),
    '2.75': schema_parts.query(OF_USER, strict=True),
}


class QuotaReached(exception.OverQuota):
    msg = 'Quota exceeded, too many key pairs.'


# ---- operations -------------------------------------------------------------


@operation.operation('GET', ALL, query=LIST_QUERY, faults=(400, 403))
def list_keypairs(req: request.Request) -> operation.Result:
    """Key pairs by name, in pages from 2.35."""
    user_id = _owner(req, rules.LIST)
    limit = paging.limit_of(req) if req.minor >= 35 else None
    chosen = req.app.api_db.read(keypairs.page, user_id, limit=limit, marker=req.param('marker'))
    more = limit is not None and paging.is_full(req, chosen, limit)
    shown = [{'keypair': _brief(req, row)} for row in chosen]
    return paging.with_next(req, 'keypairs', shown, chosen[-1].name if more else None)


@operation.operation('GET', ONE, query=ONE_QUERY, faults=(400, 403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one key pair."""
    user_id = _owner(req, rules.SHOW)
    row = req.app.api_db.read(keypairs.get, user_id, req.args['keypair_name'])
    return {
        'keypair': {
            **_brief(req, row),
            'id': row.id,
            'user_id': row.user_id,
            'created_at': times.naive(row.created_at),
            'updated_at': times.naive(row.updated_at),
            'deleted': False,
            'deleted_at': None,
        }
    }


def _create(req: request.Request) -> operation.Body:
    given = req.content
    user_id = given.get('user_id') or req.user_id
    req.authorize(rules.CREATE, {'user_id': user_id})
    kind = given.get('type', 'ssh')
    private, public = None, given.get('public_key')
    if public is None:
        private, public = keys.generate(kind, user_id)
    values = {
        'user_id': user_id,
        'name': given['name'].strip(),
        'type': kind,
        'public_key': public,
        'fingerprint': keys.fingerprint(kind, public),
    }
    row = quota_locks.write(
        req.app.api_db,
        _store,
        quota.rules(req),
        req.ctxt.project_id or '',
        values,
        imported=private is None,
    )
    shown = {**_brief(req, row), 'user_id': user_id}
    if private is not None:
        shown['private_key'] = private
    return {'keypair': shown}


@operation.operation('POST', ALL, until='2.1', body=CREATE, faults=(400, 403, 409))
def create_v1(req: request.Request) -> operation.Result:
    """Import or make a key pair; the answer was 200 at first."""
    return _create(req)


@operation.operation('POST', ALL, since='2.2', body=CREATE, success=201, faults=(400, 403, 409))
def create(req: request.Request) -> operation.Result:
    """Import a key pair, or before 2.92 make one."""
    return _create(req)


def _delete(req: request.Request) -> None:
    user_id = _owner(req, rules.DELETE)
    req.app.api_db.write(keypairs.destroy, user_id, req.args['keypair_name'])


@operation.operation(
    'DELETE', ONE, until='2.1', query=ONE_QUERY, success=202, faults=(400, 403, 404)
)
def delete_v1(req: request.Request) -> None:
    """Delete a key pair; the answer was 202 at first."""
    _delete(req)


@operation.operation(
    'DELETE', ONE, since='2.2', query=ONE_QUERY, success=204, faults=(400, 403, 404)
)
def delete(req: request.Request) -> None:
    """Delete a key pair; servers keep their copy of the public key."""
    _delete(req)


# ---- parts ------------------------------------------------------------------


def _owner(req: request.Request, rule: str) -> str:
    """Return the id of the user whose key pairs are requested. Check the policy."""
    user_id = req.first('user_id') or req.user_id
    req.authorize(rule, {'user_id': user_id})
    return user_id


def _brief(req: request.Request, row: rows.Row) -> operation.Body:
    shown = {'name': row.name, 'public_key': row.public_key, 'fingerprint': row.fingerprint}
    if req.minor >= 2:
        shown['type'] = row.type
    return shown


def _store(
    connection: sa.Connection,
    by: quota_rules.Rules,
    project_id: str,
    values: rows.Values,
    *,
    imported: bool,
) -> rows.Row:
    quota_locks.hold(connection, quota_locks.of_user(values['user_id']))
    row = keypairs.create(connection, values, imported=imported)
    limit = by.limits(connection, project_id, values['user_id'])['key_pairs']
    if 0 <= limit < keypairs.count(connection, values['user_id']):
        raise QuotaReached()
    return row
