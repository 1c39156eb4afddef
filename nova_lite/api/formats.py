"""String formats that schemas may name with `format`.

jsonschema asks a check only for strings; a check answers True or False.
"""

import base64
import binascii
from collections.abc import Callable
import ipaddress
import re
import typing
import unicodedata

import jsonschema
from oslo_utils import timeutils
from oslo_utils import uuidutils

from nova_lite.db import patterns

# A text that may be the number of an integer column.
INT32_MOST = 0x7FFFFFFF
CHECKER = jsonschema.FormatChecker(formats=())
# The last character that nova takes for printable.
LAST = '\ufffe'
UUID = re.compile(r'[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}', re.IGNORECASE)


# Whether a text has a format.
Check: typing.TypeAlias = Callable[[str], bool]


def _check(name: str) -> Callable[[Check], Check]:
    def register(function: Check) -> Check:
        def check(value: object) -> bool:
            return not isinstance(value, str) or function(value)

        CHECKER.checks(name)(check)
        return function

    return register


def is_uuid(text: str) -> bool:
    """Return whether a text is a UUID, with hyphens or without."""
    return bool(UUID.fullmatch(text))


@_check('uuid')
def is_uuid_like(text: str) -> bool:
    """Return whether a text is a UUID as nova's schemas accept them, also in braces."""
    return uuidutils.is_uuid_like(text)


@_check('int32')
def is_int32(text: str) -> bool:
    """Return whether digits are a number that an integer column can hold."""
    try:
        return abs(int(text)) <= INT32_MOST
    except ValueError:
        return False


@_check('ipv4')
def is_ipv4(text: str) -> bool:
    """Return a dotted quad."""
    return _is_address(ipaddress.IPv4Address, text)


@_check('ipv6')
def is_ipv6(text: str) -> bool:
    """Return an IPv6 address without a zone."""
    return '%' not in text and _is_address(ipaddress.IPv6Address, text)


def shortest_ipv6(text: str | None) -> str | None:
    """Return an IPv6 address in its shortest form, which fits any column; None for None."""
    return None if text is None else str(ipaddress.IPv6Address(text))


@_check('ip')
def is_ip(text: str) -> bool:
    """Return an address of either family."""
    return is_ipv4(text) or is_ipv6(text)


def _is_address(kind: Callable[[str], object], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


@_check('base64')
def is_base64(text: str) -> bool:
    """Return whether a text is base64, without regard to characters that it does not have."""
    try:
        base64.b64decode(text.encode('ascii'))
    except (binascii.Error, UnicodeEncodeError):
        return False
    return True


@_check('date-time')
def is_date_time(text: str) -> bool:
    """Return an ISO 8601 time that is one in UTC too."""
    try:
        timeutils.normalize_time(timeutils.parse_isotime(text))
    except (ValueError, OverflowError):
        return False
    return True


@_check('printable')
def is_printable(text: str) -> bool:
    """Return whether a text has no control characters, and no separators but blanks of any width.

    Characters of further planes, such as pictographs, are not printable to nova, which cannot
    store them in MySQL. A line break may end the text, as in nova.
    """
    return not any(_is_control(char) for char in text.removesuffix('\n'))


@_check('name')
def is_name(text: str) -> bool:
    """Return whether a text is printable, not empty, and has no blanks at either end.

    A line break may end it, as in nova.
    """
    found = text.removesuffix('\n')
    return bool(found) and found == found.strip() and is_printable(found)


@_check('name_to_strip')
def is_name_to_strip(text: str) -> bool:
    """Return whether a text is printable and has more than blanks, at its ends or alone."""
    return bool(text.strip()) and is_printable(text)


def _is_control(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] == 'C' or category in ('Zl', 'Zp') or char > LAST


@_check('image_ref')
def is_image_ref(text: str) -> bool:
    """Return the uuid of an image, or nothing."""
    return text == '' or is_uuid_like(text)


@_check('regex')
def is_regex(text: str) -> bool:
    """Return a regular expression that can be matched in linear time."""
    try:
        patterns.compiled(text)
    except patterns.BadPattern:
        return False
    return True
