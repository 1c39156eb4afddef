"""Measure clouds of different sizes, one after the other; write a table and curves.

  python -m tools.scale --hosts 100 1000 10000 --write

Each is a cloud of two cells over a private RabbitMQ and a durable MariaDB, with the profile
`instant`. It is started, asked, left alone, given servers, stopped, and started again. The CPU of
the start and without work is also printed by daemon.
10,000 hosts need some 2 GiB of memory. The programs of the servers must be installed
(bindep.txt); any running ones are left alone.
"""

import argparse
import collections
import dataclasses
import sys
import typing

from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import idle
from nova_lite.lab.bench import results
from tools import curves
from tools import private_cloud
from tools.comparison import environment
from tools.comparison import table
from tools.comparison import workload
from tools.proof import page

CELLS = 2
SIZES = (100, 1000, 10000)
BOOTS, IN_FLIGHT = 200, 16
# Long enough for what RabbitMQ does with its queues every two minutes.
IDLE_S, POLL_S = 120, 0.02
OPTIONS = ('--cells', str(CELLS), '--profile', 'instant')
PAGE = environment.TOP / 'doc' / 'source' / 'admin' / 'costs.rst'
PICTURE = PAGE.with_name('scale.svg')
BEGIN, END = '.. begin: written by tools/scale.py', '.. end: written by tools/scale.py'


@dataclasses.dataclass(frozen=True)
class Figure:
    """A line of the table. panel: of the curves, and the name of the curve in it"""

    name: str
    text: str
    panel: str
    curve: str
    form: typing.Callable


FIGURES = (
    Figure('ready_s', 'ready, all new, s', 'ready, s', 'all new', '{:.0f}'.format),
    Figure('restart_s', 'ready, again, s', 'ready, s', 'again', '{:.0f}'.format),
    Figure(
        'first_ms', 'first request after the start, ms', 'first request, ms', '', '{:.0f}'.format
    ),
    Figure('boots', 'boots/s, 16 in flight', 'boots/s', '', '{:.1f}'.format),
    Figure('memory_mib', 'memory of all processes (PSS), MiB', 'memory, MiB', '', '{:.0f}'.format),
    Figure('idle', 'CPU without work, % of a core', 'idle, % of a core', '', '{:.1f}'.format),
)


def measure(hosts):
    """Return {name of a Figure: its value} of a cloud with so many hosts."""
    found = {}
    with private_cloud.Private([*OPTIONS, '--hosts', str(hosts // CELLS)]) as cloud:
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
            found['boots'] = work.boot(BOOTS, IN_FLIGHT)['per_second']
            found['memory_mib'] = sum(kind['pss_mb'] for kind in _held(cloud))
            work.delete(IN_FLIGHT)
        cloud.restart()
        found['restart_s'] = cloud.seconds
    return found


def _started(cloud):
    """Return what the daemons have used of the CPU so far, as text."""
    spent = collections.Counter()
    for name, seconds in results.cpu_of(results.pids_of(cloud.state_dir, ())).items():
        spent[name.split('.')[0]] += seconds
    kinds = ', '.join(f'{kind} {seconds:.1f}' for kind, seconds in spent.most_common())
    return f'CPU of the start, s: {kinds}; all {spent.total():.1f}'


def _held(cloud):
    return idle.measure(cloud.state_dir, (), 1).values()


def rst(measured):
    """Return the table, the picture and the conditions. measured: {hosts: what `measure` gave}"""
    header = ('hosts', *(f'{hosts:,}' for hosts in measured))
    lines = [
        (figure.text, *(figure.form(found[figure.name]) for found in measured.values()))
        for figure in FIGURES
    ]
    return (
        f'{page.table(header, lines)}\n'
        f'.. image:: {PICTURE.name}\n'
        f'   :alt: The figures of the table as curves over the number of hosts\n\n'
        f'{runtime.now():%-d %B %Y}, {environment.machine()}.\n'
    )


def picture(measured):
    """Return the curves as SVG."""
    panels = {}
    for figure in FIGURES:
        points = [(hosts, found[figure.name]) for hosts, found in measured.items()]
        panels.setdefault(figure.panel, {})[figure.curve] = points
    return curves.svg(list(panels.items()))


def write(measured):
    """Write the table into its page, and the curves beside it."""
    PAGE.write_text(table.between(PAGE.read_text(), BEGIN, END, rst(measured)))
    PICTURE.write_text(picture(measured))


def main(argv=None):
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        '--hosts', nargs='+', type=int, default=SIZES, metavar='N', help='default: %(default)s'
    )
    parser.add_argument('--write', action='store_true', help='write the table and the curves')
    args = parser.parse_args(argv)
    if min(args.hosts) < CELLS * 2:
        parser.error(f'--hosts: at least {CELLS * 2}')
    measured = {}
    for hosts in args.hosts:
        measured[hosts] = measure(hosts)
        print(f'{hosts} hosts: {measured[hosts]}', flush=True)
    print(rst(measured))
    if args.write:
        write(measured)
    return 0


if __name__ == '__main__':
    sys.exit(main())
