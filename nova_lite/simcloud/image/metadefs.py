"""/v2/metadefs: definitions of properties of images and other resources, in namespaces."""

from collections.abc import Callable
from collections.abc import Iterable

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.image import metadef_contents as contents
from nova_lite.simcloud.image import tables

NAMESPACES, CONTENTS = tables.metadef_namespaces, tables.metadef_contents
SORTABLE = ('created_at', 'updated_at', 'namespace')
LIMIT, MOST = 25, 1000
SHOWN = bodies.words('namespace display_name description visibility protected owner')
_NAMED_TAG = bodies.record({'name': bodies.NAME}, ['name'], extra=False)
TAGS = bodies.compiled(bodies.record({'tags': bodies.array(_NAMED_TAG)}, ['tags'], extra=False))
_SETTABLE: dict[str, bodies.Schema | bool] = {
    'namespace': {'type': 'string', 'minLength': 1, 'maxLength': 80},
    'display_name': {'type': 'string', 'maxLength': 80},
    'description': {'type': 'string', 'maxLength': 500},
    'visibility': {'enum': ['public', 'private']},
    'protected': bodies.BOOLEAN,
    'owner': bodies.ID,
}
CREATE = bodies.compiled(
    bodies.record(
        {
            **_SETTABLE,
            'objects': bodies.array(contents.OBJECT),
            'properties': bodies.mapping(contents.PROPERTY),
            'resource_type_associations': bodies.array(contents.ASSOCIATION),
            'tags': bodies.array(_NAMED_TAG),
        },
        ['namespace'],
        extra=False,
    )
)
# Attributes of earlier answers that clients send back. They have no effect.
_IGNORED = bodies.words('self schema created_at updated_at')
UPDATE = bodies.compiled(
    bodies.record({**_SETTABLE, **dict.fromkeys(_IGNORED, True)}, ['namespace'], extra=False)
)


def _tags(names: list[str]) -> list[dict[str, str]]:
    return [{'name': name} for name in names]


def _view(
    conn: sa.Connection,
    row: database.Row,
    kinds: Iterable[contents.Kind],
    **more: list[dict[str, str]],
) -> bodies.Json:
    """Return one namespace with its definitions of `kinds`, without attributes that are empty."""
    shown = {name: row[name] for name in SHOWN if row[name] is not None}
    inside = {kind.list_key: kind.all_of(conn, row) for kind in kinds} | more
    return {
        **shown,
        **{name: value for name, value in inside.items() if value},
        'created_at': paging.stamp(row['created_at']),
        'updated_at': paging.stamp(row['updated_at']),
        'self': f'{contents.PATH}/{row["namespace"]}',
        'schema': f'{contents.SCHEMAS}/namespace',
    }


