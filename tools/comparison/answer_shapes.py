"""The shape of an answer, and how the answers and the ends of two clouds differ; pure functions."""

from collections.abc import Iterator
from collections.abc import Mapping
import typing

ABSENT = 'absent'
# What a client reads apart from the body.
HEADERS = ('Location', 'Retry-After')
Shape: typing.TypeAlias = dict[str, str]
# (field, what nova has, what we have).
Difference: typing.TypeAlias = tuple[str, str, str]


def of(value: object, place: str = '') -> Shape:
    """Return {place of each part: its type or types}; the items of a list share a place."""
    found: dict[str, set[str]] = {}
    for where, kind in _parts(value, place):
        found.setdefault(where, set()).add(kind)
    return {where: '|'.join(sorted(kinds)) for where, kinds in sorted(found.items())}


def _parts(value: object, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield place, 'object'
        for key, inner in value.items():
            yield from _parts(inner, f'{place}.{key}' if place else str(key))
    elif isinstance(value, list):
        yield place, 'list' if value else 'empty list'
        for inner in value:
            yield from _parts(inner, f'{place}[]')
    else:
        yield place, _kind(value)


def _kind(value: object) -> str:
    if value is None:
        return 'null'
    if isinstance(value, bool):
        return 'boolean'
    if isinstance(value, int | float):
        return 'number'
    return 'text' if value else 'empty text'


def differences(nova: Mapping[str, object], ours: Mapping[str, object]) -> list[Difference]:
    """Return the keys whose values differ; of several inside one that is absent, this one."""
    found: list[Difference] = []
    for key in sorted(nova.keys() | ours.keys()):
        theirs, here = str(nova.get(key, ABSENT)), str(ours.get(key, ABSENT))
        inside = any(_is_inside(key, outer) and ABSENT in both for outer, *both in found)
        if theirs != here and not inside:
            found.append((key, theirs, here))
    return found


def _is_inside(key: str, outer: str) -> bool:
    return key.startswith((f'{outer}.', f'{outer}['))


def of_answers(nova: 'Answer', ours: 'Answer') -> list[Difference]:
    """Return how two answers differ: in status, or else in the shape of their bodies."""
    if nova.status != ours.status:
        return [('status', str(nova.status), str(ours.status))]
    return differences(nova.shape, ours.shape)


def record(shown: typing.Any) -> dict[str, object]:
    """Return how a server is that an administrator is shown. None: it is gone"""
    if shown is None:
        return {'status': 'gone'}
    return {
        'status': shown['status'],
        'vm_state': shown['OS-EXT-STS:vm_state'],
        'task': shown['OS-EXT-STS:task_state'],
        'power': shown['OS-EXT-STS:power_state'],
        'host': bool(shown['OS-EXT-SRV-ATTR:host']),
        'fault': shown.get('fault', {}).get('code'),
        'locked': shown['locked'],
        'networks': sorted(shown['addresses']),
        'volumes': len(shown['os-extended-volumes:volumes_attached']),
        'name': shown['name'],
        'metadata': shown['metadata'],
        'tags': shown['tags'],
        'zone': bool(shown['OS-EXT-AZ:availability_zone']),
        'pinned': shown.get('pinned_availability_zone'),
        'launched': bool(shown['OS-SRV-USG:launched_at']),
        'terminated': bool(shown['OS-SRV-USG:terminated_at']),
    }


class Answer(typing.NamedTuple):
    """An answer of a cloud. shape: of the body and of HEADERS"""

    status: int
    shape: Shape
    text: str

    @property
    def accepted(self) -> bool:
        """Return whether the request was accepted."""
        return self.status < 400
