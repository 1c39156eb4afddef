"""/v2/shares: the collection and one share."""

import dataclasses

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.share import locks
from nova_lite.simcloud.share import share_types
from nova_lite.simcloud.share import tables

SHARES = tables.shares
HOST = 'simcloud@sim#sim'
PROTOCOLS = bodies.words('NFS CIFS CEPHFS GLUSTERFS HDFS MAPRFS')
METADATA = bodies.mapping(bodies.STRING)
_SIZE = {'type': 'integer', 'minimum': 1, 'maximum': bodies.INT_LIMIT}
_NAMES = {
    'name': bodies.OPTIONAL_STRING,
    'description': bodies.OPTIONAL_STRING,
    'display_name': bodies.OPTIONAL_STRING,
    'display_description': bodies.OPTIONAL_STRING,
    'is_public': bodies.nullable(bodies.BOOLEAN),
}
# Properties of a request for features that simcloud does not have.
_ABSENT = bodies.words(
    'snapshot_id share_network_id share_group_id scheduler_hints mount_point_name'
    ' encryption_key_ref'
)
CREATE = bodies.wrapped(
    'share',
    {
        **_NAMES,
        'size': _SIZE,
        'share_proto': bodies.NAME,
        'share_type': bodies.OPTIONAL_ID,
        'availability_zone': bodies.OPTIONAL_STRING,
        'metadata': bodies.nullable(METADATA),
        **dict.fromkeys(_ABSENT, {'enum': [None, {}, '']}),
    },
    ['size', 'share_proto'],
)
UPDATE = bodies.wrapped('share', _NAMES)
FILTERS = bodies.words('name status description')
SHOWN = bodies.words(
    'id name description size share_proto status is_public availability_zone metadata'
    ' project_id user_id'
)
# Fields of an answer for features that simcloud does not have.
CONSTANT = {
    'share_type': share_types.TYPE['id'],
    'share_type_name': share_types.TYPE['name'],
    'access_rules_status': 'active',
    'snapshot_id': None,
    'snapshot_support': False,
    'create_share_from_snapshot_support': False,
    'mount_snapshot_support': False,
    'revert_to_snapshot_support': False,
    'share_network_id': None,
    'share_group_id': None,
    'source_share_group_snapshot_member_id': None,
    'replication_type': None,
    'has_replicas': False,
    'task_state': None,
    'progress': '100%',
    'volume_type': share_types.TYPE['name'],
}


def _links(req: web.Request, row: database.Row) -> list[dict[str, str]]:
    base = f'{req.context.public_url}/share'
    return [
        {'rel': 'self', 'href': f'{base}/v2/shares/{row["id"]}'},
        {'rel': 'bookmark', 'href': f'{base}/shares/{row["id"]}'},
    ]


def brief(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one share in GET /shares."""
    return {'id': row['id'], 'name': row['name'], 'links': _links(req, row)}


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one share."""
    shown = {
        **{name: row[name] for name in SHOWN},
        **CONSTANT,
        'created_at': storage.stamp(row['created_at']),
        'links': _links(req, row),
    }
    if req.context.caller.is_privileged:
        shown.update(host=HOST, share_server_id=None)
    return shown


def get(conn: sa.Connection, caller: callers.Caller, share_id: str) -> database.Row:
    """Return a share that the caller may see. Raise NotFound."""
    row = database.find(conn, SHARES, id=share_id)
    if row is None or not (row['is_public'] or caller.sees(row['project_id'])):
        raise faults.NotFound(f'Share {share_id[:64]} could not be found.')
    return row


def owned(conn: sa.Connection, caller: callers.Caller, share_id: str) -> database.Row:
    """Return a share that the caller may change. Raise NotFound or Forbidden."""
    row = get(conn, caller, share_id)
    if not caller.sees(row['project_id']):
        raise faults.Forbidden('The share belongs to another project.')
    caller.require_writer()
    return row


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row | None:
    """Insert a share from a request's values and return its row. It is available at once."""
    protocol = wanted['share_proto'].upper()
    if protocol not in PROTOCOLS:
        raise faults.BadRequest(
            f'Invalid share protocol provided: {protocol[:64]}. It is either disabled or '
            f'unsupported. Available protocols: {", ".join(PROTOCOLS)}.'
        )
    if wanted.get('share_type') not in (None, '', *share_types.NAMES):
        raise faults.NotFound(f'Share type {wanted["share_type"][:64]} could not be found.')
    values = _named(wanted)
    return database.insert(
        conn,
        SHARES,
        project_id=caller.owner_for(None),
        user_id=caller.user_id,
        size=wanted['size'],
        share_proto=protocol,
        availability_zone=wanted.get('availability_zone') or tables.ZONE,
        metadata=wanted.get('metadata') or {},
        **{'name': None, 'description': None, **values},
    )


def _named(wanted: bodies.Json) -> database.Row:
    """Return the name and description of a request, which has two keys for each."""
    values = {
        name: wanted.get(name, wanted.get(f'display_{name}'))
        for name in ('name', 'description')
        if name in wanted or f'display_{name}' in wanted
    }
    if wanted.get('is_public') is not None:
        values['is_public'] = wanted['is_public']
    return values


def update(
    conn: sa.Connection, caller: callers.Caller, share_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename, describe or publish a share, and return its row."""
    row = owned(conn, caller, share_id)
    return database.save(conn, SHARES, row, **_named(wanted))


def delete(conn: sa.Connection, caller: callers.Caller, share_id: str) -> None:
    """Delete a share that is not locked, with its access rules and their locks."""
    row = owned(conn, caller, share_id)
    locks.require_none(conn, 'share', row['id'])
    for rule in database.find_all(conn, tables.rules, share_id=row['id']):
        remove_rule(conn, rule['id'])
    database.delete(conn, SHARES, id=row['id'])


def remove_rule(conn: sa.Connection, rule_id: str) -> None:
    """Delete an access rule with its locks."""
    database.delete(conn, tables.locks, resource_id=rule_id)
    database.delete(conn, tables.rules, id=rule_id)


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    if paging.flag_of(req, 'is_soft_deleted'):
        return []  # There is no recycle bin.
    return storage.listed(conn, req, SHARES, FILTERS)


RESOURCE = resources.Resource(
    name='share',
    style=dataclasses.replace(storage.STYLE, created=falcon.HTTP_200),
    listed=_listed,
    get=get,
    views=resources.each_as_asked(view),
    brief=resources.each_as_asked(brief),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
