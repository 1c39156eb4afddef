"""Transactions that only read: they cost less than those that may write.

The `info` of its connection has it, since dialects begin and end transactions.
"""

from collections.abc import MutableMapping
import typing

_KEY = 'nova_lite_writes'

Info: typing.TypeAlias = MutableMapping[typing.Any, typing.Any]


def declare(info: Info, writes: bool) -> None:
    """Declare whether the next transaction on a connection writes."""
    info[_KEY] = writes


def forget(info: Info) -> None:
    """Remove the declaration: later transactions may write."""
    info.pop(_KEY, None)


def may(info: Info) -> bool:
    """Return whether a transaction may write, which is so unless it was declared."""
    found: bool = info.get(_KEY, True)
    return found
