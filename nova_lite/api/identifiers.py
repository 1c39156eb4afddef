"""Ids in paths, which are text: numbers and uuids, checked."""

from nova_lite import exception
from nova_lite.api import formats

LARGEST = 2**31 - 1


def number(text: str, name: str = 'id') -> int:
    """Return the whole number in `text`. Raise Invalid.

    One too large for any table is cut to the largest, which nothing has.
    """
    if not (text.isascii() and text.isdigit()):
        raise exception.Invalid(f'{name} must be an integer')
    return min(int(text), LARGEST) if len(text) <= 20 else LARGEST


def short(text: str, name: str) -> str:
    """Return `text` if a column of 255 characters holds it. Raise Invalid."""
    if len(text) > 255:
        raise exception.Invalid(f'{name} has {len(text)} characters, more than 255.')
    return text


def uuid(text: str) -> str:
    """Return `text` if it is a UUID. Raise Invalid."""
    if not formats.is_uuid(text):
        raise exception.Invalid(f'Invalid uuid {text}')
    return text
