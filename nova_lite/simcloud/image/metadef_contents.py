"""Contents of a namespace of metadata definitions: objects, properties, resource types."""

import dataclasses

import falcon
import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.image import tables

NAMESPACES, CONTENTS = tables.metadef_namespaces, tables.metadef_contents
PATH, SCHEMAS = '/v2/metadefs/namespaces', '/v2/schemas/metadefs'
PERMIT = resources.admins('metadata definition', actions=resources.CHANGES)

_COUNTS = bodies.words('minLength maxLength minItems maxItems')
_TRUTHS = bodies.words('readonly confidential uniqueItems additionalItems')
# Schema of a property: of the value that images and other resources may have under its name.
_PROPERTY = {
    'title': bodies.NAME,
    'type': {'enum': bodies.words('array boolean integer number object string null')},
    'description': bodies.TEXT,
    'operators': bodies.array(bodies.STRING),
    'default': {},
    'minimum': {'type': 'number'},
    'maximum': {'type': 'number'},
    'enum': {'type': 'array'},
    'pattern': bodies.TEXT,
    'items': {'type': 'object'},
    **dict.fromkeys(_COUNTS, bodies.COUNT),
    **dict.fromkeys(_TRUTHS, bodies.BOOLEAN),
}
_TYPED, _NAMED = ('title', 'type'), {'name': bodies.NAME}
PROPERTY = bodies.record(_PROPERTY, _TYPED, extra=False)
NAMED_PROPERTY = bodies.record({**_NAMED, **_PROPERTY}, ('name', *_TYPED), extra=False)
OBJECT = bodies.record(
    {
        **_NAMED,
        'description': bodies.TEXT,
        'required': bodies.array(bodies.STRING),
        'properties': bodies.mapping(PROPERTY),
    },
    ['name'],
    extra=False,
)
ASSOCIATION = bodies.record(
    {**_NAMED, 'prefix': bodies.STRING, 'properties_target': bodies.STRING}, ['name'], extra=False
)


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may see a namespace."""
    if caller.is_privileged:
        return sa.true()
    own = NAMESPACES.c.owner == (caller.project_id or '')
    return sa.or_(NAMESPACES.c.visibility == 'public', own)


def namespace_of(conn: sa.Connection, caller: callers.Caller, name: str) -> database.Row:
    """Return the row of a namespace. Raise NotFound."""
    row = database.find(conn, NAMESPACES, visible(caller), namespace=name)
    if row is None:
        raise faults.NotFound(f'The metadata definition namespace={name[:255]} was not found.')
    return row


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of definitions. Column `content` of a row has the definition without its name.

    title: its name in messages and schemas; plural: in paths; list_key: in lists
    as_mapping: whether a list is an object, {name: definition}
    is_fixed: whether a single definition can be neither shown nor changed
    """

    title: str
    plural: str
    list_key: str
    schema: bodies.Schema
    as_mapping: bool = False
    is_fixed: bool = False

    def view(self, row: database.Row, namespace: str) -> bodies.Json:
        """Return one definition in the namespace that is called `namespace`."""
        shown = {'name': row['name'], **row['content']}
        if self.as_mapping:
            return shown
        shown |= {name: paging.stamp(row[name]) for name in ('created_at', 'updated_at')}
        if not self.is_fixed:
            shown['self'] = f'{PATH}/{namespace}/{self.plural}/{row["name"]}'
            shown['schema'] = f'{SCHEMAS}/{self.title}'
        return shown

    def all_of(self, conn: sa.Connection, parent: database.Row) -> bodies.Json | list[bodies.Json]:
        """Return the definitions of this kind in a namespace, as views of namespaces show them."""
        found = self._rows(conn, parent)
        if self.as_mapping:
            return {row['name']: row['content'] for row in found}
        return [self.view(row, parent['namespace']) for row in found]

    def _rows(self, conn: sa.Connection, parent: database.Row) -> list[database.Row]:
        key = {'namespace_id': parent['id'], 'kind': self.plural}
        return database.find_all(conn, CONTENTS, **key, order=['name'])

    def _key(self, parent: database.Row, name: str) -> dict[str, str]:
        return {'namespace_id': parent['id'], 'kind': self.plural, 'name': name}

    def _require_free(
        self, conn: sa.Connection, parent: database.Row, name: str, *conditions: shapes.Condition
    ) -> None:
        if database.exists(conn, CONTENTS, *conditions, **self._key(parent, name)):
            raise faults.Conflict(
                f'A metadata definition {self.title} with name={name} already exists in '
                f'namespace={parent["namespace"]}.'
            )

    def insert(
        self, conn: sa.Connection, parent: database.Row, wanted: bodies.Json
    ) -> database.Row:
        """Insert a definition into a namespace and return its row."""
        content = dict(wanted)
        name = content.pop('name')
        self._require_free(conn, parent, name)
        return database.insert(conn, CONTENTS, **self._key(parent, name), content=content)

    def _create(
        self, conn: sa.Connection, caller: callers.Caller, namespace: str, *, wanted: bodies.Json
    ) -> database.Row:
        return self.insert(conn, namespace_of(conn, caller, namespace), wanted)

    def _get(
        self, conn: sa.Connection, caller: callers.Caller, namespace: str, name: str
    ) -> database.Row:
        parent = namespace_of(conn, caller, namespace)
        row = database.find(conn, CONTENTS, **self._key(parent, name))
        if row is None:
            raise faults.NotFound(
                f'The metadata definition {self.title} with name={name[:255]} was not found in '
                f'namespace={namespace}.'
            )
        return row

    def _update(
        self,
        conn: sa.Connection,
        caller: callers.Caller,
        namespace: str,
        name: str,
        *,
        wanted: bodies.Json,
    ) -> database.Row:
        """Replace a definition and its name. Return its row."""
        row = self._get(conn, caller, namespace, name)
        content = dict(wanted)
        new = content.pop('name')
        # Databases that ignore case would find the row itself under the new name.
        others = CONTENTS.c.name != row['name']
        parent = {'id': row['namespace_id'], 'namespace': namespace}
        self._require_free(conn, parent, new, others)
        return database.save(conn, CONTENTS, row, name=new, content=content)

    def _delete(
        self, conn: sa.Connection, caller: callers.Caller, namespace: str, name: str
    ) -> None:
        row = self._get(conn, caller, namespace, name)
        database.delete(conn, CONTENTS, **self._key({'id': row['namespace_id']}, name))

    def delete_all(self, conn: sa.Connection, caller: callers.Caller, namespace: str) -> None:
        """Delete all definitions of this kind in a namespace."""
        parent = namespace_of(conn, caller, namespace)
        database.delete(conn, CONTENTS, namespace_id=parent['id'], kind=self.plural)

    def _listed(self, conn: sa.Connection, req: web.Request, namespace: str) -> list[database.Row]:
        return self._rows(conn, namespace_of(conn, req.context.caller, namespace))

    def _views(
        self, conn: sa.Connection, _req: web.Request, found: list[database.Row]
    ) -> list[bodies.Json]:
        ids = {row['namespace_id'] for row in found}
        names = database.grouped(conn, NAMESPACES.c.id, ids)
        return [self.view(row, names[row['namespace_id']][0]['namespace']) for row in found]

    def _collection(self, _req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
        if self.as_mapping:
            return {key: {item['name']: item for item in items}}
        schema = {} if self.is_fixed else {'schema': f'{SCHEMAS}/{self.plural}'}
        return {key: items, **schema}

    @property
    def resource(self) -> resources.Resource:
        """Return the resource for the definitions of this kind in one namespace."""
        body = bodies.compiled(self.schema)
        return resources.Resource(
            name=self.title,
            plural=self.list_key,
            style=resources.Style(collection=self._collection, wrapped=False),
            permit=PERMIT,
            listed=self._listed,
            get=self._get,
            views=self._views,
            create=(self._create, body),
            update=None if self.is_fixed else (self._update, body),
            delete=self._delete,
        )


OBJECTS = Kind(title='object', plural='objects', list_key='objects', schema=OBJECT)
PROPERTIES = Kind(
    title='property',
    plural='properties',
    list_key='properties',
    schema=NAMED_PROPERTY,
    as_mapping=True,
)
ASSOCIATIONS = Kind(
    title='resource type association',
    plural='resource_types',
    list_key='resource_type_associations',
    schema=ASSOCIATION,
    is_fixed=True,
)
KINDS = (OBJECTS, PROPERTIES, ASSOCIATIONS)


class Endpoint(resources.Endpoint):
    """Answers requests for definitions of one kind. All of them can be deleted at once."""

    def __init__(self, db: database.Database, kind: Kind) -> None:
        super().__init__(db, kind.resource)
        self._kind = kind

    def on_delete(self, req: web.Request, resp: falcon.Response, namespace: str) -> None:
        PERMIT(req.context.caller, resources.DELETE, {'namespace': namespace})
        self._db.change(self._kind.delete_all, req.context.caller, namespace)
        resp.status = falcon.HTTP_204
