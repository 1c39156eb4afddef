"""Statements of placement about a resource provider, each built once.

Placement builds them at each call, which takes longer than to execute them.
"""

import typing

from placement import db_api
from placement import exception
from placement.db.sqlalchemy import models
from placement.objects import resource_provider
from placement.objects import trait
import sqlalchemy as sa

from nova_lite.private_apis import guard

LIBRARY = guard.Library('openstack-placement', lowest='14.0', newest='16.0.0')

LIBRARY.takes(resource_provider, '_get_provider_by_uuid', 'context', 'uuid')
LIBRARY.takes(resource_provider, '_get_current_inventory_resources', 'ctx', 'rp')
LIBRARY.takes(resource_provider, '_add_traits_to_provider', 'ctx', 'rp_id', 'to_add')
LIBRARY.takes(resource_provider, '_add_inventory_to_provider', 'ctx', 'rp', 'inv_list', 'to_add')
LIBRARY.takes(resource_provider.ResourceProvider, '_create_in_db', 'context', 'updates')
LIBRARY.takes(resource_provider.ResourceProvider, 'increment_generation')
LIBRARY.takes(trait, 'get_traits_by_provider_id', 'context', 'rp_id')
LIBRARY.takes(trait, '_get_all_filtered_from_db', 'context', 'filters')
LIBRARY.has(exception, 'ResourceProviderConcurrentUpdateDetected')

_PROVIDERS = models.ResourceProvider.__table__
_INVENTORIES = models.Inventory.__table__
_TRAITS = models.Trait.__table__
_SET_TRAITS = models.ResourceProviderTrait.__table__
_INVENTORY_FIELDS = (
    *('total', 'reserved', 'min_unit', 'max_unit', 'step_size', 'allocation_ratio'),
)

_root, _parent = _PROVIDERS.alias('root'), _PROVIDERS.alias('parent')
_PROVIDER = (
    sa.select(
        *(_PROVIDERS.c[name] for name in ('id', 'uuid', 'name', 'generation')),
        _root.c.uuid.label('root_provider_uuid'),
        _parent.c.uuid.label('parent_provider_uuid'),
        *(_PROVIDERS.c[name] for name in ('updated_at', 'created_at')),
    )
    .select_from(_PROVIDERS)
    .join(_root, _PROVIDERS.c.root_provider_id == _root.c.id)
    .outerjoin(_parent, _PROVIDERS.c.parent_provider_id == _parent.c.id)
    .where(_PROVIDERS.c.uuid == sa.bindparam('uuid'))
)
_NEW_PROVIDER = _PROVIDERS.insert()
_BE_ROOT = (
    _PROVIDERS.update()
    .where(_PROVIDERS.c.id == sa.bindparam('provider'))
    .values(root_provider_id=sa.bindparam('root'))
)
_RAISE_GENERATION = (
    _PROVIDERS.update()
    .where(
        _PROVIDERS.c.id == sa.bindparam('provider'),
        _PROVIDERS.c.generation == sa.bindparam('known'),
    )
    .values(generation=sa.bindparam('raised'))
)
_RESOURCE_CLASSES = sa.select(_INVENTORIES.c.resource_class_id).where(
    _INVENTORIES.c.resource_provider_id == sa.bindparam('provider')
)
_NEW_INVENTORIES = _INVENTORIES.insert()
_TRAITS_OF = sa.select(_SET_TRAITS.c.trait_id).where(
    _SET_TRAITS.c.resource_provider_id == sa.bindparam('provider')
)
_NEW_TRAITS = _SET_TRAITS.insert()
_ALL_TRAITS = sa.select(*(_TRAITS.c[name] for name in ('id', 'name', 'updated_at', 'created_at')))
_NAMED_TRAITS = _ALL_TRAITS.where(_TRAITS.c.name.in_(sa.bindparam('names', expanding=True)))


# What `changes` replaces in part.
_create = resource_provider.ResourceProvider._create_in_db
_filtered_traits = trait._get_all_filtered_from_db


class Executor(typing.Protocol):
    """Executes statements that are constants; see `dialects.execute`."""

    def first(
        self, connection: sa.Connection, statement: sa.Executable, given: typing.Any
    ) -> typing.Any: ...

    def every(
        self, connection: sa.Connection, statement: sa.Executable, given: typing.Any
    ) -> typing.Any: ...

    def values(
        self, connection: sa.Connection, statement: sa.Executable, given: typing.Any
    ) -> typing.Any: ...

    def change(
        self, connection: sa.Connection, statement: sa.Executable, given: typing.Any
    ) -> int: ...


