"""Measure clouds of different sizes, one after the other; write a table and curves.

  python -m tools.scale --hosts 100 1000 10000 --write

Each cloud has a private RabbitMQ, a durable MariaDB and the profile `instant`. The tool starts the
cloud, sends a request, waits without work, boots a server and then many, lists and shows servers,
restarts the broker and boots another server, stops the cloud and starts it again. It also prints
the CPU time of each daemon for the start and without work. A figure that the cloud refuses, or that
takes more than three minutes, is printed as an error, and the next one is measured. 10,000 hosts
need some 2 GiB of memory. The programs of the servers must be installed (bindep.txt); running
servers are left alone.
"""

import argparse
import collections
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import sys
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import idle
from nova_lite.lab.bench import results
from tests.fixtures import servers
from tools import curves
from tools import private_cloud
from tools.comparison import environment
from tools.comparison import table
from tools.comparison import workload
from tools.proof import page

CELLS = 2
SIZES = (100, 1000, 10000)
BOOTS, IN_FLIGHT = 600, 16
# Long enough for the work that RabbitMQ does with its queues every two minutes.
IDLE_S, POLL_S = 120, 0.02
# Number of requests of each kind after the boots.
READS = 20
NOT_MEASURED = '–'
PAGE = environment.TOP / 'doc' / 'source' / 'admin' / 'costs.rst'
PICTURE = PAGE.with_name('scale.svg')
# {name of a Figure: its value}
Found: typing.TypeAlias = dict[str, float]
BEGIN, END = '.. begin: written by tools/scale.py', '.. end: written by tools/scale.py'


@dataclasses.dataclass(frozen=True)
class Figure:
    """A line of the table. panel: title of the panel of curves; curve: name of its curve there"""

    name: str
    text: str
    panel: str
    curve: str
    form: Callable[[float], str]


FIGURES = (
    Figure('ready_s', 'ready, all new, s', 'ready, s', 'all new', '{:.0f}'.format),
    Figure('restart_s', 'ready, again, s', 'ready, s', 'again', '{:.0f}'.format),
    Figure(
        'first_ms', 'first request after the start, ms', 'first request, ms', '', '{:.0f}'.format
    ),
    Figure('first_boot_s', 'first server ACTIVE, s', 'first server, s', 'first', '{:.1f}'.format),
    Figure('boots', 'boots/s, 16 in flight', 'boots/s', '', '{:.1f}'.format),
    Figure(
        'list_ms',
        f'list of all servers ({BOOTS}) in detail, ms',
        'reads, ms',
        'list',
        '{:.0f}'.format,
    ),
    Figure('show_ms', 'show, ms', 'reads, ms', 'show', '{:.1f}'.format),
    Figure(
        'broker_s',
        'new server ACTIVE after a restart of the broker, s',
        'first server, s',
        'after the broker',
        '{:.1f}'.format,
    ),
    Figure('memory_mib', 'memory of all processes (PSS), MiB', 'memory, MiB', '', '{:.0f}'.format),
    Figure('idle', 'CPU without work, % of a core', 'idle, % of a core', '', '{:.1f}'.format),
)


