"""JSON patches on images: what PATCH /v2/images/{id} may change."""

import typing
from urllib import parse

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import web
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import records

OLD_MEDIA_TYPE = 'application/openstack-images-v2.0-json-patch'
MEDIA_TYPES = ('application/openstack-images-v2.1-json-patch', OLD_MEDIA_TYPE)
OPERATIONS = ('add', 'replace', 'remove')


def read(req: web.Request, validator: bodies.Validator, _key: str | None) -> typing.Any:
    """Return the checked body of a request. The media type of a PATCH gives the form of changes."""
    if req.method != 'PATCH':
        return bodies.read(req, validator)
    media_type = (req.content_type or '').split(';')[0].strip()
    if media_type not in MEDIA_TYPES:
        raise faults.UnsupportedMediaType(
            f'Unable to read the body; supported media types: {", ".join(MEDIA_TYPES)}'
        )
    changes = bodies.parsed(req)
    if media_type == OLD_MEDIA_TYPE and isinstance(changes, list):
        changes = [_modern(change) for change in changes]
    bodies.check(changes, validator)
    return changes


def _modern(change: object) -> object:
    """Return a change of the old media type, {operation: path}, as {'op', 'path'}.

    A change without exactly one operation is returned unchanged. The validator will refuse it.
    """
    if not isinstance(change, dict):
        return change
    named = [name for name in OPERATIONS if name in change]
    if len(named) != 1:
        return change
    rest = {name: value for name, value in change.items() if name not in named}
    return {**rest, 'op': named[0], 'path': change[named[0]]}


def _target(change: bodies.Json) -> str:
    """Return the name of the attribute of a change. Raise BadRequest for nested paths."""
    parts = change['path'][1:].split('/')
    if len(parts) != 1 or not parts[0]:
        raise faults.BadRequest(f"Invalid JSON pointer for this resource: '{change['path']}'")
    name = parse.unquote(parts[0]).replace('~1', '/').replace('~0', '~')
    if len(name) > 255:
        raise faults.BadRequest('The name of a property has at most 255 characters.')
    return name


def _set_known(
    changed: bodies.Json, name: str, change: bodies.Json, caller: callers.Caller
) -> None:
    if change['op'] == 'remove':
        raise faults.Forbidden(f'Property {name} may not be removed.')
    value = change['value']
    bodies.check(value, fields.VALUE[name])
    if name == 'visibility':
        records.require_may_publish(caller, value)
    if name == 'owner':
        caller.require_admin('changing the owner of an image')
    if name in ('name', 'owner'):
        value = value or ''
    if name == 'tags':
        value = list(dict.fromkeys(value))
    changed[name] = value


def _set_property(properties: bodies.Json, name: str, change: bodies.Json) -> None:
    if change['op'] in ('replace', 'remove') and name not in properties:
        raise faults.Conflict(f'Property {name} does not exist.')
    if change['op'] == 'remove':
        del properties[name]
        return
    bodies.check(change['value'], fields.PROPERTY_VALUE)
    properties[name] = change['value']


def apply(
    conn: sa.Connection, caller: callers.Caller, image_id: str, wanted: list[bodies.Json]
) -> database.Row:
    """Make the changes of a checked patch and return the new row."""
    row = records.get_own(conn, caller, image_id)
    changed: bodies.Json = {}
    properties = dict(row['properties'])
    for change in wanted:
        name = _target(change)
        if change['op'] != 'remove' and 'value' not in change:
            raise faults.BadRequest(f"Operation '{change['op']}' needs a value.")
        if name == 'id' or name in fields.READ_ONLY:
            raise faults.Forbidden(f"Attribute '{name}' is read-only.")
        if name in fields.SETTABLE:
            _set_known(changed, name, change, caller)
        else:
            _set_property(properties, name, change)
    formats = {'disk_format', 'container_format'} & set(changed)
    if row['status'] != 'queued' and formats:
        raise faults.Forbidden('The formats of an image can only be changed while it is queued.')
    records.require_quota(properties, (row | changed)['tags'])
    return records.save(conn, row, properties=properties, **changed)
