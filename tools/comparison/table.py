"""The table of a comparison: medians over rounds, and ratios."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import statistics
import typing

from tools.proof import page

# Figures of a scenario, as bench.results makes them.
Figures: typing.TypeAlias = dict[str, typing.Any]
# Figures by scenario, by side.
Round: typing.TypeAlias = Mapping[str, Mapping[str, Figures]]
Pick: typing.TypeAlias = Callable[[Figures], float]


class Results(typing.TypedDict):
    """The results of a comparison. about: its conditions"""

    about: dict[str, typing.Any]
    rounds: list[Round]


NOVA, OURS = 'nova', 'nova_lite'
BEGIN = '.. begin: written by tools/compare_with_nova.py'
END = '.. end: written by tools/compare_with_nova.py'
# Ends both marks if the table is of a kind of load.
LOAD = ' --load %s'


def cpu_ms(figures: Figures) -> float:
    """Return the CPU time of an operation, of all daemons."""
    seconds: float = figures['cpu_s_per_operation']
    return 1000 * seconds


def per_second(figures: Figures) -> float:
    """Return the number of operations in a second."""
    rate: float = figures['per_second']
    return rate


def p50_ms(what: str) -> Pick:
    """Return a function of figures that returns the median of the time `what`."""

    def pick(figures: Figures) -> float:
        median: float = figures['milliseconds'][what]['p50']
        return median

    return pick


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the table.

    pick: returns the number of the row from the figures of the scenario; goal: wanted ratio
    """

    text: str
    scenario: str
    pick: Pick
    goal: float
    in_readme: bool = False

    def ratio(self, nova: float, ours: float) -> float:
        """Return how many times better the number of nova_lite is."""
        return ours / nova if self.pick is per_second else nova / ours


ROWS = (
    Row('boot, 16 in flight: CPU ms', 'boot-16', cpu_ms, 15, True),
    Row('boot, 16 in flight: ACTIVE/s', 'boot-16', per_second, 18, True),
    Row('boot, one in flight: POST, ms', 'boot-1', p50_ms('POST'), 10),
    Row('boot, one in flight: to ACTIVE, ms', 'boot-1', p50_ms('to ACTIVE'), 12, True),
    Row('delete, 8 at a time: CPU ms', 'delete', cpu_ms, 15),
    Row('delete, 8 at a time: gone/s', 'delete', per_second, 15),
    Row('list of all in detail, one client: CPU ms', 'list-1', cpu_ms, 25),
    Row('list of all in detail, one client: ms', 'list-1', p50_ms('GET'), 22, True),
    Row('list of all in detail, 4 clients: requests/s', 'list-4', per_second, 22),
    Row('show, one client: ms', 'show-1', p50_ms('GET'), 14, True),
    Row('show, 4 clients: requests/s', 'show-4', per_second, 14),
    Row('resize and confirm: CPU ms', 'resize-1', cpu_ms, 13, True),
    Row('resize and confirm, 4 at a time: CPU ms', 'resize-4', cpu_ms, 13),
    Row('cold migrate and confirm: CPU ms', 'migrate', cpu_ms, 13),
    Row('live migrate to a checked host: CPU ms', 'live-migrate', cpu_ms, 10, True),
    Row(
        'live migrate to a checked host: to ACTIVE, ms',
        'live-migrate',
        p50_ms('to its status'),
        8,
    ),
    Row('cross-cell migrate and confirm: CPU ms', 'cross-cell', cpu_ms, 11, True),
    Row('cross-cell migrate and revert: CPU ms', 'cross-cell-revert', cpu_ms, 10),
)


def medians(rounds: Sequence[Round], row: Row) -> tuple[float, float] | None:
    """Return the medians of a row over all rounds, (nova's, ours); None without figures."""
    found: list[float] = []
    for side in (NOVA, OURS):
        measured = figures(rounds, row, side)
        if not measured:
            return None
        found.append(statistics.median(map(row.pick, measured)))
    nova, ours = found
    return nova, ours


def figures(rounds: Sequence[Round], row: Row, side: str) -> list[Figures]:
    """Return the figures of a row's scenario in all rounds with it. side: NOVA or OURS"""
    return [played[side][row.scenario] for played in rounds if row.scenario in played[side]]


def lines(rounds: Sequence[Round], rows: Iterable[Row] = ROWS) -> list[page.Line]:
    """Return (text, nova, nova_lite, ratio) of the rows that were measured."""
    made: list[page.Line] = []
    for row in rows:
        values = medians(rounds, row)
        if values is not None:
            ratio = f'{row.ratio(*values):.1f}'
            made.append((row.text, *map(_rounded, values), ratio))
    return made


def _rounded(value: float) -> str:
    return f'{value:.0f}' if value >= 10 else f'{value:.1f}'


def rst(results: Results, rows: Iterable[Row] = ROWS) -> str:
    """Return the table as reStructuredText, with the conditions under which it was measured."""
    header = ('', 'nova', 'nova_lite', 'times better')
    made = page.table(header, lines(results['rounds'], rows), '52 14 14 20')
    return f'{made}\n{conditions(results)}\n'


def readme(results: Results) -> str:
    """Return the short table."""
    return rst(results, [row for row in ROWS if row.in_readme])


def conditions(results: Results) -> str:
    """Return a paragraph: date, machine, versions, load."""
    about, rounds = results['about'], results['rounds']
    versions = ', '.join(f'{name} {number}' for name, number in about['versions'].items())
    sent = 'with' if about['notifications'] else 'without'
    loads = [
        figures['others']
        for played in rounds
        for side in played.values()
        for figures in side.values()
        if 'others' in figures
    ]
    return '\n'.join((
        f'{about["date"]}, {about["machine"]}, {_number_of(rounds)}.',
        f'{about["cells"]} cells of {about["hosts"]} hosts, {sent} notifications, polled every',
        f'{about["poll_s"]} s. Other work on the machine used {statistics.median(loads):.1f} cores',
        f'(median of all scenarios; at most {max(loads):.1f}).',
        f'{versions}.',
    ))  # fmt: skip


def _number_of(rounds: Sequence[Round]) -> str:
    if len(rounds) == 1:
        return 'one round'
    return f'medians of {len(rounds)} rounds that alternated'


def placed(text: str, made: str, *, load: str | None = None) -> str:
    """Return a document's text with `made` between its two marks. Raise ValueError without marks.

    load: kind of load, if the table is of such a kind
    """
    begin, end = (mark + (LOAD % load if load else '') for mark in (BEGIN, END))
    return between(text, begin, end, made)


def between(text: str, begin: str, end: str, made: str) -> str:
    """Return a text with `made` between the lines `begin` and `end`. Raise ValueError."""
    before, found_begin, rest = text.partition(f'{begin}\n')
    _old, found_end, after = rest.partition(f'{end}\n')
    if not (found_begin and found_end):
        raise ValueError(f'the document has no lines "{begin}" and "{end}"')
    return f'{before}{begin}\n\n{made}\n{end}\n{after}'
