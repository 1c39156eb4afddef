"""Nova's operations, as a data file lists them, and how the registry differs from them.

The file names each operation by path, method and action, with its first and last
microversion, or `gone` where Nova answers 410 at all of them::

    nova: 34.0.0
    operations:
      /servers/{server_id}/action:
        POST os-start: 2.1-
        POST resetNetwork: gone
    outside_registry:
    - reason: ...
      operations: [GET /]
    not_offered:
    - reason: ...
      operations: [...]
    added: []
    unproven:
    - reason: ...
      operations: [...]
"""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import pathlib
import re
import typing

import yaml

from nova_lite.api import microversion
from nova_lite.api import operation as operations

PATH = pathlib.Path(__file__).parents[2] / 'doc' / 'source' / 'reference' / 'nova-operations.yaml'
GONE = 'gone'
OFFERED, OUTSIDE, NOT_OFFERED = 'offered', 'outside the registry', 'not offered'
# Method, path with {} for each parameter, action.
Key: typing.TypeAlias = tuple[str, str, str | None]
Span: typing.TypeAlias = tuple[microversion.Version, microversion.Version]
PLACEHOLDER = re.compile(r'\{[^}]*\}')


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation of Nova. since, until: microversions; both None if it answers 410"""

    method: str
    path: str
    action: str | None
    since: microversion.Version | None
    until: microversion.Version | None

    @property
    def is_gone(self) -> bool:
        return self.since is None

    @property
    def versions(self) -> str:
        """Return the microversions as the file has them."""
        if self.is_gone:
            return GONE
        return f'{self.since}–{"" if self.until == microversion.MAXIMUM else self.until}'

    def __str__(self) -> str:
        return f'{self.method} {self.path}' + (f' ({self.action})' if self.action else '')


@dataclasses.dataclass(frozen=True)
class Known:
    """nova: its version. operations: in the order of the file.

    outside, missing, added, unproven: {name of an operation: reason}; `added` has operations that
        Nova lacks, `unproven` operations that no client has used with success
    """

    nova: str
    operations: tuple[Operation, ...]
    outside: dict[str, str]
    missing: dict[str, str]
    added: dict[str, str]
    unproven: dict[str, str]

    def state(self, each: Operation) -> str:
        """Return OFFERED, OUTSIDE or NOT_OFFERED."""
        name = str(each)
        return NOT_OFFERED if name in self.missing else OUTSIDE if name in self.outside else OFFERED


def load(text: str | None = None) -> Known:
    """Return the Known of a text. Default: of the data file. Raise ValueError."""
    content = yaml.safe_load(PATH.read_text() if text is None else text)
    found = tuple(
        _operation(path, words, versions)
        for path, words_of_path in content['operations'].items()
        for words, versions in words_of_path.items()
    )
    names = {str(each) for each in found}
    outside, missing = _reasons(content['outside_registry']), _reasons(content['not_offered'])
    unproven = _reasons(content.get('unproven', ()))
    if unknown := (outside.keys() | missing.keys() | unproven.keys()) - names:
        raise ValueError(f'These are not operations of Nova: {sorted(unknown)}')
    added = _reasons(content['added'])
    return Known(str(content['nova']), found, outside, missing, added, unproven)


def _operation(path: str, words: str, versions: str) -> Operation:
    method, _, action = words.partition(' ')
    if versions == GONE:
        return Operation(method, path, action or None, None, None)
    since, _, until = versions.partition('-')
    last = microversion.parse(until) if until else microversion.MAXIMUM
    return Operation(method, path, action or None, microversion.parse(since), last)


def _reasons(groups: Iterable[Mapping[str, typing.Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for group in groups:
        if not group['reason'].strip():
            raise ValueError(f'No reason is given for {group["operations"]}')
        found.update(dict.fromkeys(group['operations'], ' '.join(group['reason'].split())))
    return found


def differences(known: Known, registry: Iterable[operations.Operation]) -> list[str]:
    """Return a line for each way in which the registry differs from the file.

    registry: operations as `operation.load_all` returns them
    """
    ours: dict[Key, list[operations.Operation]] = collections.defaultdict(list)
    for offered in registry:
        ours[key(offered)].append(offered)
    lines: list[str] = []
    matched: set[Key] = set()
    for each in known.operations:
        found, used = _of(each, ours)
        matched.update(used)
        lines += _difference(each, found, known.state(each) == OFFERED)
    added = {PLACEHOLDER.sub('{}', name) for name in known.added}
    for name, same in ours.items():
        if name not in matched and PLACEHOLDER.sub('{}', str(same[0])) not in added:
            lines.append(f'{same[0]} is offered; Nova has no such operation')
    return lines


def key(each: Operation | operations.Operation) -> Key:
    """Return the key of an operation of nova_lite or Nova. Names of parameters do not count."""
    return each.method, PLACEHOLDER.sub('{}', each.path), each.action


def _of(
    each: Operation, ours: Mapping[Key, list[operations.Operation]]
) -> tuple[list[operations.Operation], list[Key]]:
    """Return the operations of nova_lite that answer an operation of Nova, and their keys."""
    keys = [key(each)]
    if each.is_gone and each.action is not None:
        keys.append((*key(each)[:2], None))  # one refuses all actions of a path
    used = [one for one in keys if one in ours]
    return [operation for one in used for operation in ours[one]], used


def _difference(each: Operation, found: list[operations.Operation], is_wanted: bool) -> list[str]:
    if not is_wanted:
        return [f'{each} is offered, but listed as an exception'] if found else []
    if not found:
        return [f'{each} is not offered']
    gone = {operation.faults == {410} for operation in found}
    if gone != {each.is_gone}:
        return [f'{each} is {"not " if each.is_gone else ""}answered with 410']
    spans = _joined((one.since, one.until) for one in found)
    wanted = [(microversion.MINIMUM if each.is_gone else each.since, each.until or spans[-1][1])]
    if spans != wanted:
        shown = ', '.join(f'{since}–{until}' for since, until in spans)
        return [f'{each} is offered at {shown}, by Nova at {each.versions}']
    return []


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans of microversions. Consecutive spans are joined."""
    joined: list[Span] = []
    for since, until in sorted(spans):
        if joined and joined[-1][1]._replace(minor=joined[-1][1].minor + 1) == since:
            joined[-1] = (joined[-1][0], until)
        else:
            joined.append((since, until))
    return joined
