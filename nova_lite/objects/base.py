"""Base of the versioned objects, which daemons send each other.

Objects have data and conversions, and no access to databases. Reading a field that is not set
raises. Inside a daemon, records are database rows.
"""

import typing

from oslo_versionedobjects import base
from oslo_versionedobjects import fields

NAMESPACE = 'nova_lite'
# Plain values, as JSON keeps them.
Data: typing.TypeAlias = dict[str, typing.Any]


class Json(fields.FieldType):  # type: ignore[type-arg]  # generic in new releases only
    """Any plain JSON value: the shape is stated where the field is declared."""

    @staticmethod
    def coerce(obj: base.VersionedObject | None, attr: str, value: typing.Any) -> typing.Any:
        return value


class JsonField(fields.AutoTypedField):  # type: ignore[type-arg]  # as Json
    """A field of plain JSON."""

    AUTO_TYPE = Json()


F = typing.TypeVar('F')


def optional(kind: typing.Callable[..., F]) -> F:
    """Return a nullable field of a kind, with the default None."""
    return kind(nullable=True, default=None)


class Registry(base.VersionedObjectRegistry):
    """The registry of classes by name and version."""


class Object(base.VersionedObject):
    """A versioned object of ours."""

    OBJ_SERIAL_NAMESPACE = NAMESPACE
    OBJ_PROJECT_NAMESPACE = NAMESPACE

    @classmethod
    def of(cls, values: typing.Any, **more: typing.Any) -> typing.Self:
        """Return an object of a row, a mapping or an object, with the fields in `more`.

        A field that is missing from `values` and `more` stays unset.
        """
        found = {
            name: value_of(values, name)
            for name in cls.fields
            if name not in more and has_value(values, name)
        }
        return cls(**found, **more)

    def obj_what_changed(self) -> set[str]:
        """Return an empty set: receivers never ask which fields were changed."""
        return set()

    def obj_to_primitive(
        self, target_version: str | None = None, version_manifest: dict[str, str] | None = None
    ) -> Data:
        if target_version is not None or version_manifest:
            return super().obj_to_primitive(target_version, version_manifest)
        values = {
            name: field.to_primitive(self, name, getattr(self, name))
            for name, field in self.fields.items()
            if self.obj_attr_is_set(name)
        }
        return {
            f'{NAMESPACE}.name': self.obj_name(),
            f'{NAMESPACE}.namespace': self.OBJ_PROJECT_NAMESPACE,
            f'{NAMESPACE}.version': self.VERSION,
            f'{NAMESPACE}.data': values,
        }

    def get(self, name: str, default: typing.Any = None) -> typing.Any:
        """Return the field's value, or `default` when it is not set."""
        return getattr(self, name) if self.obj_attr_is_set(name) else default

    def as_dict(self) -> Data:
        """Return the set fields as plain values, nested objects too: for JSON columns."""
        return {
            name: _plain(getattr(self, name)) for name in self.fields if self.obj_attr_is_set(name)
        }

    def __contains__(self, name: object) -> bool:
        return self.obj_attr_is_set(str(name))


def has_value(values: typing.Any, name: str) -> bool:
    """Return whether a mapping, an object or a row has `name`."""
    if isinstance(values, dict):
        return name in values
    if isinstance(values, Object):
        return values.obj_attr_is_set(name)
    return hasattr(values, name)


def value_of(values: typing.Any, name: str) -> typing.Any:
    """Return the value of `name` in a mapping, an object or a row."""
    return values[name] if isinstance(values, dict) else getattr(values, name)


def _plain(value: typing.Any) -> typing.Any:
    if isinstance(value, Object):
        return value.as_dict()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
