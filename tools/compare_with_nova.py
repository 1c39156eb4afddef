"""Measure nova and nova_lite side by side, and write the table of the comparison.

  python -m tools.compare_with_nova --rounds 3 --results figures.json

installs nova from PyPI in a virtual environment of its own (tools/requirements/nova.txt), starts a
cloud of nova's daemons with the fake driver and a cloud of nova_lite with the profile `instant`,
each over a private RabbitMQ and a private durable MariaDB, and sends the same requests to both
clouds. Every scenario is played in one cloud and then in the other. --load measures both clouds
with up to 256 clients at once. The simulated Keystone, Glance and Neutron of nova_lite serve both
clouds; each cloud has a real placement.

CPU time is that of all processes of a cloud: daemons, placement, simulated services, broker and
database. The programs of the servers must be installed (bindep.txt); running servers are left
alone. At its end, also by SIGINT or SIGTERM, the tool stops all processes that it has started. It
needs 6 GiB of memory.
"""

import argparse
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import json
import os
import pathlib
import signal
import sys
import types
import typing

from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.console import durations
from tools import private_cloud
from tools.comparison import environment
from tools.comparison import goals
from tools.comparison import load
from tools.comparison import nova_cloud
from tools.comparison import table
from tools.comparison import workload

README = environment.TOP / 'README.rst'
PAGE = environment.TOP / 'doc' / 'source' / 'admin' / 'benchmarks.rst'
COSTS = PAGE.with_name('costs.rst')
# Scenarios that create and delete the servers of all other scenarios.
ALWAYS = ('boot-16', 'delete')


def our_cloud(args: argparse.Namespace) -> private_cloud.Private:
    """Return the fixture of nova_lite's cloud."""
    driver = 'messagingv2' if args.notifications == 'on' else 'noop'
    return private_cloud.Private(
        ['--cells', str(args.cells), '--hosts', str(args.hosts), '--profile', 'instant',
         '--set', f'oslo_messaging_notifications.driver={driver}']
    )  # fmt: skip


def novas_cloud(args: argparse.Namespace) -> nova_cloud.NovaCloud:
    """Return the fixture of nova's cloud."""
    cells = [f'cell{number + 1}' for number in range(args.cells)]
    return nova_cloud.NovaCloud(
        args.environment, cells, args.hosts, notifications=args.notifications == 'on'
    )


def play(directories: Mapping[str, str], args: argparse.Namespace, first: str) -> table.Round:
    """Play all scenarios in both clouds. Return {side: {scenario: figures}}.

    directories: {side: state directory}; first: the side that begins
    """
    prepared = {}
    with contextlib.ExitStack() as stack:
        for side in sorted(directories, key=lambda side: side != first):
            cloud = client.Client(directories[side])
            stack.enter_context(cloud.without_quotas())
            prepared[side] = dict(_scenarios(cloud, directories[side], args))
        return _played(prepared)


def _scenarios(
    cloud: client.Client, directory: str, args: argparse.Namespace
) -> Iterator[workload.Scenario]:
    if args.load:
        yield from load.scenarios(args.load, args.clients, cloud, directory, poll_s=args.poll)
        return
    work = workload.Workload(cloud, directory, poll_s=args.poll)
    for name, scenario in workload.scenarios(work, args.scale):
        if not args.scenarios or name in (*args.scenarios, *ALWAYS):
            yield name, scenario


def _played(prepared: Mapping[str, dict[str, Callable[[], table.Figures]]]) -> table.Round:
    played: dict[str, dict[str, table.Figures]] = {side: {} for side in prepared}
    for name in next(iter(prepared.values())):
        for side, scenarios in prepared.items():
            figures = played[side][name] = scenarios[name]()
            print(f'{name}, {side}: {_shown(figures)}', flush=True)
    return played


def _shown(figures: table.Figures) -> str:
    if 'failure' in figures:
        return f'{figures["failure"]}'
    return (
        f'{table.cpu_ms(figures):.1f} ms of CPU, {figures["per_second"]:.1f}/s, '
        f'others {figures["others"]:.2f} cores'
    )