class Statements:
    """Functions with the arguments of placement's own, unless they say otherwise."""

    def __init__(self, execute: Executor) -> None:
        self._execute = execute

    def provider(self, context: typing.Any, uuid: str) -> dict[str, typing.Any]:
        """Return a provider as {column: value}."""
        with _reader(context) as session:
            row = self._execute.first(session.connection(), _PROVIDER, {'uuid': uuid})
        if row is None:
            raise exception.NotFound(f'No resource provider with uuid {uuid} found')
        return dict(row._mapping)

    def create_root(self, provider: typing.Any, context: typing.Any) -> None:
        """Create a provider without a parent, in a transaction that the caller has begun."""
        connection = context.session.connection()
        values = {'uuid': provider.uuid, 'name': provider.name, 'generation': 0}
        result = connection.execute(_NEW_PROVIDER, values)
        provider.id, provider.generation = result.inserted_primary_key[0], 0
        self._execute.change(connection, _BE_ROOT, {'provider': provider.id, 'root': provider.id})
        provider.root_provider_uuid = provider.uuid

    def raise_generation(self, provider: typing.Any) -> None:
        """Raise the generation of a provider by one, if it is as known."""
        known = provider.generation
        given = {'provider': provider.id, 'known': known, 'raised': known + 1}
        connection = provider._context.session.connection()
        if self._execute.change(connection, _RAISE_GENERATION, given) != 1:
            raise exception.ResourceProviderConcurrentUpdateDetected()
        provider.generation = known + 1

    def resource_classes(self, ctx: typing.Any, rp: typing.Any) -> set[int]:
        """Return the numbers of the resource classes of which a provider has an inventory."""
        connection = ctx.session.connection()
        return set(self._execute.values(connection, _RESOURCE_CLASSES, {'provider': rp.id}))

    def traits_of(self, context: typing.Any, rp_id: int) -> list[typing.Any]:
        """Return the traits of a provider."""
        cache = context.trait_cache
        with _reader(context) as session:
            found = self._execute.values(session.connection(), _TRAITS_OF, {'provider': rp_id})
            return [cache.all_from_string(cache.string_from_id(number)) for number in found]

    def named_traits(self, context: typing.Any, names: typing.Iterable[str]) -> typing.Any:
        """Return the traits that exist of some names. names: at least one"""
        with _reader(context) as session:
            given = {'names': list(set(names))}
            return self._execute.every(session.connection(), _NAMED_TRAITS, given)


def changes(execute: Executor) -> typing.Iterator[tuple[typing.Any, str, typing.Any]]:
    """Yield the changes of placement: an object, the name of an attribute, its new value."""
    statements = Statements(execute)

    def filtered(context: typing.Any, filters: dict[str, typing.Any]) -> typing.Any:
        if filters.keys() == {'name_in'} and filters['name_in']:
            return statements.named_traits(context, filters['name_in'])
        return _filtered_traits(context, filters)

    def create(provider: typing.Any, context: typing.Any, updates: dict[str, typing.Any]) -> None:
        if updates['parent_provider_uuid'] is not None:
            _create(provider, context, updates)
            return
        with db_api.placement_context_manager.writer.using(context):
            statements.create_root(provider, context)

    def increment_generation(provider: typing.Any) -> None:
        statements.raise_generation(provider)

    yield resource_provider, '_get_provider_by_uuid', statements.provider
    yield resource_provider, '_get_current_inventory_resources', statements.resource_classes
    yield resource_provider, '_add_traits_to_provider', _add_traits
    yield resource_provider, '_add_inventory_to_provider', _add_inventories
    yield trait, 'get_traits_by_provider_id', statements.traits_of
    yield trait, '_get_all_filtered_from_db', filtered
    yield resource_provider.ResourceProvider, '_create_in_db', create
    yield resource_provider.ResourceProvider, 'increment_generation', increment_generation


def _reader(context: typing.Any) -> typing.Any:
    return db_api.placement_context_manager.reader.using(context)


def _add_traits(ctx: typing.Any, rp_id: int, to_add: typing.Collection[int]) -> None:
    """Add traits to a provider. to_add: their numbers"""
    rows = [{'resource_provider_id': rp_id, 'trait_id': number} for number in to_add]
    ctx.session.connection().execute(_NEW_TRAITS, rows)


def _add_inventories(
    ctx: typing.Any, rp: typing.Any, inv_list: typing.Iterable[typing.Any], to_add: set[int]
) -> None:
    """Add inventories to a provider. to_add: numbers of their classes"""
    numbered = [(ctx.rc_cache.id_from_string(each.resource_class), each) for each in inv_list]
    rows = [
        {
            'resource_provider_id': rp.id,
            'resource_class_id': number,
            **{field: getattr(each, field) for field in _INVENTORY_FIELDS},
        }
        for number, each in numbered
        if number in to_add
    ]
    ctx.session.connection().execute(_NEW_INVENTORIES, rows)
