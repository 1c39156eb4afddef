"""Contexts and versioned objects to and from the wire."""

import datetime
import typing

from oslo_versionedobjects import base as ovo

from nova_lite import context
from nova_lite.rpc import pins as pins_module

NAMESPACE = 'nova_lite'


class Base(ovo.VersionedObject):
    """The names of our objects in messages."""

    OBJ_SERIAL_NAMESPACE = NAMESPACE
    OBJ_PROJECT_NAMESPACE = NAMESPACE


class ObjectSerializer(ovo.VersionedObjectSerializer):
    """Versioned objects by their own rules; datetimes as ISO 8601 strings.

    pins: Pins of the receivers, which decide the versions in which objects are sent
    """

    OBJ_BASE_CLASS = Base

    def __init__(self, pins: pins_module.Pins | None = None) -> None:
        super().__init__()
        self._pins = pins

    def serialize_context(self, ctxt: context.RequestContext) -> dict[str, typing.Any]:
        return ctxt.to_wire()

    def deserialize_context(self, values: dict[str, typing.Any]) -> context.RequestContext:
        ctxt = context.RequestContext.from_wire(values)
        ctxt.update_store()
        return ctxt

    def serialize_entity(self, ctxt: context.RequestContext, entity: typing.Any) -> typing.Any:
        if _is_names(entity):
            return entity
        if isinstance(entity, datetime.datetime):
            return entity.isoformat()
        if self._pins is not None and isinstance(entity, ovo.VersionedObject):
            manifest = self._pins.manifest()
            if manifest is not None:
                version = manifest[entity.obj_name()]
                return entity.obj_to_primitive(target_version=version, version_manifest=manifest)
        return super().serialize_entity(ctxt, entity)

    def deserialize_entity(self, ctxt: context.RequestContext, entity: typing.Any) -> typing.Any:
        return entity if _is_names(entity) else super().deserialize_entity(ctxt, entity)


def _is_names(entity: typing.Any) -> bool:
    """Return whether the entity is a list of names, such as thousands of hosts."""
    return type(entity) is list and all(type(each) is str for each in entity)
