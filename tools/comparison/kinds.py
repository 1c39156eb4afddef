"""Kinds of values that nova refuses, for explanations of differences.

An explanation in nova-requests.yaml is 'STATUS KIND' of a field: it holds for samples that have
a value of this kind in the field, and for no others.
"""

from collections.abc import Callable
from collections.abc import Mapping
import re
import typing

ABSENT = object()
_LONGER = re.compile(r'longer_than_(\d+)')


def values(sample: Mapping[str, typing.Any]) -> list[object]:
    """Return the values of a sample in its field: several in a list of objects, or ABSENT."""
    if sample['kind'] == 'query':
        return list(sample['value'].get(sample['field']) or [ABSENT])
    found: list[object] = [sample['value']]
    for name in filter(None, sample['field'].split('.')):
        items = [item for each in found for item in (each if isinstance(each, list) else [each])]
        found = [item.get(name, ABSENT) if isinstance(item, dict) else ABSENT for item in items]
    return found


def is_of(kind: str, value: object) -> bool:
    """Return whether a value is of a kind. Raise KeyError if there is no such kind."""
    longer = _LONGER.fullmatch(kind)
    if longer:
        return isinstance(value, str) and len(value) > int(longer[1])
    return _KINDS[kind](value)


def _is_no_pattern(value: str) -> bool:
    try:
        re.compile(value)
    except re.error:
        return True
    return False


_KINDS: dict[str, Callable[[object], bool]] = {
    'absent': lambda value: value is ABSENT,
    # A list with an object of no names.
    'empty_item': lambda value: isinstance(value, list) and {} in value,
    'key_longer_than_255': lambda value: (
        isinstance(value, dict) and any(len(key) > 255 for key in value)
    ),
    'line_break': lambda value: value == '\n',
    'no_pattern': lambda value: isinstance(value, str) and _is_no_pattern(value),
    'present': lambda value: value is not ABSENT,
    'zeros': lambda value: isinstance(value, str) and value != '' and not value.strip('0'),
}
