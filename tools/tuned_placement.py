"""Compare an embedded cloud that has the real placement with one that has the tuned placement.

  python -m tools.tuned_placement --rounds 3 --hosts 1000 --boots 200

Each round starts both clouds, one after the other, and the next round begins with the other one.
A cloud has two cells and the profile `instant`. It is started with new hosts, and servers are
booted and deleted in it. Printed are medians: seconds and CPU seconds of the start, boots/s and
CPU of a boot and of a delete, and the ratio of the two clouds.
"""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import statistics
import subprocess
import sys
import tempfile

from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import results
from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tools.comparison import workload

CELLS, IN_FLIGHT, POLL_S = 2, 16, 0.02
START_S, STOP_S = 900, 60
OPTION = '--tuned-placement'
CLOUDS: Mapping[str, tuple[str, ...]] = {'real': (), 'tuned': (OPTION,)}
# {name of a figure: (text, whether more is better)}
FIGURES = {
    'ready_s': ('start with new hosts, s', False),
    'start_cpu_s': ('start with new hosts, CPU s', False),
    'boots': ('boots/s, 16 in flight', True),
    'boot_cpu_ms': ('boot, CPU ms', False),
    'delete_cpu_ms': ('delete, CPU ms', False),
}
Figures = dict[str, float]


def measure(hosts: int, boots: int, options: Sequence[str]) -> Figures:
    """Return the figures of a cloud. options: more of `nova-lite up`"""
    with tempfile.TemporaryDirectory() as root:
        directory = f'{root}/cloud'
        command = (
            *(sys.executable, '-m', commands.MODULE, 'up', '--detach', '--port', '0'),
            *('--state-dir', directory, '--profile', 'instant'),
            *('--cells', str(CELLS), '--hosts', str(hosts // CELLS), *options),
        )
        began = runtime.monotonic()
        subprocess.run(command, check=True, timeout=START_S, stdout=subprocess.DEVNULL)
        found = {'ready_s': runtime.monotonic() - began}
        try:
            found['start_cpu_s'] = _cpu_seconds(directory)
            found |= _work(directory, boots)
        finally:
            running.stop(directory, STOP_S)
        return found


def _cpu_seconds(directory: str) -> float:
    spent: float = sum(results.cpu_of(results.pids_of(directory, ())).values())
    return spent


def _work(directory: str, boots: int) -> Figures:
    """Boot servers and delete them."""
    cloud = client.Client(directory)
    with cloud.without_quotas():
        work = workload.Workload(cloud, directory, poll_s=POLL_S)
        # The first boot compiles statements.
        work.boot(IN_FLIGHT, IN_FLIGHT)
        before = _cpu_seconds(directory)
        rate = work.boot(boots, IN_FLIGHT)['per_second']
        booted = _cpu_seconds(directory)
        work.delete(IN_FLIGHT)
        deleted = _cpu_seconds(directory)
    return {
        'boots': rate,
        'boot_cpu_ms': 1000 * (booted - before) / boots,
        'delete_cpu_ms': 1000 * (deleted - booted) / (boots + IN_FLIGHT),
    }


def table(measured: Mapping[str, Sequence[Figures]]) -> str:
    """Return the medians and their ratios as text. measured: {name of a cloud: its rounds}"""
    lines = [f'{"":30}{"real":>10}{"tuned":>10}{"gain":>8}']
    for name, (text, is_rate) in FIGURES.items():
        real, tuned = (
            statistics.median(figures[name] for figures in measured[cloud]) for cloud in CLOUDS
        )
        gain = tuned / real if is_rate else real / tuned
        lines.append(f'{text:30}{real:10.1f}{tuned:10.1f}{gain:8.2f}')
    return '\n'.join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--rounds', type=int, default=3, metavar='N')
    parser.add_argument('--hosts', type=int, default=1000, metavar='N')
    parser.add_argument('--boots', type=int, default=200, metavar='N')
    args = parser.parse_args(argv)
    if args.hosts < CELLS or args.rounds < 1 or args.boots < 1:
        parser.error(f'at least {CELLS} hosts, one round and one boot')
    measured: dict[str, list[Figures]] = {name: [] for name in CLOUDS}
    for number in range(args.rounds):
        for name in sorted(CLOUDS, reverse=number % 2 == 1):
            measured[name].append(measure(args.hosts, args.boots, CLOUDS[name]))
            print(name, measured[name][-1], flush=True)
    print(table(measured))
    return 0


if __name__ == '__main__':
    sys.exit(main())
