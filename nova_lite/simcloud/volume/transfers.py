"""/v3/volume-transfers: offers of a volume that another project accepts with a key.

/v3/os-volume-transfer is the older API. Its transfers never include snapshots.
"""

import dataclasses
import hashlib

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views
from nova_lite.simcloud.volume import volume_types

TRANSFERS = tables.transfers
OFFERED = 'awaiting-transfer'
KEY_LENGTH = 16
_OFFER = {'volume_id': bodies.UUID, 'name': bodies.OPTIONAL_STRING}
CREATE_OLD = bodies.wrapped('transfer', _OFFER, ['volume_id'])
CREATE = bodies.wrapped('transfer', {**_OFFER, 'no_snapshots': bodies.BOOLEAN}, ['volume_id'])
ACCEPT = bodies.wrapped('accept', {'auth_key': bodies.NAME}, ['auth_key'])
FILTERS = ('name', 'volume_id')


def brief(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one transfer in GET /volume-transfers."""
    shown = {name: row[name] for name in ('id', 'name', 'volume_id')}
    return {**shown, 'links': views.links(req, 'os-volume-transfer', row['id'])}


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one transfer, with its key in the answer to its creation."""
    shown = {**brief(req, row), 'created_at': storage.stamp(row['created_at'])}
    if 'auth_key' in row:
        shown['auth_key'] = row['auth_key']
    if req.context.minor >= 55:
        shown['no_snapshots'] = row['no_snapshots']
    if req.context.minor >= 57:
        shown['source_project_id'] = row['project_id']
        shown |= {'destination_project_id': None, 'accepted': False}
    return shown


get = records.getter(TRANSFERS, 'Transfer')


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Offer an available volume. Return the row of the offer with its `auth_key`."""
    volume = records.get(conn, caller, wanted['volume_id'])
    if volume['status'] != 'available':
        raise records.invalid('status must be available')
    # An offer whose volume an administrator made available again has lapsed.
    database.delete(conn, TRANSFERS, volume_id=volume['id'])
    key = runtime.new_secret().encode().hex()[:KEY_LENGTH]
    row = database.insert(
        conn,
        TRANSFERS,
        project_id=volume['project_id'],
        volume_id=volume['id'],
        name=wanted.get('name'),
        no_snapshots=wanted.get('no_snapshots', False),
        key_digest=_digest(key),
    )
    records.save(conn, volume, status=OFFERED)
    return {**row, 'auth_key': key}


def delete(conn: sa.Connection, caller: callers.Caller, transfer_id: str) -> None:
    """Delete an offer. The volume becomes available if its status still is that of an offer."""
    row = get(conn, caller, transfer_id)
    volume = database.get(conn, tables.volumes, id=row['volume_id'])
    if volume['status'] == OFFERED:
        records.save(conn, volume, status='available')
    database.delete(conn, TRANSFERS, id=transfer_id)


def accept(conn: sa.Connection, caller: callers.Caller, transfer_id: str, key: str) -> database.Row:
    """Move the offered volume to the caller's project. Return the row of the ended transfer."""
    row = database.find(conn, TRANSFERS, id=transfer_id)
    if row is None:
        raise faults.NotFound(f'Transfer {transfer_id[:64]} could not be found.')
    if row['key_digest'] != _digest(key):
        raise faults.BadRequest(
            f'Invalid auth key: Attempt to transfer {transfer_id} with invalid auth key.'
        )
    volume = database.get(conn, tables.volumes, id=row['volume_id'])
    if volume['status'] != OFFERED:
        raise records.invalid(
            f'Transfer {transfer_id}: Volume id {volume["id"]} expected in {OFFERED} status.'
        )
    volume_types.get(conn, caller, volume['volume_type_id'])
    owner = {'project_id': caller.owner_for(None), 'user_id': caller.user_id}
    _move(conn, row, volume, owner)
    database.delete(conn, TRANSFERS, id=transfer_id)
    return row


def _move(
    conn: sa.Connection, row: database.Row, volume: database.Row, owner: dict[str, str]
) -> None:
    """Change the owner of a volume, and of its snapshots unless the offer excludes them."""
    found = database.find_all(conn, tables.snapshots, volume_id=volume['id'])
    snapshots = [] if row['no_snapshots'] else found
    if owner['project_id'] != row['project_id']:
        size = volume['size'] + sum(one['size'] for one in snapshots)
        quotas.require(
            conn, owner['project_id'], volumes=1, snapshots=len(snapshots), gigabytes=size
        )
    records.save(conn, volume, status='available', **owner)
    for one in snapshots:
        database.save(conn, tables.snapshots, one, **owner)


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    return storage.listed(conn, req, TRANSFERS, FILTERS)


RESOURCE = resources.Resource(
    name='transfer',
    style=storage.STYLE,
    listed=_listed,
    get=get,
    views=resources.each_as_asked(view),
    brief=resources.each_as_asked(brief),
    create=(create, CREATE),
    delete=delete,
)
OLD = dataclasses.replace(
    RESOURCE,
    create=(create, CREATE_OLD),
    prepare=lambda _req, wanted: {**wanted, 'no_snapshots': True},
)


class AcceptResource:
    """Answers POST /v3/volume-transfers/{id}/accept."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_post(self, req: web.Request, resp: falcon.Response, transfer_id: str) -> None:
        wanted = bodies.read(req, ACCEPT, 'accept')
        caller = req.context.caller
        caller.require_writer()
        row = self._db.change(accept, caller, transfer_id, wanted['auth_key'])
        resp.media = {'transfer': brief(req, row)}
        resp.status = storage.STYLE.created
