"""/v2/shares/{id}/action and /v2/share-access-rules: rights to mount a share."""

import ipaddress
import typing

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.share import locks
from nova_lite.simcloud.share import microversion
from nova_lite.simcloud.share import shares
from nova_lite.simcloud.share import tables

RULES = tables.rules
# Kinds of clients that may be granted access to a share, by protocol; 'ip' by default.
TYPES = {'CEPHFS': ('cephx',), 'NFS': ('ip', 'user'), 'CIFS': ('ip', 'user')}
HIDDEN = '******'
_LOCKS = {
    'lock_visibility': bodies.BOOLEAN,
    'lock_deletion': bodies.BOOLEAN,
    'lock_reason': bodies.OPTIONAL_STRING,
}
_ALLOW = {
    'access_type': {'enum': ['ip', 'user', 'cert', 'cephx']},
    'access_to': bodies.NAME,
    'access_level': {'enum': ['rw', 'ro', None]},
    'metadata': bodies.nullable(shares.METADATA),
    **_LOCKS,
}
ALLOW = bodies.wrapped('allow_access', _ALLOW, ['access_type', 'access_to'])
DENY = bodies.wrapped(
    'deny_access', {'access_id': bodies.ID, 'unrestrict': bodies.BOOLEAN}, ['access_id']
)
LIST = bodies.compiled(bodies.record({'access_list': {}}, ['access_list'], extra=False))


def _view(conn: sa.Connection, caller: callers.Caller, row: database.Row) -> bodies.Json:
    shown = {**row, 'state': 'active'}
    for name in ('created_at', 'updated_at'):
        shown[name] = storage.stamp(row[name])
    if locks.has(conn, row['id'], locks.SHOW) and not caller.is_privileged:
        shown.update(access_to=HIDDEN, access_key=HIDDEN if row['access_key'] else None)
    return shown


def _require_address(text: str) -> None:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise faults.BadRequest(f'Invalid input for access_to: {error}') from error


def _allow(
    conn: sa.Connection, caller: callers.Caller, share_id: str, wanted: bodies.Json
) -> database.Row:
    share = shares.owned(conn, caller, share_id)
    kind, access_to = wanted['access_type'], wanted['access_to']
    if kind not in TYPES.get(share['share_proto'], ('ip',)):
        raise faults.BadRequest(
            f'Invalid input for access_type: {share["share_proto"]} has no type {kind}.'
        )
    if kind == 'ip':
        _require_address(access_to)
    if database.exists(conn, RULES, share_id=share['id'], access_type=kind, access_to=access_to):
        raise faults.BadRequest(f'Share access {kind}:{access_to} exists.')
    row = database.insert(
        conn,
        RULES,
        share_id=share['id'],
        access_type=kind,
        access_to=access_to,
        access_level=wanted.get('access_level') or 'rw',
        access_key=runtime.new_secret() if kind == 'cephx' else None,
        metadata=wanted.get('metadata') or {},
    )
    for option, action in (('lock_visibility', locks.SHOW), ('lock_deletion', locks.DELETE)):
        if wanted.get(option):
            locks.place(
                conn,
                caller,
                share['project_id'],
                resource_type='access_rule',
                resource_id=row['id'],
                resource_action=action,
                lock_reason=wanted.get('lock_reason'),
            )
    return row


def _deny(conn: sa.Connection, caller: callers.Caller, share_id: str, wanted: bodies.Json) -> None:
    share = shares.owned(conn, caller, share_id)
    row = database.find(conn, RULES, id=wanted['access_id'], share_id=share['id'])
    if row is None:
        raise faults.NotFound(f'Access rule {wanted["access_id"]} could not be found.')
    if wanted.get('unrestrict'):
        _unrestrict(conn, caller, row)
    locks.require_none(conn, 'access_rule', row['id'])
    shares.remove_rule(conn, row['id'])


def _unrestrict(conn: sa.Connection, caller: callers.Caller, row: database.Row) -> None:
    """Delete those locks of an access rule that the caller may delete."""
    removable = ['user', locks.context_of(caller)]
    if caller.is_privileged:
        removable = ['user', 'service', *(['admin'] if caller.is_admin else ())]
    condition = tables.locks.c.lock_context.in_(removable)
    database.delete(conn, tables.locks, condition, resource_id=row['id'])


def _rules(conn: sa.Connection, caller: callers.Caller, share_id: str) -> list[database.Row]:
    share = shares.get(conn, caller, share_id)
    rows = database.find_all(conn, RULES, share_id=share['id'], order=('created_at', 'id'))
    return [_view(conn, caller, row) for row in rows]


class ActionResource:
    """Runs the actions on a share that requests name."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_post(self, req: web.Request, resp: falcon.Response, share_id: str) -> None:
        body = bodies.parsed(req)
        caller = req.context.caller
        if not isinstance(body, dict) or len(body) != 1:
            raise faults.BadRequest('The body must hold one action.')
        (action,) = body
        if action == 'allow_access':
            row = self._change(req, _allow, share_id, body, ALLOW)
            with self._db.read() as conn:
                resp.media = {'access': _view(conn, caller, row)}
        elif action == 'deny_access':
            self._change(req, _deny, share_id, body, DENY)
            resp.status = falcon.HTTP_202
        elif action == 'access_list':
            bodies.check(body, LIST)
            with self._db.read() as conn:
                resp.media = {'access_list': _rules(conn, caller, share_id)}
        else:
            raise faults.BadRequest(f'There is no such action: {action[:64]}')

    def _change(
        self,
        req: web.Request,
        function: resources.Change,
        share_id: str,
        body: bodies.Json,
        validator: bodies.Validator,
    ) -> typing.Any:
        bodies.check(body, validator)
        (wanted,) = body.values()
        if {*_LOCKS, 'unrestrict'} & wanted.keys():
            microversions.require(req, microversion.LOCKED_RULES)
        return self._db.change(function, req.context.caller, share_id, wanted)


class RuleResource:
    """Answers requests for the access rules of a share."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        share_id = req.get_param('share_id')
        if not share_id:
            raise faults.BadRequest('Invalid input for share_id: it is missing.')
        with self._db.read() as conn:
            resp.media = {'access_list': _rules(conn, req.context.caller, share_id)}

    def on_get_one(self, req: web.Request, resp: falcon.Response, access_id: str) -> None:
        caller = req.context.caller
        with self._db.read() as conn:
            row = database.find(conn, RULES, id=access_id)
            if row is None:
                raise faults.NotFound(f'Access rule {access_id[:64]} could not be found.')
            shares.get(conn, caller, row['share_id'])
            resp.media = {'access': _view(conn, caller, row)}
