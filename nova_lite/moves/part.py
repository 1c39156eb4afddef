"""What a saga is made of: parts, each about one thing, and transactions of its cell."""

import collections.abc
import functools
import typing

P = typing.TypeVar('P')


class Part:
    """move: the saga that has it"""

    def __init__(self, move):
        self.move = move

    @property
    def results(self):
        """Return what the steps of the saga have left."""
        return self.move.results


class Of(typing.Generic[P]):
    """A part that a saga, or a part of it, has. kind: its class; the rest follows the saga"""

    def __init__(self, kind: collections.abc.Callable[..., P], *args, **options) -> None:
        self._kind, self._args, self._options = kind, args, options

    def __get__(self, owner: typing.Any, _class: typing.Any = None) -> P:
        """Return the part."""
        return self._kind(_saga(owner), *self._args, **self._options)


def _saga(owner):
    return getattr(owner, 'move', owner)


def transaction(method):
    """Make a method (self, connection, ...) of a saga or a part one transaction of its cell."""

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        return _saga(self).write(method.__get__(self), *args, **kwargs)

    return run
