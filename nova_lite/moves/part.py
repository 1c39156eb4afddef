"""Parts, of which sagas are composed, and transactions of the saga's cell."""

from collections.abc import Callable
import functools
import typing

import sqlalchemy as sa

from nova_lite.saga import values

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves

P = typing.TypeVar('P')
# A saga or part whose method is a transaction.
Owner = typing.TypeVar('Owner')
Args = typing.ParamSpec('Args')
T = typing.TypeVar('T')


class Part:
    """Base class of parts. move: the saga"""

    def __init__(self, move: 'moves.AnyMove') -> None:
        self.move = move

    @property
    def results(self) -> values.Results:
        """Return the results of the saga's steps."""
        return self.move.results


class Of(typing.Generic[P]):
    """A part as an attribute of a saga or a part. kind: its class; then further arguments"""

    def __init__(self, kind: Callable[..., P], *args: typing.Any, **options: typing.Any) -> None:
        self._kind, self._args, self._options = kind, args, options

    def __get__(self, owner: typing.Any, _class: typing.Any = None) -> P:
        """Return the part."""
        return self._kind(_saga(owner), *self._args, **self._options)


def _saga(owner: typing.Any) -> 'moves.AnyMove':
    found: moves.AnyMove = getattr(owner, 'move', owner)
    return found


def transaction(
    method: Callable[typing.Concatenate[Owner, sa.Connection, Args], T],
) -> Callable[typing.Concatenate[Owner, Args], T]:
    """Run a method (self, connection, ...) of a saga or a part as a transaction of its cell."""

    @functools.wraps(method)
    def run(self: Owner, /, *args: Args.args, **kwargs: Args.kwargs) -> T:
        bound: Callable[typing.Concatenate[sa.Connection, Args], T] = method.__get__(self)
        return _saga(self).write(bound, *args, **kwargs)

    return run
