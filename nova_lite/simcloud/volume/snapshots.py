"""/v3/snapshots."""

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import listing
from nova_lite.simcloud import resources
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import metadata
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views

SNAPSHOTS = tables.snapshots
_NAMES = {'name': bodies.OPTIONAL_STRING, 'description': bodies.OPTIONAL_STRING}
CREATE = bodies.wrapped(
    'snapshot',
    {
        **_NAMES,
        'volume_id': bodies.ID,
        'metadata': bodies.nullable(metadata.METADATA),
        'force': {'type': ['boolean', 'string', 'integer'], 'maxLength': 8},
    },
    ['volume_id'],
)
UPDATE = bodies.wrapped('snapshot', _NAMES)
FILTERS = ('name', 'status', 'volume_id')


def _listed(conn, req):
    return lists.page_of(conn, req, SNAPSHOTS, lists.filtered(req, SNAPSHOTS, FILTERS))


def _prepared(req, wanted):
    """Return the values of a request. force: whether the volume may be in use"""
    force = listing.boolean(str(wanted.get('force', False)), 'force')
    return {**wanted, 'force': force or req.context.minor >= 66}


def create(conn, caller, wanted):
    """Insert a snapshot and return it as it was when it began."""
    volume = records.get(conn, caller, wanted['volume_id'])
    records.require_status(volume, 'available', *(('in-use',) if wanted['force'] else ()))
    quotas.require(conn, volume['project_id'], snapshots=1, gigabytes=volume['size'])
    row = database.insert(
        conn,
        SNAPSHOTS,
        project_id=volume['project_id'],
        user_id=caller.user_id,
        volume_id=volume['id'],
        name=wanted.get('name') or '',
        description=wanted.get('description'),
        size=volume['size'],
        metadata=wanted.get('metadata') or {},
    )
    database.save(conn, SNAPSHOTS, row, status='available')
    return row


def update(conn, caller, snapshot_id, wanted):
    """Rename or describe a snapshot and return its row."""
    row = records.get_snapshot(conn, caller, snapshot_id)
    values = {name: wanted[name] for name in _NAMES if name in wanted}
    if 'name' in values:
        values['name'] = values['name'] or ''
    return database.save(conn, SNAPSHOTS, row, **values)


def delete(conn, caller, snapshot_id):
    """Remove a snapshot."""
    records.get_snapshot(conn, caller, snapshot_id)
    database.delete(conn, SNAPSHOTS, id=snapshot_id)


_views = resources.each_as_asked(views.snapshot)
RESOURCE = resources.Resource(
    name='snapshot',
    style=lists.STYLE,
    listed=_listed,
    get=records.get_snapshot,
    views=_views,
    brief=_views,
    prepare=_prepared,
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