def measure(hosts: int, cells: int = CELLS, boots: int = BOOTS) -> Found:
    """Return the figures of a cloud with so many hosts in so many cells. boots: number of servers

    A figure that cannot be measured is printed as an error, and is not among the result.
    """
    found: Found = {}
    options = ('--cells', str(cells), '--hosts', str(hosts // cells), '--profile', 'instant')
    with private_cloud.Private(options) as cloud:
        found['ready_s'] = cloud.seconds
        print(_started(cloud), flush=True)
        api = client.Client(cloud.state_dir)
        began = runtime.monotonic()
        api.call('GET', '/servers/detail')
        found['first_ms'] = 1000 * (runtime.monotonic() - began)
        spent = idle.measure(cloud.state_dir, (), IDLE_S)
        idle.show(spent, as_json=False)
        found['idle'] = sum(kind['cpu_percent'] for kind in spent.values())
        with api.without_quotas():
            work = workload.Workload(api, cloud.state_dir, poll_s=POLL_S)
            for name, figure in _figures(cloud, work, boots).items():
                try:
                    found[name] = figure()
                except exception.NovaLiteError as error:
                    print(f'{name}: {error}', flush=True)
        cloud.restart()
        found['restart_s'] = cloud.seconds
    return found


def _figures(
    cloud: private_cloud.Private, work: workload.Workload, boots: int
) -> dict[str, Callable[[], float]]:
    """Return {name of a Figure: a function that measures it}, in the order of the work."""

    def reads_ms(path: str) -> float:
        return table.p50_ms('GET')(work.read(path, READS, 1))

    def after_the_broker() -> float:
        cloud.broker.stop()
        servers.start_all(cloud.broker)
        seconds: float = work.boot(1, 1)['seconds']
        return seconds

    return {
        # The scheduler reads the hosts and asks placement; later boots find the answers.
        'first_boot_s': lambda: work.boot(1, 1)['seconds'],
        'boots': lambda: work.boot(boots, IN_FLIGHT)['per_second'],
        'memory_mib': lambda: sum(kind['pss_mb'] for kind in _held(cloud)),
        'list_ms': lambda: reads_ms('/servers/detail?limit=1000'),
        'show_ms': lambda: reads_ms(workload.SHOW),
        'broker_s': after_the_broker,
    }


def _started(cloud: private_cloud.Private) -> str:
    """Return a text with the CPU seconds that the daemons have used so far."""
    spent: dict[str, float] = collections.defaultdict(float)
    for name, seconds in results.cpu_of(results.pids_of(cloud.state_dir, ())).items():
        spent[name.split('.')[0]] += seconds
    most = sorted(spent.items(), key=lambda each: each[1], reverse=True)
    kinds = ', '.join(f'{kind} {seconds:.1f}' for kind, seconds in most)
    return f'CPU of the start, s: {kinds}; all {sum(spent.values()):.1f}'


def _held(cloud: private_cloud.Private) -> Iterable[Mapping[str, float]]:
    found: dict[str, dict[str, float]] = idle.measure(cloud.state_dir, (), 1)
    return found.values()


def rst(measured: Mapping[int, Found]) -> str:
    """Return the table, the picture and the conditions. measured: {hosts: figures}"""
    header = ('hosts', *(f'{hosts:,}' for hosts in measured))
    lines = [
        (figure.text, *(_shown(figure, found) for found in measured.values())) for figure in FIGURES
    ]
    return (
        f'{page.table(header, lines)}\n'
        f'.. image:: {PICTURE.name}\n'
        f'   :alt: The figures of the table as curves over the number of hosts\n\n'
        f'{runtime.now():%-d %B %Y}, {environment.machine()}.\n'
    )


def _shown(figure: Figure, found: Found) -> str:
    return figure.form(found[figure.name]) if figure.name in found else NOT_MEASURED


def picture(measured: Mapping[int, Found]) -> str:
    """Return the curves as SVG."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for figure in FIGURES:
        points: list[tuple[float, float]] = [
            (hosts, found[figure.name]) for hosts, found in measured.items() if figure.name in found
        ]
        panels.setdefault(figure.panel, {})[figure.curve] = points
    return curves.svg(list(panels.items()))


def write(measured: Mapping[int, Found]) -> None:
    """Write the table into its page, and the curves beside it."""
    PAGE.write_text(table.between(PAGE.read_text(), BEGIN, END, rst(measured)))
    PICTURE.write_text(picture(measured))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        '--hosts', nargs='+', type=int, default=SIZES, metavar='N', help='default: %(default)s'
    )
    parser.add_argument('--cells', type=int, default=CELLS, help='default: %(default)s')
    parser.add_argument(
        '--boots',
        type=int,
        default=BOOTS,
        metavar='N',
        help='number of servers (default: %(default)s)',
    )
    parser.add_argument('--write', action='store_true', help='write the table and the curves')
    args = parser.parse_args(argv)
    if min(args.hosts) < args.cells * 2:
        parser.error(f'--hosts: at least {args.cells * 2}')
    measured: dict[int, Found] = {}
    for hosts in args.hosts:
        measured[hosts] = measure(hosts, args.cells, args.boots)
        print(f'{hosts} hosts: {measured[hosts]}', flush=True)
    print(rst(measured))
    if args.write:
        write(measured)
    return 0


if __name__ == '__main__':
    sys.exit(main())
