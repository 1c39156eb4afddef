"""Undocumented names of oslo.versionedobjects that we use."""

from oslo_versionedobjects import base

from nova_lite.private_apis import guard

LIBRARY = guard.Library('oslo.versionedobjects', lowest='3.8', newest='3.12.0')

LIBRARY.takes(base, '_get_attrname', 'name')
# Overridden by objects.base, or called there.
LIBRARY.takes(base.VersionedObject, '_obj_from_primitive', 'context', 'objver', 'primitive')
LIBRARY.uses(base.VersionedObject, '_obj_from_primitive', '_context', 'VERSION')
LIBRARY.takes(base.VersionedObject, '_obj_primitive_field', 'primitive', 'field')
LIBRARY.takes(base.VersionedObject, '_obj_primitive_key', 'field')


def stored(name: str) -> str:
    """Return the attribute of an object that holds the value of a field."""
    found: str = base._get_attrname(name)
    return found
