"""Views of volumes and snapshots, by microversion."""

from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import encryptions
from nova_lite.simcloud.volume import tables

SHOWN = bodies.words(
    'status size description user_id availability_zone multiattach snapshot_id source_volid'
)
# Extensions of Cinder add fields to answers that show volumes, and to no others.
EXTENSION, IMAGE_METADATA = 'os-vol-', 'volume_image_metadata'


def links(req: web.Request, kind: str, row_id: str) -> list[dict[str, str]]:
    """Return the links of one resource."""
    base = f'{req.context.public_url}/volume'
    project_id = req.context.caller.project_id
    return [
        {'rel': 'self', 'href': f'{base}/v3/{project_id}/{kind}/{row_id}'},
        {'rel': 'bookmark', 'href': f'{base}/{project_id}/{kind}/{row_id}'},
    ]


def _attachment(row: database.Row, caller: callers.Caller) -> database.Row:
    return {
        'id': row['volume_id'],
        'attachment_id': row['id'],
        'volume_id': row['volume_id'],
        'server_id': row['instance_uuid'],
        'device': row['mountpoint'],
        'attached_at': storage.stamp(row['attach_time']),
        'host_name': row['attached_host'] if caller.is_privileged else None,
    }


def brief(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one volume in GET /volumes."""
    return {'id': row['id'], 'name': row['name'], 'links': links(req, 'volumes', row['id'])}


def _by_version(req: web.Request, row: database.Row) -> bodies.Json:
    """Return the fields that later microversions than 3.0 added, for the requested one."""
    minor, caller = req.context.minor, req.context.caller
    later = (
        (13, {'group_id': None}),
        (21, {'provider_id': None} if caller.is_privileged else {}),
        # Any other value of shared_targets makes os-brick lock by the uuid of the service.
        (48, {'shared_targets': False, 'service_uuid': None}),
        (61, {'cluster_name': None} if caller.is_privileged else {}),
        (63, {'volume_type_id': row['volume_type_id']}),
        (65, {'consumes_quota': tables.UNCOUNTED not in row['admin_metadata']}),
    )
    fields: bodies.Json = {}
    for since, added in later:
        if minor >= since:
            fields |= added
    return fields


def detail(
    req: web.Request,
    row: database.Row,
    attachments: Sequence[database.Row],
    *,
    type_name: str | None,
    encrypted: bool,
) -> bodies.Json:
    """Return one volume in full."""
    caller = req.context.caller
    metadata = dict(row['metadata'])
    if row['readonly']:
        metadata['readonly'] = 'True'
    answer = {
        **{name: row[name] for name in SHOWN},
        **brief(req, row),
        'created_at': storage.stamp(row['created_at']),
        'updated_at': storage.stamp(row['updated_at']),
        'volume_type': type_name,
        'bootable': str(row['bootable']).lower(),
        'encrypted': encrypted,
        'metadata': metadata,
        'replication_status': None,
        'consistencygroup_id': None,
        'os-vol-tenant-attr:tenant_id': row['project_id'],
        'attachments': [
            _attachment(one, caller) for one in attachments if one['attach_status'] == 'attached'
        ],
        **_by_version(req, row),
    }
    if encrypted and req.context.minor >= 64:
        answer['encryption_key_id'] = row['id']
    if row['image_metadata']:
        answer[IMAGE_METADATA] = row['image_metadata']
    if caller.is_privileged:
        migration = row['admin_metadata'].get(tables.MIGRATION)
        host = row['admin_metadata'].get(tables.HOST, tables.HOSTS[0])
        answer |= {
            'os-vol-host-attr:host': host,
            'os-vol-mig-status-attr:migstat': migration,
            'os-vol-mig-status-attr:name_id': None,
            'migration_status': migration,
        }
    return answer


def details(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return volumes in full, with the names of their types and their attachments."""
    names = {row['id']: row['name'] for row in database.find_all(conn, tables.types)}
    encrypted = encryptions.types_with(conn)
    ids = [row['id'] for row in found]
    by_volume = database.grouped(conn, tables.attachments.c.volume_id, ids, 'created_at')
    return [
        detail(
            req,
            row,
            by_volume.get(row['id'], []),
            type_name=names.get(row['volume_type_id']),
            encrypted=row['volume_type_id'] in encrypted,
        )
        for row in found
    ]


def of_changed(
    conn: sa.Connection, req: web.Request, found: list[database.Row]
) -> list[bodies.Json]:
    """Return volumes in the form of the answers to a creation and to an update."""
    return [
        {
            name: value
            for name, value in each.items()
            if not name.startswith(EXTENSION) and name != IMAGE_METADATA
        }
        for each in details(conn, req, found)
    ]


def snapshot(req: web.Request, row: database.Row) -> database.Row:
    """Return one snapshot in full."""
    shown = ('id', 'name', 'description', 'volume_id', 'status', 'size', 'metadata')
    answer = {
        **{name: row[name] for name in shown},
        'created_at': storage.stamp(row['created_at']),
        'updated_at': storage.stamp(row['updated_at']),
        'os-extended-snapshot-attributes:progress': '100%',
        'os-extended-snapshot-attributes:project_id': row['project_id'],
    }
    if req.context.minor >= 14:
        answer['group_snapshot_id'] = None
    if req.context.minor >= 41:
        answer['user_id'] = row['user_id']
    if req.context.minor >= 65:
        answer['consumes_quota'] = True
    return answer


def attachment(row: database.Row) -> database.Row:
    """Return one attachment in full."""
    return {
        **attachment_brief(row),
        'attached_at': storage.stamp(row['attach_time']) or '',
        'detached_at': '',
        'attach_mode': row['attach_mode'],
        'connection_info': row['connection_info'],
    }


def attachment_brief(row: database.Row) -> dict[str, str]:
    """Return one attachment in GET /attachments."""
    return {
        'id': row['id'],
        'status': row['attach_status'],
        'instance': row['instance_uuid'],
        'volume_id': row['volume_id'],
    }
