"""Parts, of which sagas are composed, and transactions of the saga's cell."""

import collections.abc
import functools
import typing

P = typing.TypeVar('P')


class Part:
    """Base class of parts. move: the saga"""

    def __init__(self, move):
        self.move = move

    @property
    def results(self):
        """Return the results of the saga's steps."""
        return self.move.results


class Of(typing.Generic[P]):
    """A part as an attribute of a saga or a part. kind: its class; then further arguments"""

    def __init__(self, kind: collections.abc.Callable[..., P], *args, **options) -> None:
        self._kind, self._args, self._options = kind, args, options

    def __get__(self, owner: typing.Any, _class: typing.Any = None) -> P:
        """Return the part."""
        return self._kind(_saga(owner), *self._args, **self._options)


def _saga(owner):
    return getattr(owner, 'move', owner)


def transaction(method):
    """Run a method (self, connection, ...) of a saga or a part as a transaction of its cell."""

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        return _saga(self).write(method.__get__(self), *args, **kwargs)

    return run
