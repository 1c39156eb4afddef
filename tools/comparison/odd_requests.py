"""Odd values in each place of a request, which the samples of a file may not have.

Our schemas and nova's must judge them alike. A value is tried at the newest microversion that
has its place; the place of an item of a list is that of the list.
"""

import copy
import json

from nova_lite.api import microversion
from nova_lite.api import schema
from tests.fixtures import request_samples

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
_VALUES = ['y', None, 1, 1.5, True, {}, [], 'c' * 256]
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
# A base longer than that is one of the samples of lengths.
LONGEST = 1500


def bodies(body, operation, minors):
    """Yield (minor version, field, body, whether we accept it). body: the file's Use"""
    tried = set()
    for minor in reversed(minors):
        compiled = operation.body.at(microversion.Version(2, minor))
        for base in body.accepted(minor):
            if len(json.dumps(base)) > LONGEST:
                continue
            new = {_place(path) for path in _paths(base)} - tried
            for path, value in _variants(base, new):
                yield minor, _place(path), value, _accepts(compiled.check, value)
            tried |= new


def queries(query, operation, minors):
    """Yield (minor version, parameter, query, whether we accept it). query: the file's"""
    for minor in {minors[0], minors[-1]}:
        compiled = operation.query.at(microversion.Version(2, minor))
        for name in [*query.names(minor), *query.others(minor), '_x']:
            for values in [*([text] for text in TEXTS), ['x', 'x'], ['1', 'x'], ['x', '1']]:
                found = {name: values}
                yield minor, name, found, _accepts(compiled.take, found)


def minors(operation, known, theirs):
    """Return the minor versions with a change here, in the file or in nova."""
    return request_samples.minors(operation, {*known.edges(), *theirs})


def _accepts(check, value):
    try:
        check(copy.deepcopy(value))
    except schema.InvalidInput:
        return False
    return True


def _place(path):
    return '.'.join(key for key in path if isinstance(key, str))


def _paths(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))


def _variants(base, places):
    """Yield (path, body): with odd values, without a key and with one more."""
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


def _at(value, path):
    for key in path:
        value = value[key]
    return value


def _with(base, path, value):
    if not path:
        return value
    found = copy.deepcopy(base)
    _at(found, path[:-1])[path[-1]] = value
    return found


def _without(base, path):
    found = copy.deepcopy(base)
    del _at(found, path[:-1])[path[-1]]
    return found
