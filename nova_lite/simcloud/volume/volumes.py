"""/v3/volumes: the collection and one volume."""

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
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views
from nova_lite.simcloud.volume import volume_metadata
from nova_lite.simcloud.volume import volume_migrations
from nova_lite.simcloud.volume import volume_types

VOLUMES = tables.volumes
SIZE = {
    'type': ['integer', 'string'],
    'minimum': 1,
    'maximum': bodies.INT_LIMIT,
    'pattern': '^[1-9][0-9]{0,8}$',
}
_NAMES = {
    'name': bodies.OPTIONAL_STRING,
    'description': bodies.OPTIONAL_STRING,
    'display_name': bodies.OPTIONAL_STRING,
    'display_description': bodies.OPTIONAL_STRING,
    'metadata': bodies.nullable(volume_metadata.METADATA),
}
_IDS = bodies.words('imageRef image_id snapshot_id source_volid backup_id user_id project_id')
_ABSENT = ('consistencygroup_id', 'group_id', 'source_replica')
CREATE = bodies.wrapped(
    'volume',
    {
        **_NAMES,
        'size': bodies.nullable(SIZE),
        'availability_zone': bodies.OPTIONAL_STRING,
        'volume_type': bodies.OPTIONAL_STRING,
        **dict.fromkeys(_IDS, bodies.nullable({'type': 'string', 'maxLength': 64})),
        'multiattach': {'const': False},
        **dict.fromkeys(_ABSENT, {'type': 'null'}),
        'status': {},
        'attach_status': {},
    },
)
UPDATE = bodies.wrapped('volume', _NAMES)
FILTERS = bodies.words(
    'name status bootable size availability_zone multiattach snapshot_id source_volid user_id'
)


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    query = storage.filtered(req, VOLUMES, FILTERS)
    if not req.context.caller.is_admin:
        query = volume_migrations.without_targets(query)
    if kind := req.get_param('volume_type'):
        row = volume_types.find(conn, req.context.caller, kind)
        query = query.where(VOLUMES.c.volume_type_id == (row['id'] if row else ''))
    return lists.page_of(conn, req, VOLUMES, query)


def _prepared(req: web.Request, wanted: bodies.Json) -> database.Row:
    if wanted.get('backup_id') and req.context.minor < 47:
        raise faults.BadRequest('Invalid input for volume: backup_id needs microversion 3.47.')
    return wanted


def update(
    conn: sa.Connection, caller: callers.Caller, volume_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or describe a volume, or replace its metadata, and return its row."""
    row = records.get(conn, caller, volume_id)
    values = {}
    for name, alias in (('name', 'display_name'), ('description', 'display_description')):
        if name in wanted or alias in wanted:
            values[name] = wanted.get(name, wanted.get(alias))
    if 'name' in values:
        values['name'] = values['name'] or ''
    if wanted.get('metadata') is not None:
        values['metadata'] = wanted['metadata']
    return records.save(conn, row, **values)


def _options(req: web.Request) -> dict[str, bool]:
    """Return the options of a deletion, {'cascade', 'force'}."""
    options = {name: paging.flag_of(req, name) for name in ('cascade', 'force')}
    if options['force']:
        req.context.caller.require_admin('forcing the deletion of a volume')
    return options


RESOURCE = resources.Resource(
    name='volume',
    style=lists.STYLE,
    listed=_listed,
    get=records.get,
    views=views.details,
    brief=resources.each_as_asked(views.brief),
    changed=views.of_changed,
    prepare=_prepared,
    create=(records.create, CREATE),
    update=(update, UPDATE),
    delete=records.delete,
    options=_options,
)


class SummaryResource:
    """Answers GET /v3/volumes/summary: the number of volumes and their total size."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        with self._db.read() as conn:
            found = database.rows(conn, storage.owned(req, VOLUMES))
        total = {'total_count': len(found), 'total_size': sum(row['size'] for row in found)}
        resp.media = {'volume-summary': {**total, 'metadata': {}}}
