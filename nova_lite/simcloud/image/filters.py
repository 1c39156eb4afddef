"""The filters of GET /v2/images."""

from collections.abc import Callable
import datetime

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import web
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables

IMAGES = tables.images

PAGING = bodies.words('limit marker sort sort_key sort_dir visibility member_status')
BOUNDS = {
    'size_min': (IMAGES.c.size, '>='),
    'size_max': (IMAGES.c.size, '<='),
    'min_disk': (IMAGES.c.min_disk, '='),
    'min_ram': (IMAGES.c.min_ram, '='),
    'size': (IMAGES.c.size, '='),
}
OPERATORS = {'eq': '=', 'neq': '<>', 'gt': '>', 'gte': '>=', 'lt': '<', 'lte': '<='}
SORTABLE = ('id', 'name', 'status', 'created_at', 'updated_at')
LIMIT, MOST = 25, 1000
SECOND = datetime.timedelta(seconds=1)


def _one_of(name: str, value: str) -> shapes.Condition:
    column = IMAGES.c[name]
    if value.startswith('in:'):
        if value.count('"') % 2:
            raise faults.BadRequest(f'A quotation mark is missing in {value[:255]}.')
        return column.in_([part.strip('"') for part in value[3:].split(',')])
    return column == value


def _bounded(name: str, value: str) -> shapes.Condition:
    column, operator = BOUNDS[name]
    digits = value.removeprefix('-')
    if not digits.isascii() or not digits.isdigit() or int(digits) > 2**63 - 1:
        raise faults.BadRequest(f"Unable to filter using the specified {name}: '{value[:64]}'.")
    return column.bool_op(operator)(int(value))


def _timed(name: str, value: str) -> shapes.Condition:
    operator, _, text = value.partition(':')
    if operator not in OPERATORS:
        operator, text = 'eq', value
    moment = paging.parse_time(text, name)
    column = IMAGES.c[name]
    # Stored times are finer than shown times, so one second is a range of stored times.
    start, end = moment.replace(microsecond=0), moment.replace(microsecond=0) + SECOND
    return {
        'eq': sa.and_(column >= start, column < end),
        'neq': sa.or_(column < start, column >= end),
        'gt': column >= end,
        'gte': column >= start,
        'lt': column < start,
        'lte': column < end,
    }[operator]


def _property(name: str, value: str) -> shapes.Condition:
    if '"' in name or '\\' in name:
        raise faults.BadRequest(f"'{name[:64]}' cannot be the name of a property.")
    found: shapes.Condition = IMAGES.c.properties[name].as_string() == value
    return found


def _true(name: str, value: str) -> shapes.Condition:
    return IMAGES.c[name] == paging.boolean(value, name)


# {parameter: (name, value) -> condition}. Other parameters are names of properties.
CONDITIONS: dict[str, Callable[[str, str], shapes.Condition]] = {
    **dict.fromkeys(('id', 'name', 'status', 'disk_format', 'container_format'), _one_of),
    **dict.fromkeys(('protected', 'os_hidden'), _true),
    **dict.fromkeys(BOUNDS, _bounded),
    **dict.fromkeys(('created_at', 'updated_at'), _timed),
    'owner': lambda name, value: IMAGES.c[name] == value,
    'tag': lambda _name, value: paging.has_tag(IMAGES.c.tags, value),
}


def query(req: web.Request) -> shapes.Select:
    """Return the query of the images that match the request and that its caller may list."""
    member_status = req.get_param('member_status') or 'accepted'
    if member_status not in ('accepted', 'pending', 'rejected', 'all'):
        raise faults.BadRequest(f'Invalid status: {member_status[:64]}')
    statement = sa.select(IMAGES).where(
        records.visible(
            req.context.caller, visibility=req.get_param('visibility'), member_status=member_status
        )
    )
    if 'os_hidden' not in req.params:
        statement = statement.where(IMAGES.c.os_hidden == sa.false())
    for name in req.params:
        if name not in PAGING:
            condition = CONDITIONS.get(name, _property)
            for value in req.get_param_as_list(name) or ():
                statement = statement.where(condition(name, value))
    return statement


def page(req: web.Request) -> paging.Page:
    """Return the requested page, by default with the newest image first."""
    if 'sort' in req.params and {'sort_key', 'sort_dir'} & set(req.params):
        raise faults.BadRequest('Sort by sort, or by sort_key and sort_dir, not by both.')
    for direction in req.get_param_as_list('sort_dir') or ():
        if direction not in ('asc', 'desc'):
            raise faults.BadRequest(f"Sort direction '{direction[:255]}' is not asc or desc.")
    return paging.Page(
        sort=paging.sort_of(req, SORTABLE, (('created_at', True),)),
        limit=paging.limit_of(req, default=LIMIT, most=MOST),
        marker=req.get_param('marker'),
    )
