"""The little language of flavor extra specs that are compared with a host's values.

Source: reference/nova/scheduling 6, "Operators of extra specs".
"""

import collections.abc
import operator
import typing

NUMERIC: dict[str, collections.abc.Callable[[float, float], bool]] = {
    '=': operator.ge,
    '==': operator.eq,
    '!=': operator.ne,
    '>=': operator.ge,
    '<=': operator.le,
}
TEXT: dict[str, collections.abc.Callable[[str, str], bool]] = {
    's==': operator.eq,
    's!=': operator.ne,
    's<': operator.lt,
    's<=': operator.le,
    's>': operator.gt,
    's>=': operator.ge,
}
OR, IN, ALL_IN = '<or>', '<in>', '<all-in>'


def matches(value: typing.Any, requirement: str) -> bool:
    """Return whether a host's `value` fulfils `requirement`, such as '>= 8' or '<or> a <or> b'.

    value: text, a number, a list or None; <in> and <all-in> look for their words anywhere in its
        text. Without an operator both must be the same text. If an operator needs a number and gets
        none, the result is False
    """
    words = requirement.split()
    name, wanted = (words[0], words[1:]) if words else (None, [])
    if name not in (OR, IN, ALL_IN) and name not in NUMERIC and name not in TEXT:
        return str(value) == requirement
    if value is None or not wanted:
        return False
    if name == OR:
        return str(value) in wanted[::2]
    if name in (IN, ALL_IN):
        searched = wanted if name == ALL_IN else wanted[:1]
        return all(word in str(value) for word in searched)
    if name in TEXT:
        return TEXT[name](str(value), wanted[0])
    return _compare(NUMERIC[name], value, wanted[0])


def _compare(
    function: collections.abc.Callable[[float, float], bool], value: typing.Any, wanted: str
) -> bool:
    try:
        return function(float(value), float(wanted))
    except (TypeError, ValueError):
        return False
