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
import dataclasses
import pathlib
import re

import yaml

from nova_lite.api import microversion

PATH = pathlib.Path(__file__).parents[2] / 'doc' / 'source' / 'reference' / 'nova-operations.yaml'
GONE = 'gone'
OFFERED, OUTSIDE, NOT_OFFERED = 'offered', 'outside the registry', 'not offered'
PLACEHOLDER = re.compile(r'\{[^}]*\}')


@dataclasses.dataclass(frozen=True)
class Operation:
    """One of Nova's. since, until: microversions, None for both where it answers 410."""

    method: str
    path: str
    action: str | None
    since: microversion.Version | None
    until: microversion.Version | None

    @property
    def is_gone(self):
        return self.since is None

    @property
    def versions(self):
        """Return the microversions as the file has them."""
        if self.is_gone:
            return GONE
        return f'{self.since}–{"" if self.until == microversion.MAXIMUM else self.until}'

    def __str__(self):
        return f'{self.method} {self.path}' + (f' ({self.action})' if self.action else '')


@dataclasses.dataclass(frozen=True)
class Known:
    """nova: its version. operations: in the order of the file.

    outside, missing, added, unproven: {name of an operation: reason}; `added` has what Nova
        lacks, `unproven` what no client has used with success
    """

    nova: str
    operations: tuple
    outside: dict
    missing: dict
    added: dict
    unproven: dict

    def state(self, each):
        """Return OFFERED, OUTSIDE or NOT_OFFERED."""
        name = str(each)
        return NOT_OFFERED if name in self.missing else OUTSIDE if name in self.outside else OFFERED


def load(text=None):
    """Return the Known of a file's text; default: of the file. Raises ValueError."""
    content = yaml.safe_load(PATH.read_text() if text is None else text)
    found = tuple(
        _operation(path, words, versions)
        for path, operations in content['operations'].items()
        for words, versions in operations.items()
    )
    names = {str(each) for each in found}
    outside, missing = _reasons(content['outside_registry']), _reasons(content['not_offered'])
    unproven = _reasons(content.get('unproven', ()))
    if unknown := (outside.keys() | missing.keys() | unproven.keys()) - names:
        raise ValueError(f'These are not operations of Nova: {sorted(unknown)}')
    added = _reasons(content['added'])
    return Known(str(content['nova']), found, outside, missing, added, unproven)


def _operation(path, words, versions):
    method, _, action = words.partition(' ')
    if versions == GONE:
        return Operation(method, path, action or None, None, None)
    since, _, until = versions.partition('-')
    last = microversion.parse(until) if until else microversion.MAXIMUM
    return Operation(method, path, action or None, microversion.parse(since), last)


def _reasons(groups):
    found = {}
    for group in groups:
        if not group['reason'].strip():
            raise ValueError(f'No reason is given for {group["operations"]}')
        found.update(dict.fromkeys(group['operations'], ' '.join(group['reason'].split())))
    return found


def differences(known, registry):
    """Return a line for each way in which the registry is not as the file says.

    registry: operations as `operation.load_all` returns them
    """
    ours = collections.defaultdict(list)
    for each in registry:
        ours[key(each)].append(each)
    lines, matched = [], set()
    for each in known.operations:
        found, used = _of(each, ours)
        matched.update(used)
        lines += _difference(each, found, known.state(each) == OFFERED)
    for name, operations in ours.items():
        if name not in matched and str(operations[0]) not in known.added:
            lines.append(f'{operations[0]} is offered; Nova has no such operation')
    return lines


def key(each):
    """Return what identifies an operation, ours or Nova's, whatever its parameters are called."""
    return each.method, PLACEHOLDER.sub('{}', each.path), each.action


def _of(each, ours):
    """Return our operations that answer one of Nova's, and their keys."""
    keys = [key(each)]
    if each.is_gone and each.action is not None:
        keys.append((*key(each)[:2], None))  # one refuses all actions of a path
    used = [one for one in keys if one in ours]
    return [operation for one in used for operation in ours[one]], used


def _difference(each, found, is_wanted):
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


def _joined(spans):
    """Return spans of microversions, with those joined that follow each other."""
    joined = []
    for since, until in sorted(spans):
        if joined and joined[-1][1]._replace(minor=joined[-1][1].minor + 1) == since:
            joined[-1] = (joined[-1][0], until)
        else:
            joined.append((since, until))
    return joined
