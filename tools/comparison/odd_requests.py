"""Odd values in each place of a request, which may be missing in the samples of a file.

The schemas of nova_lite and nova must judge these values alike. A value is tried at the newest
microversion that has its place; the place of an item of a list is the place of the list.
"""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import copy
import json
import typing

from nova_lite.api import microversion
from nova_lite.api import operation as operations
from nova_lite.api import schema
from tests.fixtures import request_samples

# Minor version, field or parameter, body or query, whether nova_lite accepts it.
Sample: typing.TypeAlias = tuple[int, str, typing.Any, bool]
Path: typing.TypeAlias = tuple[str | int, ...]

UNKNOWN = 'unknown_name'
UUID = 'd7a0f0a1-5f3e-4a39-9f8a-2d3d1c6d2f11'
_UUIDS = [UUID, UUID.upper(), UUID.replace('-', ''), f'{{{UUID}}}', f'urn:uuid:{UUID}', f'{UUID} ']
_NUMBERS = [0, 1, -1, 2, 1.5, 1.0, -0.5, 1e3, 2**31 - 1, 2**31, 2**63, -(2**31), 10**30]
_DIGITS = [
    *('1', '01', '-1', '-01', '+1', '1.0', '1.5', '0', '00', '1e3', '٣', '0x1', ' 1', '1 ', '10'),
    *('999999999', '1234567890', str(2**31 - 1), str(2**31), str(2**63), '9' * 30),
]
_WORDS = [
    *('', ' ', '  ', 'x', ' x', 'x ', 'ü', 'x\ty', 'a,b', 'a/b', 'a.b', 'a_b', '-a'),
    *('x\n', 'x\r\n', 'x\n\n', '\n'),
    *('a-', 'AUTO', 'auto', 'none', 'soft', 'Soft', 'zone:host', 'zone:host:node', '/', 'eA==\n'),
    *('eA==', 'eA', 'e A==', '!', '====', 'é'),
    *('x' * size for size in (36, 37, 60, 61, 64, 65, 255, 256, 257)),
]
_BOOLEANS = ['TRUE', 'tRue', 'true', 'True', 'yes', 'y', 't', 'f', 'off', 'n', 'no', 'oFF']
_ADDRESSES = [
    *('::', '::1', '1.2.3.4', '01.2.3.4', '1.2.3', '::ffff:1.2.3.4', 'fe80::1%eth0'),
    *('1.2.3.4/24', '2001:DB8::1', '/24', '/33', '/129'),
]
_LISTS = [[], [None], ['x'], [1], [{}], ['x', 'x'], [UUID], [UUID, UUID]]
_KEYS = ['', 'a/b', 'ü', 'x' * 256, f'{"x" * 255}\n', 'a b', 'a\n', 'a\n\n', ' a ', '1']
_VALUES: list[object] = ['y', None, 1, 1.5, True, {}, [], 'c' * 256]
_OBJECTS = [{}, *({key: 'y'} for key in _KEYS), *({'x': value} for value in _VALUES)]
_TEXTS = [*_WORDS, *_DIGITS, *_BOOLEANS, *_ADDRESSES, *_UUIDS]
VALUES = [None, True, False, *_NUMBERS, *_TEXTS, *_LISTS, *_OBJECTS]
_TIMES = [
    *('2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01 00:00:00', '2026-01-01T00:00:00+01:00'),
    *('2026-01-01T00:00:00.123456', '20260101T000000Z', '2026-W01-1', '00:00', 'T'),
]
_PATTERNS = ['(', ')', '[', '*', '\\', '^', '(?P<', 'a.*']
_NAMES = ['asc', 'desc', 'ASC', 'id', 'uuid', 'locked', 'created_at']
# Nova's pattern of a number takes a line break alone, and nova refuses it then.
TEXTS = [text for text in (*_TEXTS, *_TIMES, *_PATTERNS, *_NAMES) if text != '\n']
# A longer base is a sample of the limits of lengths.
LONGEST = 1500


def bodies(
    body: typing.Any, operation: operations.Operation, minors: Sequence[int]
) -> Iterator[Sample]:
    """Yield a Sample for each odd value in a body. body: Use of the body in the file"""
    tried: set[str] = set()
    for minor in reversed(minors):
        compiled = operation.body.at(microversion.Version(2, minor)) if operation.body else None
        assert compiled is not None
        for base in body.accepted(minor):
            if len(json.dumps(base)) > LONGEST:
                continue
            new = {_place(path) for path in _paths(base)} - tried
            for path, value in _variants(base, new):
                yield minor, _place(path), value, _accepts(compiled.check, value)
            tried |= new


def queries(
    query: typing.Any, operation: operations.Operation, minors: Sequence[int]
) -> Iterator[Sample]:
    """Yield a Sample for each odd parameter. query: the parameters in the file"""
    for minor in {minors[0], minors[-1]}:
        compiled = operation.query.at(microversion.Version(2, minor))
        assert compiled is not None
        for name in [*query.names(minor), *query.others(minor), '_x']:
            for values in [*([text] for text in TEXTS), ['x', 'x'], ['1', 'x'], ['x', '1']]:
                found = {name: values}
                yield minor, name, found, _accepts(compiled.take, found)


def minors(operation: operations.Operation, known: typing.Any, theirs: Iterable[int]) -> list[int]:
    """Return the minor versions with a change in nova_lite, in the file or in nova.

    known: kinds or parameters in the file; theirs: minor versions with a change in nova
    """
    found: list[int] = request_samples.minors(operation, {*known.edges(), *theirs})
    return found


def _accepts(check: Callable[[typing.Any], object], value: object) -> bool:
    try:
        check(copy.deepcopy(value))
    except schema.InvalidInput:
        return False
    return True


def _place(path: Path) -> str:
    return '.'.join(key for key in path if isinstance(key, str))


def _paths(value: object, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))


def _variants(base: object, places: Container[str]) -> Iterator[tuple[Path, typing.Any]]:
    """Yield (path, body): with odd values, without a key, and with a further key."""
    for path in _paths(base):
        if _place(path) not in places:
            continue
        for odd in VALUES:
            yield path, _with(base, path, odd)
        if path:
            yield path, _without(base, path)
        if isinstance(_at(base, path), dict):
            more = (*path, UNKNOWN)
            yield more, _with(base, more, 'x')


def _at(value: typing.Any, path: Path) -> typing.Any:
    for key in path:
        value = value[key]
    return value


def _with(base: object, path: Path, value: object) -> typing.Any:
    if not path:
        return value
    found = copy.deepcopy(base)
    _at(found, path[:-1])[path[-1]] = value
    return found


def _without(base: object, path: Path) -> typing.Any:
    found = copy.deepcopy(base)
    del _at(found, path[:-1])[path[-1]]
    return found
