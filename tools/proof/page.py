"""The numbers and the tables of the coverage, from Nova's operations and what is proven."""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from nova_lite.api import microversion
from nova_lite.api import operation
from tools.proof import nova
from tools.proof import proven

# The cells of a line of a table.
Line: typing.TypeAlias = Sequence[object]

NEWEST = 'that exist at the newest microversion'
ENDED = 'that end at an older one'
GONE = 'that answer 410 at all of them'
KINDS = (NEWEST, ENDED, GONE)


@dataclasses.dataclass(frozen=True)
class Row:
    """An operation of Nova. state: as of nova.Known; clients: {name: [version, ...]}."""

    operation: nova.Operation
    state: str
    reason: str
    clients: Mapping[str, Sequence[microversion.Version]]

    @property
    def kind(self) -> str:
        if self.operation.is_gone:
            return GONE
        return NEWEST if self.operation.until == microversion.MAXIMUM else ENDED

    @property
    def is_offered(self) -> bool:
        return self.state != nova.NOT_OFFERED


def rows(known: nova.Known | None = None, found: proven.Proven | None = None) -> list[Row]:
    """Return a Row for each operation of Nova. Default: of the files and the registry."""
    known = nova.load() if known is None else known
    # Parameters have other names in the paths of nova_lite than in those of Nova.
    keys = {str(each): nova.key(each) for each in known.operations}
    keys |= {str(each): nova.key(each) for each in operation.load_all()}
    by_key: dict[nova.Key, dict[str, set[microversion.Version]]] = collections.defaultdict(
        lambda: collections.defaultdict(set)
    )
    for name, clients in (proven.load() if found is None else found).items():
        for client, versions in clients.items():
            by_key[keys[name]][client].update(versions)
    return [_row(each, known, by_key) for each in known.operations]


def _row(each: nova.Operation, known: nova.Known, by_key: Mapping[nova.Key, proven.Clients]) -> Row:
    name = str(each)
    reasons = (known.missing, known.outside, known.unproven)
    reason = next((each[name] for each in reasons if name in each), '')
    found = by_key.get(nova.key(each), {})
    clients = {client: sorted(versions) for client, versions in sorted(found.items())}
    return Row(each, known.state(each), reason, clients)


def counts(found: Iterable[Row]) -> dict[str, tuple[int, int, int]]:
    """Return {kind: (operations, offered, proven)} of rows."""
    counted: dict[str, tuple[int, int, int]] = {}
    for kind in KINDS:
        those = [row for row in found if row.kind == kind]
        counted[kind] = (
            len(those),
            sum(row.is_offered for row in those),
            sum(bool(row.clients) for row in those),
        )
    return counted


def by_client(found: Iterable[Row]) -> dict[str, int]:
    """Return {client: number of operations} of rows, the largest number first."""
    counted = collections.Counter(client for row in found for client in row.clients)
    return dict(counted.most_common())


def offer(found: Iterable[Row]) -> str:
    """Return the sentence about the offered operations on the first page of the README."""
    those = [row for row in found if row.kind != GONE]
    offered = [row for row in those if row.is_offered]
    used = sum(bool(row.clients) for row in offered)
    return (
        f'nova_lite offers {len(offered)} of the {len(those)} operations of Nova 34 at the same '
        f'microversions, and unmodified clients have used {used} of them with success in the tests.'
    )


def limits(found: Iterable[Row]) -> str:
    """Return the sentence of the README about the operations that are not offered."""
    missing = [row.operation for row in found if not row.is_offered]
    if not missing:
        return 'All operations of Nova 34 are offered.'
    names = dict.fromkeys(_resource(each.path) for each in missing)
    listed = ', '.join(f'``{name}``' for name in names)
    return f'{len(missing)} operations of Nova 34 are not offered: those of {listed}.'


def _resource(path: str) -> str:
    """Return the last part of a path that names a resource."""
    parts = path.strip('/').split('/')
    return [part for part in parts if part[:1] != '{' and part != 'action'][-1]


def table(header: Line, lines: Iterable[Line], widths: str | None = None) -> str:
    """Return a table as reStructuredText."""
    made = ['.. list-table::', '   :header-rows: 1']
    if widths:
        made.append(f'   :widths: {widths}')
    made.append('')
    for line in (header, *lines):
        for position, text in enumerate(line):
            made.append(f'   {"*" if position == 0 else " "} - {text}'.rstrip())
    return '\n'.join([*made, ''])


def summary(found: Sequence[Row]) -> str:
    """Return the tables of the counts."""
    counted = counts(found)
    lines: list[Line] = [(f'Operations {kind}', *numbers) for kind, numbers in counted.items()]
    in_use = [numbers for kind, numbers in counted.items() if kind != GONE]
    # The numbers of the README.
    lines.insert(len(in_use), ('**Both**', *map(sum, zip(*in_use, strict=True))))
    lines.append(('**All**', *map(sum, zip(*counted.values(), strict=True))))
    kinds = table(('Operations of Nova', 'In Nova', 'Offered', 'Proven'), lines, '55 15 15 15')
    clients = table(('Client', 'Operations proven'), by_client(found).items(), '55 45')
    return f'{kinds}\n{clients}'


def details(found: Iterable[Row]) -> str:
    """Return the table of all operations."""
    header = ('Operation', 'Microversions in Nova', 'Here', 'Proven by')
    return table(header, map(_texts, found), '40 14 16 30')


def _texts(row: Row) -> Line:
    proofs = '; '.join(f'{name} {spans(versions)}' for name, versions in row.clients.items())
    here = '410' if row.operation.is_gone else 'offered'
    if not row.is_offered:
        here, proofs = f'**not offered**: {row.reason}', '–'
    elif not proofs and row.reason:
        proofs = f'not proven: {row.reason}'
    return f'``{row.operation}``', row.operation.versions, here, proofs or 'not proven'


def spans(versions: Iterable[microversion.Version]) -> str:
    """Return microversions as text. Consecutive microversions are shown as a span."""
    joined: list[tuple[microversion.Version, microversion.Version]] = []
    for version in versions:
        if joined and joined[-1][1].minor + 1 == version.minor:
            joined[-1] = (joined[-1][0], version)
        else:
            joined.append((version, version))
    return ', '.join(str(a) if a == b else f'{a}–{b}' for a, b in joined)
