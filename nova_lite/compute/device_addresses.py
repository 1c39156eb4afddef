"""Addresses of PCI devices in [pci]device_spec, in nova's format.

A text has the form [[[DOMAIN:]BUS:]SLOT][.FUNCTION] in hex digits; parts that are missing, empty
or "*" fit all devices. An object has regular expressions, which fit the beginnings of the parts.
"""

from collections.abc import Iterable
import dataclasses
import re
import typing

from nova_lite import exception
from nova_lite.virt import pci

ANY = '*'
# The parts of an address: their greatest numbers and their digits.
_PARTS = {'domain': (0xFFFF, 4), 'bus': (0xFF, 2), 'slot': (0x1F, 2), 'func': (0x7, 1)}
_KEYS = 'domain', 'bus', 'slot', 'function'
_HEX = '[0-9a-fA-F]+'


class PciConfigInvalidSpec(exception.Invalid):
    msg = 'Invalid [pci]device_spec config: %(reason)s'


@dataclasses.dataclass(frozen=True)
class Addresses:
    """A set of addresses.

    expressions: a regular expression for each part, which fits the beginning of the part
    is_exact: whether it is one address. That of a physical function means its virtual ones, too
    """

    expressions: tuple[re.Pattern[str], ...]
    is_exact: bool = False

    def fits(self, device: pci.Device) -> bool:
        return self._has(device.address) or (
            self.is_exact and device.parent is not None and self._has(device.parent)
        )

    def _has(self, address: str) -> bool:
        parts = re.split('[:.]', address)
        return all(e.match(part) for e, part in zip(self.expressions, parts, strict=True))


def read(value: object) -> Addresses:
    """Return the addresses of an entry of device_spec. Raise PciConfigInvalidSpec.

    value: a text, an object of regular expressions, or None for all addresses
    """
    if isinstance(value, dict):
        return _of_expressions(value)
    if not (value is None or isinstance(value, str)):
        raise _malformed(value)
    front, _point, function = (value or '').partition('.')
    front_parts = front.split(':')
    if len(front_parts) > len(_PARTS) - 1:
        raise _malformed(value)
    missing = [''] * (len(_PARTS) - 1 - len(front_parts))
    return _of_numbers([*missing, *front_parts, function])


def number(name: str, text: str, most: int) -> int:
    """Return the number of hex digits in an entry. Raise PciConfigInvalidSpec.

    most: the greatest number allowed
    """
    try:
        found = int(text, 16)
    except ValueError:
        found = -1
    if found < 0:
        reason = f"property {name} ('{text}') does not parse as a hex number."
        raise PciConfigInvalidSpec(reason=reason)
    if found > most:
        reason = f'property {name} ({text}) is greater than the maximum allowable value ({most:X}).'
        raise PciConfigInvalidSpec(reason=reason)
    return found


def _of_numbers(texts: Iterable[str]) -> Addresses:
    texts = [text.strip() for text in texts]
    expressions = [
        '' if text in {'', ANY} else rf'{number(name, text, most):0{digits}x}\Z'
        for text, (name, (most, digits)) in zip(texts, _PARTS.items(), strict=True)
    ]
    return Addresses(tuple(map(re.compile, expressions)), is_exact=all(expressions))


def _of_expressions(value: dict[str, typing.Any]) -> Addresses:
    if value.keys() - {*_KEYS}:
        raise PciConfigInvalidSpec(reason=f'an address has the parts {", ".join(_KEYS)}')
    given = [value.get(key, '.*') for key in _KEYS]
    if not all(isinstance(each, str) for each in given):
        raise _malformed(value)
    if all(re.fullmatch(_HEX, each) for each in given):
        return _of_numbers(given)
    try:
        return Addresses(tuple(map(re.compile, given)))
    except (re.error, OverflowError, RecursionError):
        raise _malformed(value) from None


def _malformed(value: object) -> PciConfigInvalidSpec:
    return PciConfigInvalidSpec(reason=f'The PCI address {value} has an incorrect format.')
