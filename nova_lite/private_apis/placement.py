"""Two undocumented names of placement, for processes that serve one database after another."""

from placement.objects import resource_class
from placement.objects import trait

from nova_lite.private_apis import guard

LIBRARY = guard.Library('openstack-placement', lowest='14.0', newest='16.0.0')

with LIBRARY.declared():
    LIBRARY.has(trait, '_TRAITS_SYNCED')
    LIBRARY.has(resource_class, '_RESOURCE_CLASSES_SYNCED')

# (module, its note that it has written its names to the database)
_SYNCED = ((trait, '_TRAITS_SYNCED'), (resource_class, '_RESOURCE_CLASSES_SYNCED'))


def forget_synced() -> None:
    """Make placement write traits and resource classes to the next database of this process too.

    A release without these names still writes them to the first database of a process. Daemons
    have no other.
    """
    for module, name in _SYNCED if LIBRARY.is_used else ():
        setattr(module, name, False)
