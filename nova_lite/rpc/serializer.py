"""Contexts and versioned objects to and from the wire."""

import datetime

from oslo_versionedobjects import base as ovo

from nova_lite import context

NAMESPACE = 'nova_lite'


class Base(ovo.VersionedObject):
    """Under which names our objects travel."""

    OBJ_SERIAL_NAMESPACE = NAMESPACE
    OBJ_PROJECT_NAMESPACE = NAMESPACE


class ObjectSerializer(ovo.VersionedObjectSerializer):
    """Versioned objects by their own rules; datetimes as ISO 8601 strings."""

    OBJ_BASE_CLASS = Base

    def serialize_context(self, ctxt):
        return ctxt.to_wire()

    def deserialize_context(self, values):
        ctxt = context.RequestContext.from_wire(values)
        ctxt.update_store()
        return ctxt

    def serialize_entity(self, ctxt, entity):
        if isinstance(entity, datetime.datetime):
            return entity.isoformat()
        return super().serialize_entity(ctxt, entity)
