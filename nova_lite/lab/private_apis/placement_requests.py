"""Undocumented names of placement by which the requests of a tuned one share what they make."""

import typing

import os_resource_classes
from placement import attribute_cache
from placement import context as contexts
from placement import util
from placement.objects import allocation
from placement.objects import allocation_candidate
from placement.objects import consumer
from placement.objects import inventory
from placement.objects import project
from placement.objects import research_context
from placement.objects import resource_provider
from placement.objects import trait
from placement.objects import user

from nova_lite.private_apis import guard

LIBRARY = guard.Library('openstack-placement', lowest='14.0', newest='16.0.0')

# What makes aliases of tables.
WITH_ALIASES = (
    allocation,
    allocation_candidate,
    consumer,
    inventory,
    project,
    research_context,
    resource_provider,
    trait,
    user,
)

LIBRARY.has(util, 'jsonschema')
LIBRARY.keeps(contexts.RequestContext, 'ct_cache', 'rc_cache', 'trait_cache')
LIBRARY.takes(attribute_cache.TraitCache, '__init__', 'ctx')
LIBRARY.keeps(attribute_cache.TraitCache, '_ctx')
# Replaced by ResourceClasses, which fills the caches with {name: number} and {number: name}.
LIBRARY.keeps(contexts.RequestContext, 'attribute_cache', 'ResourceClassCache', 'TraitCache')
LIBRARY.keeps(attribute_cache.ResourceClassCache, 'clear')
LIBRARY.uses(attribute_cache.ResourceClassCache, 'clear', '_id_cache', '_str_cache', '_all_cache')
LIBRARY.uses(attribute_cache.ResourceClassCache, 'id_from_string', '_id_cache')
LIBRARY.uses(attribute_cache.ResourceClassCache, 'string_from_id', '_str_cache')
for _method in ('all_from_string', 'get_all'):
    LIBRARY.uses(attribute_cache.ResourceClassCache, _method, '_all_cache', '_refresh_from_db')
for _module in WITH_ALIASES:
    LIBRARY.has(_module, 'sa')


class ResourceClasses(attribute_cache.ResourceClassCache):  # type: ignore[misc]  # is not typed
    """The resource classes of a request, which knows the standard ones without a read.

    Each has its place in the library's list as its number in every database, and cannot be
    deleted. All of them are read for a custom one, and to be listed.
    """

    _names: typing.ClassVar = dict(enumerate(map(str, os_resource_classes.STANDARDS)))
    _numbers: typing.ClassVar = {name: number for number, name in _names.items()}

    def clear(self) -> None:
        super().clear()
        self._id_cache, self._str_cache = dict(self._numbers), dict(self._names)


class Names:
    """The names of traits, resource classes and types of consumers that requests have read.

    context: of the first of these requests
    """

    def __init__(self, context: typing.Any) -> None:
        self._caches = {
            'ct_cache': context.ct_cache,
            'rc_cache': context.rc_cache,
            'trait_cache': context.trait_cache,
        }

    def lend(self, context: typing.Any) -> None:
        """Give the headers to one request only, and take them from the requests before."""
        for name, cache in self._caches.items():
            cache._ctx = context
            setattr(context, name, cache)


def changes(
    validation: typing.Any, sqlalchemy: typing.Any
) -> typing.Iterator[tuple[typing.Any, str, typing.Any]]:
    """Yield the changes of placement: an object, the name of an attribute, its new value.

    validation: checks requests instead of the module jsonschema
    sqlalchemy: makes statements instead of the module sqlalchemy
    """
    yield attribute_cache, 'ResourceClassCache', ResourceClasses
    yield util, 'jsonschema', validation
    for module in WITH_ALIASES:
        yield module, 'sa', sqlalchemy
