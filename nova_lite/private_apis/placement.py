"""Undocumented names of placement's modules that we use."""

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
from placement.objects import resource_class
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
LIBRARY.has(trait, '_TRAITS_SYNCED')
LIBRARY.has(resource_class, '_RESOURCE_CLASSES_SYNCED')
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
        """Give them to one request, and no longer to those before."""
        for name, cache in self._caches.items():
            cache._ctx = context
            setattr(context, name, cache)


def forget_synced() -> None:
    """Make placement write traits and resource classes to the next database too."""
    trait._TRAITS_SYNCED = resource_class._RESOURCE_CLASSES_SYNCED = False


def know_resource_classes() -> None:
    """Make requests know the standard resource classes."""
    attribute_cache.ResourceClassCache = ResourceClasses


def use_validation(validation: typing.Any) -> None:
    """Make placement check requests by `validation` instead of the module jsonschema."""
    util.jsonschema = validation


def use_sqlalchemy(replacement: typing.Any) -> None:
    """Make requests use `replacement` instead of the module sqlalchemy."""
    for module in WITH_ALIASES:
        module.sa = replacement
