"""Compare clouds that use undocumented names of libraries with clouds that do not.

  python -m tools.public_doors --rounds 8 oslo.messaging gunicorn

starts a cloud over a private RabbitMQ and MariaDB for each named library, whose undocumented
names it does without, one that uses all, and one more of that kind, which shows how much the
figures err. The clouds take turns in random order. Printed are, for each operation, the CPU ms of
the cloud that uses all, and what the daemons of the others need more in percent of that: the median
of the rounds, and the quartiles. A cloud needs 1 GiB of memory.
"""

import argparse
import collections
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import statistics

import fixtures

from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.private_apis import guard
from tools import private_cloud
from tools.comparison import workload

ALL, AGAIN = 'all are used', 'nothing (the same cloud)'
DAEMONS = ('api', 'compute', 'conductor', 'scheduler', 'super-conductor')
SCENARIOS = ('boot-16', 'list-1', 'show-1', 'resize-1', 'live-migrate', 'delete')
UP = ('--cells', '2', '--hosts', '2', '--profile', 'instant')
POLL_S = 0.1
# Of a scenario in one cloud: CPU ms of an operation in all processes, and in the daemons.
Figures = tuple[float, float]
# {scenario: {cloud: figures of the rounds}}
Measured = Mapping[str, Mapping[str, Sequence[Figures]]]


def measure(names: Sequence[str], rounds: int, scale: float) -> Measured:
    """Play the scenarios in all clouds. The first round, which warms them, does not count."""
    found: dict[str, dict[str, list[Figures]]] = collections.defaultdict(
        lambda: collections.defaultdict(list)
    )
    with contextlib.ExitStack() as stack:
        works = {}
        for name in (ALL, AGAIN, *names):
            off = '' if name in (ALL, AGAIN) else name
            with fixtures.EnvironmentVariable(guard.VARIABLE, off):
                directory = stack.enter_context(private_cloud.Private(UP)).state_dir
            cloud = client.Client(directory)
            stack.enter_context(cloud.without_quotas())
            works[name] = workload.Workload(cloud, directory, poll_s=POLL_S)
        for number in range(rounds + 1):
            played = {name: dict(workload.scenarios(each, scale)) for name, each in works.items()}
            for scenario in SCENARIOS:
                for name in runtime.random().sample(sorted(played), len(played)):
                    figures = _figures(played[name][scenario]())
                    print(f'{number} {scenario}, {name}: {figures[0]:.1f} ms', flush=True)
                    if number:
                        found[scenario][name].append(figures)
    return found


def _figures(played: Mapping[str, object]) -> Figures:
    kinds = played['cpu_ms_per_operation_by_kind']
    assert isinstance(kinds, dict)
    return sum(kinds.values()), sum(kinds.get(kind, 0) for kind in DAEMONS)


def table(measured: Measured) -> str:
    """Return the table as text."""
    lines = []
    for scenario, clouds in measured.items():
        usual = statistics.median(total for total, _daemons in clouds[ALL])
        lines.append(f'{scenario}: {usual:.1f} ms of CPU')
        for name, rounds in clouds.items():
            if name != ALL:
                more = [
                    100 * (daemons - before) / total
                    for (_all, daemons), (total, before) in zip(rounds, clouds[ALL], strict=True)
                ]
                low, middle, high = statistics.quantiles(more, n=4, method='inclusive')
                lines.append(f'  without {name}: {middle:+.1f} % ({low:+.0f} to {high:+.0f})')
    return '\n'.join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('libraries', nargs='+', metavar='LIBRARY')
    parser.add_argument('--rounds', type=int, default=8, metavar='N', help='at least 2')
    parser.add_argument('--scale', type=float, default=1, metavar='FACTOR')
    args = parser.parse_args(argv)
    if args.rounds < 2:
        parser.error('--rounds must be at least 2')
    print(table(measure(args.libraries, args.rounds, args.scale)))


if __name__ == '__main__':
    main()
