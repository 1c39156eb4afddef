"""/v3/volumes: the collection and one volume."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import listing
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import metadata
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import types
from nova_lite.simcloud.volume import views

VOLUMES = tables.volumes
SIZE = {
    'type': ['integer', 'string'],
    'minimum': 1,
    'maximum': bodies.INT_LIMIT,
    'pattern': '^[1-9][0-9]{0,8}$',
}
_NAMES = {
    'name': bodies.nullable(bodies.STRING),
    'description': bodies.nullable(bodies.STRING),
    'display_name': bodies.nullable(bodies.STRING),
    'display_description': bodies.nullable(bodies.STRING),
    'metadata': bodies.nullable(metadata.METADATA),
}
_OPTIONAL_ID = bodies.nullable({'type': 'string', 'maxLength': 64})
CREATE = bodies.compiled(
    {
        'type': 'object',
        'required': ['volume'],
        'properties': {
            'volume': {
                'type': 'object',
                'additionalProperties': False,
                'properties': {
                    **_NAMES,
                    'size': bodies.nullable(SIZE),
                    'availability_zone': bodies.nullable(bodies.STRING),
                    'volume_type': bodies.nullable(bodies.STRING),
                    'imageRef': _OPTIONAL_ID,
                    'image_id': _OPTIONAL_ID,
                    'snapshot_id': _OPTIONAL_ID,
                    'source_volid': _OPTIONAL_ID,
                    'multiattach': {'const': False},
                    'consistencygroup_id': {'type': 'null'},
                    'group_id': {'type': 'null'},
                    'backup_id': {'type': 'null'},
                    'source_replica': {'type': 'null'},
                    'user_id': _OPTIONAL_ID,
                    'project_id': _OPTIONAL_ID,
                    'status': {},
                    'attach_status': {},
                },
            }
        },
    }
)
UPDATE = bodies.wrapped('volume', _NAMES)
FILTERS = {
    name: name
    for name in (
        'name',
        'status',
        'bootable',
        'size',
        'availability_zone',
        'multiattach',
        'snapshot_id',
        'source_volid',
        'user_id',
    )
}


class VolumeResource:
    """List, create, show, update and delete."""

    def __init__(self, db):
        self._db = db

    def _listed(self, conn, req):
        query = lists.filtered(lists.owned(req, VOLUMES), req, VOLUMES, FILTERS)
        if kind := req.get_param('volume_type'):
            row = types.find(conn, req.context.caller, kind)
            query = query.where(VOLUMES.c.volume_type_id == (row['id'] if row else ''))
        return query

    def on_get(self, req, resp):
        with self._db.read() as conn:
            query = self._listed(conn, req)
            found, more = lists.page_of(conn, req, VOLUMES, query)
        resp.media = lists.answer(req, 'volumes', [views.brief(req, row) for row in found], more)

    def on_get_detail(self, req, resp):
        with self._db.read() as conn:
            query = self._listed(conn, req)
            found, more = lists.page_of(conn, req, VOLUMES, query)
            items = views.details(conn, req, found)
            total = None
            if listing.boolean(req.get_param('with_count') or 'false', 'with_count'):
                total = conn.execute(
                    sa.select(sa.func.count()).select_from(query.subquery())
                ).scalar()
        resp.media = lists.answer(req, 'volumes', items, more)
        if total is not None and req.context.minor >= 45:
            resp.media['count'] = total

    def on_get_summary(self, req, resp):
        with self._db.read() as conn:
            found = database.rows(conn, lists.owned(req, VOLUMES))
        resp.media = {
            'volume-summary': {
                'total_count': len(found),
                'total_size': sum(row['size'] for row in found),
                'metadata': {},
            }
        }

    def _answer(self, req, resp, row):
        with self._db.read() as conn:
            (item,) = views.details(conn, req, [row])
        resp.media = {'volume': item}

    def on_post(self, req, resp):
        wanted = bodies.read(req, CREATE, 'volume')
        self._answer(req, resp, self._db.change(records.create, req.context.caller, wanted))
        resp.status = falcon.HTTP_202

    def on_get_one(self, req, resp, volume_id):
        with self._db.read() as conn:
            row = records.get(conn, req.context.caller, volume_id)
        self._answer(req, resp, row)

    @staticmethod
    def _update(conn, caller, volume_id, wanted):
        caller.require_writer()
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

    def on_put_one(self, req, resp, volume_id):
        wanted = bodies.read(req, UPDATE, 'volume')
        self._answer(
            req, resp, self._db.change(self._update, req.context.caller, volume_id, wanted)
        )

    def on_delete_one(self, req, resp, volume_id):
        cascade = listing.boolean(req.get_param('cascade') or 'false', 'cascade')
        force = listing.boolean(req.get_param('force') or 'false', 'force')
        if force:
            req.context.caller.require_admin('forcing the deletion of a volume')
        self._db.change(records.delete, req.context.caller, volume_id, cascade=cascade, force=force)
        resp.status = falcon.HTTP_202