def _views(conn: sa.Connection, _req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return namespaces with all their definitions and tags."""
    return [_view(conn, row, contents.KINDS, tags=_tags(row['tags'])) for row in found]


def _briefs(conn: sa.Connection, _req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return namespaces as in lists, with only their resource type associations."""
    return [_view(conn, row, [contents.ASSOCIATIONS]) for row in found]


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    statement = sa.select(NAMESPACES).where(contents.visible(req.context.caller))
    if visibility := req.get_param('visibility'):
        statement = statement.where(NAMESPACES.c.visibility == visibility)
    names = [
        name for text in req.get_param_as_list('resource_types') or () for name in text.split(',')
    ]
    if names:
        associated = sa.select(CONTENTS.c.namespace_id).where(
            CONTENTS.c.kind == contents.ASSOCIATIONS.plural, CONTENTS.c.name.in_(names)
        )
        statement = statement.where(NAMESPACES.c.id.in_(associated))
    marker = req.get_param('marker')
    page = paging.Page(
        sort=paging.sort_of(req, SORTABLE, (('created_at', True),)),
        limit=paging.limit_of(req, default=LIMIT, most=MOST),
        marker=marker and contents.namespace_of(conn, req.context.caller, marker)['id'],
    )
    return database.rows(conn, paging.paged(conn, statement, NAMESPACES, page))


def _collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    first = paging.query_of(req)
    answer = {
        key: items,
        'schema': f'{contents.SCHEMAS}/namespaces',
        'first': contents.PATH + (f'?{first}' if first else ''),
    }
    if items and len(items) == paging.limit_of(req, default=LIMIT, most=MOST):
        answer['next'] = f'{contents.PATH}?' + paging.next_query(req, items[-1]['namespace'])
    return answer


def _columns(
    conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json, namespace_id: str = ''
) -> database.Row:
    """Return the columns of a new or replaced namespace. Raise Conflict if its name is taken."""
    name = wanted['namespace']
    if database.exists(conn, NAMESPACES, NAMESPACES.c.id != namespace_id, namespace=name):
        raise faults.Conflict(f'The metadata definition namespace {name} already exists.')
    return {
        'namespace': name,
        'display_name': wanted.get('display_name'),
        'description': wanted.get('description'),
        'visibility': wanted.get('visibility', 'private'),
        'protected': wanted.get('protected', False),
        'owner': caller.owner_for(wanted.get('owner')),
    }


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a namespace with the definitions that the request has for it. Return its row."""
    tags = list(dict.fromkeys(tag['name'] for tag in wanted.get('tags', ())))
    row = database.insert(conn, NAMESPACES, **_columns(conn, caller, wanted), tags=tags)
    properties = wanted.get('properties', {})
    named = {**wanted, 'properties': [{'name': name, **properties[name]} for name in properties]}
    for kind in contents.KINDS:
        for one in named.get(kind.list_key, ()):
            kind.insert(conn, row, one)
    return row


def update(
    conn: sa.Connection, caller: callers.Caller, namespace: str, wanted: bodies.Json
) -> database.Row:
    """Replace the attributes and the name of a namespace, not its definitions. Return its row."""
    row = contents.namespace_of(conn, caller, namespace)
    return database.save(conn, NAMESPACES, row, **_columns(conn, caller, wanted, row['id']))


def delete(conn: sa.Connection, caller: callers.Caller, namespace: str) -> None:
    """Delete a namespace that is not protected, with all its definitions."""
    row = contents.namespace_of(conn, caller, namespace)
    if row['protected']:
        raise faults.Forbidden(
            f'Metadata definition namespace {namespace} is protected and cannot be deleted.'
        )
    database.delete(conn, CONTENTS, namespace_id=row['id'])
    database.delete(conn, NAMESPACES, id=row['id'])


def _location(req: web.Request, row: database.Row) -> str:
    return f'{req.context.public_url}/image{contents.PATH}/{row["namespace"]}'


RESOURCE = resources.Resource(
    name='namespace',
    style=resources.Style(collection=_collection, wrapped=False),
    permit=contents.PERMIT,
    listed=_listed,
    get=contents.namespace_of,
    views=_views,
    brief=_briefs,
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
    location=_location,
)


class TagResource:
    """Tags of a namespace: names without a definition."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _read(self, req: web.Request, namespace: str) -> list[str]:
        with self._db.read() as conn:
            found: list[str] = contents.namespace_of(conn, req.context.caller, namespace)['tags']
            return found

    def _change(
        self, req: web.Request, namespace: str, changed: Callable[[list[str]], list[str]]
    ) -> list[str]:
        contents.PERMIT(req.context.caller, resources.UPDATE, {'namespace': namespace})

        def change(conn: sa.Connection) -> list[str]:
            row = contents.namespace_of(conn, req.context.caller, namespace)
            found: list[str] = database.save(conn, NAMESPACES, row, tags=changed(row['tags']))[
                'tags'
            ]
            return found

        return self._db.change(change)

    @staticmethod
    def _require(tag: str, tags: list[str]) -> None:
        if tag not in tags:
            raise faults.NotFound(
                f'The metadata definition tag with name={tag[:255]} was not found.'
            )

    def on_get(self, req: web.Request, resp: falcon.Response, namespace: str) -> None:
        tags = self._read(req, namespace)
        resp.media = {'tags': _tags(tags), 'schema': f'{contents.SCHEMAS}/tags'}

    def on_post(self, req: web.Request, resp: falcon.Response, namespace: str) -> None:
        wanted = [tag['name'] for tag in bodies.read(req, TAGS, 'tags')]
        appends = (req.get_header('X-Openstack-Append') or '').lower() == 'true'
        tags = self._change(
            req,
            namespace,
            lambda known: list(dict.fromkeys([*(known if appends else ()), *wanted])),
        )
        resp.media = {'tags': _tags(tags)}
        resp.status = falcon.HTTP_201

    def on_delete(self, req: web.Request, resp: falcon.Response, namespace: str) -> None:
        self._change(req, namespace, lambda _known: [])
        resp.status = falcon.HTTP_204

    def on_get_one(self, req: web.Request, resp: falcon.Response, namespace: str, tag: str) -> None:
        self._require(tag, self._read(req, namespace))
        resp.media = {'name': tag}

    def on_post_one(
        self, req: web.Request, resp: falcon.Response, namespace: str, tag: str
    ) -> None:
        def added(known: list[str]) -> list[str]:
            if tag in known:
                raise faults.Conflict(
                    f'A metadata definition tag with name={tag[:255]} already exists in '
                    f'namespace={namespace}.'
                )
            return [*known, tag]

        bodies.check({'tags': [{'name': tag}]}, TAGS)
        self._change(req, namespace, added)
        resp.media = {'name': tag}
        resp.status = falcon.HTTP_201

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, namespace: str, tag: str
    ) -> None:
        def without(known: list[str]) -> list[str]:
            self._require(tag, known)
            return [one for one in known if one != tag]

        self._change(req, namespace, without)
        resp.status = falcon.HTTP_204


class TypesResource:
    """The resource types with which namespaces are associated."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, _req: web.Request, resp: falcon.Response) -> None:
        first, last = sa.func.min(CONTENTS.c.created_at), sa.func.max(CONTENTS.c.updated_at)
        query = (
            sa.select(CONTENTS.c.name, first.label('created_at'), last.label('updated_at'))
            .where(CONTENTS.c.kind == contents.ASSOCIATIONS.plural)
            .group_by(CONTENTS.c.name)
            .order_by(CONTENTS.c.name)
        )
        with self._db.read() as conn:
            found = database.rows(conn, query)
        times = ('created_at', 'updated_at')
        resp.media = {
            'resource_types': [
                {'name': row['name'], **{name: paging.stamp(row[name]) for name in times}}
                for row in found
            ]
        }


def add(app: routing.App, db: database.Database, path: str) -> None:
    """Put the routes of metadata definitions into `app`."""
    namespaces = f'{path}/namespaces'
    one = f'{namespaces}/{{namespace}}'
    endpoint = resources.Endpoint(db, RESOURCE)
    routing.add_crud(app, namespaces, endpoint, 'namespace')
    for kind in contents.KINDS:
        routing.add_crud(app, f'{one}/{kind.plural}', contents.Endpoint(db, kind), 'name')
    routing.add_crud(app, f'{one}/tags', TagResource(db), 'tag')
    app.add_route(f'{path}/resource_types', TypesResource(db))
