"""Arguments of sagas and results of their steps: values with names and versions.

The journal stores plain JSON. A Value is stored as its fields, with its version if that is not 1.
"""

import collections.abc
import dataclasses
import functools
import typing

from nova_lite.saga import journal

T = typing.TypeVar('T')
T_co = typing.TypeVar('T_co', covariant=True)
# Key of the version in a stored value, if it is not the first.
VERSION = '_version'
FIRST = 1
Loaded: typing.TypeAlias = dict[tuple[str, typing.Any], tuple[typing.Any, typing.Any]]


def fields(value: typing.Any) -> tuple[dataclasses.Field[typing.Any], ...]:
    """Return the fields of a Value or of its class."""
    return dataclasses.fields(value)


@typing.dataclass_transform(frozen_default=True, kw_only_default=True)
class Value:
    """Base class of dataclasses that the journal stores. Each field is plain JSON or a Value.

    A field that is added, removed or changes its meaning requires a new VERSION, see `upgrade`.

    inner: {name: class} of the fields that are Values
    """

    VERSION: typing.ClassVar = FIRST
    inner: typing.ClassVar[dict[str, type['Value']]] = {}

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        kinds = {field.name: field.type for field in fields(cls)}
        if any(isinstance(kind, str) for kind in kinds.values()):
            raise TypeError(f'{cls.__name__} has types as texts, which name no Value to upgrade')
        cls.inner = {
            name: kind
            for name, kind in kinds.items()
            if isinstance(kind, type) and issubclass(kind, Value)
        }

    @classmethod
    def upgrade(cls, kept: journal.Data, version: int) -> journal.Data:
        """Return the fields of this version. kept: {field: value} of a former version"""
        return kept

    @classmethod
    def from_dict(cls, kept: journal.Data) -> typing.Self:
        """Return the Value of stored fields. Raise UnknownPlan if their version is unknown."""
        version = kept.get(VERSION, FIRST)
        if version > cls.VERSION:
            raise journal.UnknownPlan(f'{cls.__name__} has no version {version} here')
        values = {name: value for name, value in kept.items() if name != VERSION}
        if version < cls.VERSION:
            values = cls.upgrade(values, version)
        inner = {
            name: kind.from_dict(values[name])
            for name, kind in cls.inner.items()
            if isinstance(values.get(name), dict)
        }
        try:
            return cls(**{**values, **inner})
        except TypeError as error:
            raise journal.UnknownPlan(f'{cls.__name__} is another one: {error}') from error

    def as_dict(self) -> journal.Data:
        """Return the value as the journal stores it."""
        version = {} if self.VERSION == FIRST else {VERSION: self.VERSION}
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in self.inner:
            if kept[name] is not None:
                kept[name] = kept[name].as_dict()
        return {**kept, **version}


class Answer(Value):
    """Base class of replies of hosts. Unknown fields of a reply are ignored."""

    @classmethod
    def from_dict(cls, kept: journal.Data) -> typing.Self:
        """Return the Answer of a host's reply, without unknown fields."""
        known = {VERSION, *(field.name for field in fields(cls))}
        return super().from_dict({name: kept[name] for name in kept if name in known})


class Result(str, typing.Generic[T_co]):
    """The name of a result: the id of a step, or the name of a note, with the type of the value.

    kind: a Value or another class with `from_dict` and `as_dict`, or a type of plain JSON
    secret: whether the journal drops the value when the saga ends
    """

    kind: typing.Any
    secret: bool

    def __new__(cls, name: str, kind: type[T_co], secret: bool = False) -> typing.Self:
        """Return the name, with the type of its value."""
        made = super().__new__(cls, name)
        made.kind, made.secret = kind, secret
        return made

    def __getnewargs__(self) -> tuple[typing.Any, ...]:
        return str(self), self.kind, self.secret

    def load(self, kept: typing.Any) -> T_co:
        """Return the value that the journal stores as `kept`."""
        from_dict = getattr(self.kind, 'from_dict', None)
        return typing.cast(T_co, kept if from_dict is None else from_dict(kept))

    def plain(self, value: typing.Any) -> typing.Any:
        """Return a value, or the reply of a host, as the journal stores it."""
        if not hasattr(self.kind, 'from_dict'):
            return value
        made = self.load(value) if isinstance(value, dict) else value
        if not isinstance(made, self.kind):
            raise TypeError(f'"{self}" leaves {self.kind.__name__}, not {type(made).__name__}')
        return made.as_dict()


class Results:
    """Results of the steps of a saga, and notes, by their Result.

    data: the saga's data, which the journal stores
    loaded: {(name, kind of value): (stored JSON, value)} of the results that were read. A
        value is reused while `data` has the same stored object, so it must not be changed
    """

    def __init__(self, data: journal.Data, loaded: Loaded) -> None:
        self._data, self._loaded = data, loaded

    def __getitem__(self, result: Result[T]) -> T:
        """Return a result. Raise KeyError if there is none."""
        return self._load(result, self._data[_known(result)])

    def get(self, result: Result[T]) -> T | None:
        """Return a result, or None."""
        kept = self._data.get(_known(result))
        return None if kept is None else self._load(result, kept)

    def _load(self, result: Result[T], kept: typing.Any) -> T:
        key = str(result), result.kind
        stored, value = self._loaded.get(key, (None, None))
        if stored is not kept:
            value = result.load(kept)
            self._loaded[key] = kept, value
        return typing.cast(T, value)

    def __contains__(self, result: Result[typing.Any]) -> bool:
        return _known(result) in self._data

    def __setitem__(self, result: Result[T], value: T) -> None:
        self.keep(_known(result), value)

    def pop(self, result: Result[T]) -> T | None:
        """Remove a result and return it, or None."""
        found = self.get(result)
        self._data.pop(result, None)
        return found

    def keep(self, step: str, value: typing.Any) -> None:
        """Store the result of a step."""
        self._data[str(step)] = step.plain(value) if isinstance(step, Result) else value

    def drop_secrets(self, steps: collections.abc.Iterable[str]) -> None:
        """Remove secret results, at the end of the saga."""
        for step in steps:
            if isinstance(step, Result) and step.secret:
                self._data.pop(step, None)

    def check(self, steps: collections.abc.Iterable[str]) -> None:
        """Raise UnknownPlan if this release does not know the stored result of a step."""
        for step in steps:
            if isinstance(step, Result):
                self.get(step)


def _known(result: typing.Any) -> typing.Any:
    if not isinstance(result, Result):
        raise TypeError(f'{result!r} is no Result')
    return result


@functools.cache
def given(saga: type) -> typing.Any:
    """Return the class of the arguments of a saga class, by its annotation, or None."""
    kind = typing.get_type_hints(saga)['arguments']
    return kind if isinstance(kind, type) and issubclass(kind, Value) else None


def arguments(saga: type, kept: journal.Data) -> typing.Any:
    """Return the arguments of a saga. Raise UnknownPlan if its class does not know them."""
    kind = given(saga)
    return kept if kind is None else kind.from_dict(kept)


def required(saga: type) -> list[str]:
    """Return the names of the arguments that a saga class requires."""
    kind, nothing = given(saga), dataclasses.MISSING
    found = () if kind is None else fields(kind)
    return [each.name for each in found if each.default is each.default_factory is nothing]
