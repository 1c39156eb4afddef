"""Strict reading of a YAML document: each complaint names the path it is about."""

from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterator
import math
import re
from typing import Any
from typing import Self

import os_traits
import yaml

from nova_lite import exception

_STANDARD_TRAITS = frozenset(os_traits.get_traits())


class ProfileError(exception.Invalid):
    """A behaviour profile is not valid."""

    msg = 'Profile %(source)s: %(path)s: %(reason)s'


class _Loader(yaml.CSafeLoader):
    """A safe loader that refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _value in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f'key {key!r} is given twice', key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


class Reader:
    """A value of the document together with its path."""

    def __init__(self, source: str, value: Any, path: str = '(document)') -> None:
        self.source = source
        self.value = value
        self.path = path

    @classmethod
    def parse(cls, source: str, text: str | bytes) -> Self:
        """Return the reader of a whole document. Raise ProfileError if it is no YAML."""
        try:
            return cls(source, yaml.load(text, _Loader))  # noqa: S506 - a safe loader
        except (yaml.YAMLError, TypeError) as error:
            place = getattr(error, 'problem_mark', None)
            where = f'line {place.line + 1}' if place else '(document)'
            reason = getattr(error, 'problem', None) or str(error)
            raise ProfileError(source=source, path=where, reason=reason) from error

    def expect(self, condition: object, reason: str) -> None:
        """Complain about this value unless the condition holds."""
        if not condition:
            raise ProfileError(source=self.source, path=self.path, reason=reason)

    def at(self, key: str | int) -> 'Reader':
        """Return the reader of a mapping's value or a list's item."""
        if isinstance(key, int):
            return Reader(self.source, self.value[key], f'{self.path}[{key}]')
        prefix = '' if self.path == '(document)' else f'{self.path}.'
        return Reader(self.source, self.value[key], f'{prefix}{key}')

    def has(self, key: str) -> bool:
        return key in self.value

    def mapping(self, *, required: Collection[str] = (), optional: Collection[str] = ()) -> Self:
        """Check that this is a mapping with these keys and no others."""
        self.expect(isinstance(self.value, dict), 'must be a mapping')
        known = (*required, *optional)
        for key in self.value:
            self.expect(key in known, f'unknown key {key!r}; known: {", ".join(sorted(known))}')
        for key in required:
            self.expect(key in self.value, f'lacks {key!r}')
        return self

    def only_item(self, names: Collection[str]) -> tuple[str, 'Reader']:
        """Return the (key, reader) of a mapping that has one key, out of `names`."""
        self.mapping(optional=names)
        self.expect(len(self.value) == 1, f'must have one of: {", ".join(names)}')
        key = next(iter(self.value))
        return key, self.at(key)

    def items(self) -> Iterator[tuple[str, 'Reader']]:
        """Yield the (key, reader) pairs of a mapping with strings as keys."""
        self.expect(isinstance(self.value, dict), 'must be a mapping')
        for key in self.value:
            self.expect(isinstance(key, str), f'key {key!r} must be a string')
            yield key, self.at(key)

    def sequence(self) -> list['Reader']:
        """Return the readers of a list's items."""
        self.expect(isinstance(self.value, list), 'must be a list')
        return [self.at(index) for index in range(len(self.value))]

    def is_number(self) -> bool:
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)

    def number(self, minimum: float = 0, maximum: float = 1e9) -> float:
        """Return a finite number between the bounds."""
        self.expect(
            self.is_number() and math.isfinite(self.value) and minimum <= self.value <= maximum,
            f'must be a number between {minimum:g} and {maximum:g}',
        )
        return float(self.value)

    def integer(self, minimum: int = 0, maximum: int = 2**40) -> int:
        self.expect(
            isinstance(self.value, int)
            and not isinstance(self.value, bool)
            and minimum <= self.value <= maximum,
            f'must be an integer between {minimum} and {maximum}',
        )
        value: int = self.value
        return value

    def boolean(self) -> bool:
        self.expect(isinstance(self.value, bool), 'must be true or false')
        value: bool = self.value
        return value

    def string(self) -> str:
        self.expect(
            isinstance(self.value, str) and self.value.strip() != '',
            'must be a string that is not empty',
        )
        value: str = self.value
        return value

    def traits(self) -> tuple[str, ...]:
        """Return the names of traits in a list."""
        names = []
        for entry in self.sequence():
            name = entry.string()
            custom = re.fullmatch(r'CUSTOM_[A-Z0-9_]{1,248}', name)
            entry.expect(
                custom or name in _STANDARD_TRAITS,
                f'{name!r} is neither a trait of os-traits nor CUSTOM_ and A-Z, 0-9, _',
            )
            names.append(name)
        return tuple(names)

    def choice(self, names: Collection[str]) -> str:
        self.expect(
            isinstance(self.value, str) and self.value in names,
            f'must be one of: {", ".join(names)}',
        )
        value: str = self.value
        return value
