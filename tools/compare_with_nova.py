"""Measure nova and nova_lite side by side, and write the table of the comparison.

  python -m tools.compare_with_nova --rounds 3 --results figures.json

installs nova from PyPI in a virtual environment of its own (nova-requirements.txt), starts a
cloud of its daemons with the fake driver and one of nova_lite with the profile `instant`,
each over a RabbitMQ and a durable MariaDB of its own, and sends both the same requests.
Every scenario is played in one cloud and then in the other. nova_lite's stand-ins for
Keystone, Glance and Neutron serve both; each cloud has a real placement.

CPU time is that of all processes of a cloud: daemons, placement, stand-ins, broker, database.
The programs of the servers must be installed (bindep.txt); any running ones are left alone.
At its end, also by SIGINT or SIGTERM, all that it started is stopped. It needs 6 GiB of memory.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import sys

from nova_lite import runtime
from nova_lite.bench import client
from nova_lite.console import durations
from tools import private_cloud
from tools.comparison import environment
from tools.comparison import nova_cloud
from tools.comparison import table
from tools.comparison import workload

README = environment.TOP / 'README.rst'
PAGE = environment.TOP / 'doc' / 'source' / 'admin' / 'benchmarks.rst'
# They make and delete the servers of all others.
ALWAYS = ('boot-16', 'delete')


def our_cloud(args):
    """Return the fixture of nova_lite's cloud."""
    driver = 'messagingv2' if args.notifications == 'on' else 'noop'
    return private_cloud.Private(
        ['--cells', str(args.cells), '--hosts', str(args.hosts), '--profile', 'instant',
         '--set', f'oslo_messaging_notifications.driver={driver}']
    )  # fmt: skip


def novas_cloud(args):
    """Return the fixture of nova's cloud."""
    cells = [f'cell{number + 1}' for number in range(args.cells)]
    return nova_cloud.NovaCloud(
        args.environment, cells, args.hosts, notifications=args.notifications == 'on'
    )


def play(directories, args, first):
    """Play all scenarios in both clouds; return {side: {scenario: figures}}.

    directories: {side: state directory}; first: the side that begins
    """
    works = {}
    with contextlib.ExitStack() as stack:
        for side in sorted(directories, key=lambda side: side != first):
            cloud = client.Client(directories[side])
            stack.enter_context(cloud.without_quotas())
            works[side] = workload.Workload(cloud, directories[side], poll_s=args.poll)
        return _played(works, args)


def _played(works, args):
    played = {side: {} for side in works}
    prepared = {side: dict(workload.scenarios(work, args.scale)) for side, work in works.items()}
    for name in next(iter(prepared.values())):
        if args.scenarios and name not in (*args.scenarios, *ALWAYS):
            continue
        for side in works:
            figures = played[side][name] = prepared[side][name]()
            print(
                f'{name}, {side}: {table.cpu_ms(figures):.1f} ms of CPU, '
                f'{figures["per_second"]:.1f}/s, others {figures["others"]:.2f} cores',
                flush=True,
            )
    return played


def load(path):
    """Return the rounds of a file of results; none if it does not exist."""
    if path is None or not os.path.exists(path):
        return []
    with open(path) as file:
        return json.load(file)['rounds']


def compare(args):
    """Start both clouds and measure; return the results, which are also in --results."""
    about = {
        'date': runtime.now().strftime('%-d %B %Y'),
        'machine': environment.machine(),
        'versions': environment.versions(args.environment),
        'notifications': args.notifications == 'on',
        'cells': args.cells,
        'hosts': args.hosts,
        'poll_s': args.poll,
    }
    results = {'about': about, 'rounds': load(args.results)}
    with novas_cloud(args) as nova, our_cloud(args) as ours:
        directories = {table.NOVA: nova.state_dir, table.OURS: ours.state_dir}
        for number in range(args.rounds):
            first = (table.NOVA, table.OURS)[number % 2]
            results['rounds'].append(play(directories, args, first))
            if args.results:
                pathlib.Path(args.results).write_text(json.dumps(results, indent=1) + '\n')
    return results


def write(results):
    """Write the tables of README and of the page about benchmarks."""
    for path, made in ((README, table.readme(results)), (PAGE, table.rst(results))):
        path.write_text(table.placed(path.read_text(), made))


def end(number, _frame):
    """Have every `with` end, and with it the clouds, as SIGINT does; a handler of signals."""
    # A second one must not interrupt that.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(argv=None):
    """Compare, and print the table."""
    args = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, end)
    if min(args.cells, args.hosts) < 2:
        raise SystemExit('--cells and --hosts must be at least 2: servers move between them')
    environment.prepare(args.environment)
    results = compare(args)
    print(table.rst(results))
    if args.write:
        write(results)
    return 0


# Of options: type, default, metavar, help.
NUMBERS = {
    'cells': (int, 2, 'N', 'cells, at least 2'),
    'hosts': (int, 2, 'N', 'hosts of a cell, at least 2'),
    'rounds': (int, 3, 'N', 'rounds, of which the table shows the medians'),
    'scale': (float, 1, 'FACTOR', 'factor of the numbers of operations'),
    'poll': (durations.option, 0.02, 'SECONDS', 'interval at which a client polls'),
}


def _parser():
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
        '--notifications',
        choices=('on', 'off'),
        default='on',
        help='whether both send notifications (default: %(default)s)',
    )
    add('--results', metavar='FILE', help='file of figures; the rounds that it has count as well')
    add('--write', action='store_true', help='write the tables of README.rst and the documents')
    return parser


if __name__ == '__main__':
    sys.exit(main())
