"""The rows of a comparison that miss their goals, with the CPU time that explains them."""

from collections.abc import Sequence
import statistics

from tools.comparison import table
from tools.proof import page

BEGIN = '.. begin: goals that tools/compare_with_nova.py found missed'
END = '.. end: goals that tools/compare_with_nova.py found missed'
# {name in the figures: name} of programs whose CPU time is not nova_lite's own.
NEIGHBOURS = {'placement': 'placement', 'mariadb': 'MariaDB', 'rabbitmq': 'RabbitMQ'}
STAND_INS = 'simcloud'
COMMON = ('', 'goal', 'times better')
CPU = (
    *COMMON,
    'CPU ms',
    'of these polls',
    *NEIGHBOURS.values(),
    'own',
    'own at the goal',
    'times without own',
)
# The scenario whose operation is one poll of a move.
POLL = 'show-1'
TIMES = (*COMMON, 'CPU: times better', 'cores busy', 'of these the API', "Nova's cores busy")


def missed(rounds: Sequence[table.Round]) -> list[tuple[table.Row, float, float]]:
    """Return (row, nova's median, ours) of the rows whose ratio is below their goal."""
    found: list[tuple[table.Row, float, float]] = []
    for row in table.ROWS:
        values = table.medians(rounds, row)
        if values is not None and round(row.ratio(*values), 1) < row.goal:
            found.append((row, *values))
    return found


def lines(rounds: Sequence[table.Round]) -> tuple[list[page.Line], list[page.Line]]:
    """Return lines of two tables: rows of CPU time, and rows of times and rates."""
    by_cpu: list[page.Line] = []
    by_time: list[page.Line] = []
    for row, nova, ours in missed(rounds):
        common = (row.text, f'{row.goal:g}', f'{row.ratio(nova, ours):.1f}')
        if row.pick is table.cpu_ms:
            by_cpu.append((*common, *_parts(rounds, row, nova, ours)))
        else:
            by_time.append((*common, *_cores(rounds, row)))
    return by_cpu, by_time


def _parts(
    rounds: Sequence[table.Round], row: table.Row, nova: float, ours: float
) -> tuple[str, ...]:
    """Return nova_lite's CPU time, its parts, the own part at the goal, the ratio without it.

    The part of the polls is their number times the CPU time of a show, and is also part of others.
    """
    figures = table.figures(rounds, row, table.OURS)
    parts = {name: _median(figures, _of_kind(name)) for name in (*NEIGHBOURS, STAND_INS)}
    others = sum(parts.values())
    shows = [played[table.OURS][POLL] for played in rounds if POLL in played[table.OURS]]
    poll_ms = _median(shows, table.cpu_ms) if shows else 0
    numbers = (
        ours,
        poll_ms * _median(figures, lambda each: each.get('polls', 0)),
        *(parts[name] for name in NEIGHBOURS),
        ours - others,
        nova / row.goal - others,
    )
    return (*(f'{number:.1f}' for number in numbers), f'{nova / others:.0f}')


def _cores(rounds: Sequence[table.Round], row: table.Row) -> tuple[str, ...]:
    """Return the ratio of the CPU time, and busy cores: nova_lite's, its API's, Nova's."""
    novas, ours = (table.figures(rounds, row, side) for side in (table.NOVA, table.OURS))
    return (
        f'{_median(novas, table.cpu_ms) / _median(ours, table.cpu_ms):.1f}',
        f'{_busy(ours, table.cpu_ms):.1f}',
        f'{_busy(ours, _of_kind("api")):.1f}',
        f'{_busy(novas, table.cpu_ms):.1f}',
    )


def _of_kind(name: str) -> table.Pick:
    def pick(figures: table.Figures) -> float:
        spent: float = figures['cpu_ms_per_operation_by_kind'].get(name, 0)
        return spent

    return pick


def _median(figures: Sequence[table.Figures], pick: table.Pick) -> float:
    return statistics.median(map(pick, figures))


def _busy(figures: Sequence[table.Figures], pick: table.Pick) -> float:
    """Return the cores that were busy with the work whose CPU ms `pick` returns."""
    return _median(figures, lambda each: table.per_second(each) * pick(each) / 1000)


def rst(results: table.Results) -> str:
    """Return the two tables as reStructuredText."""
    by_cpu, by_time = lines(results['rounds'])
    return f'{page.table(CPU, by_cpu)}\n{page.table(TIMES, by_time)}'