def former(path: str | None) -> list[table.Round]:
    """Return the rounds of a file of results; an empty list if the file does not exist."""
    if path is None or not os.path.exists(path):
        return []
    with open(path) as file:
        found: list[table.Round] = json.load(file)['rounds']
        return found


def compare(args: argparse.Namespace) -> table.Results:
    """Start both clouds and measure. Return the results, and write the file of --results."""
    about = {
        'date': runtime.now().strftime('%-d %B %Y'),
        'machine': environment.machine(),
        'versions': environment.versions(args.environment),
        'notifications': args.notifications == 'on',
        'cells': args.cells,
        'hosts': args.hosts,
        'poll_s': args.poll,
    }
    results: table.Results = {'about': about, 'rounds': former(args.results)}
    with novas_cloud(args) as nova, our_cloud(args) as ours:
        directories = {table.NOVA: nova.state_dir, table.OURS: ours.state_dir}
        for number in range(args.rounds):
            first = (table.NOVA, table.OURS)[number % 2]
            results['rounds'].append(play(directories, args, first))
            if args.results:
                pathlib.Path(args.results).write_text(json.dumps(results, indent=1) + '\n')
    return results


def write(results: table.Results, kind: str | None = None) -> None:
    """Write the tables of README and of the documents, or only the table of a kind of load."""
    if kind:
        PAGE.write_text(table.placed(PAGE.read_text(), load.rst(results, kind), load=kind))
        return
    for path, made in ((README, table.readme(results)), (PAGE, table.rst(results))):
        path.write_text(table.placed(path.read_text(), made))
    missed = goals.rst(results)
    COSTS.write_text(table.between(COSTS.read_text(), goals.BEGIN, goals.END, missed))


def end(number: int, _frame: types.FrameType | None) -> typing.NoReturn:
    """End every `with`, and with it the clouds, as SIGINT does. For signals."""
    # A second signal must not interrupt the end.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, and print the table."""
    args = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, end)
    if min(args.cells, args.hosts) < 2:
        raise SystemExit('--cells and --hosts must be at least 2: servers move between them')
    environment.prepare(args.environment)
    results = compare(args)
    print(load.rst(results, args.load) if args.load else table.rst(results))
    if args.write:
        write(results, args.load)
    return 0


# Options with their type, default, metavar and help.
NUMBERS: dict[str, tuple[Callable[[str], float], float, str, str]] = {
    'cells': (int, 2, 'N', 'cells, at least 2'),
    'hosts': (int, 2, 'N', 'hosts of a cell, at least 2'),
    'rounds': (int, 3, 'N', 'rounds, of which the table shows the medians'),
    'scale': (float, 1, 'FACTOR', 'factor of the numbers of operations'),
    'poll': (durations.option, 0.02, 'SECONDS', 'interval at which a client polls'),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        '--environment',
        default='.venv-nova',
        metavar='DIR',
        help='virtual environment of nova, made if it does not exist (default: %(default)s)',
    )
    for name, (kind, default, metavar, text) in NUMBERS.items():
        text = f'{text} (default: %(default)s)'
        add(f'--{name}', type=kind, default=default, metavar=metavar, help=text)
    add(
        '--scenarios',
        type=lambda text: text.split(','),
        metavar='NAME,...',
        help='scenarios to play, beside the first boots and the deletion (default: all)',
    )
    add(
        '--load',
        choices=load.KINDS,
        help='play this load instead of the scenarios, with more and more clients at once',
    )
    add(
        '--clients',
        nargs='+',
        type=int,
        choices=load.CLIENTS,
        default=load.CLIENTS,
        metavar='N',
        help='clients of --load, of %s (default: all)' % ', '.join(map(str, load.CLIENTS)),
    )
    add(
        '--notifications',
        choices=('on', 'off'),
        default='on',
        help='whether both clouds send notifications (default: %(default)s)',
    )
    add(
        '--results',
        metavar='FILE',
        help='file of figures; rounds that are in the file count as well',
    )
    add('--write', action='store_true', help='write the tables of README.rst and the documents')
    return parser


if __name__ == '__main__':
    sys.exit(main())
