"""python -m tools.footprint [--write]: measure what nova_lite takes: sizes, memory, times.

Builds the wheel, starts a cloud of two cells with three hosts each as `nova-lite up --detach` does,
and resets it. --write puts the text into README.rst. Times of the wall are shown if the machine has
been idle. The image of a container takes long to build: --image builds it, --built takes its size
from a former build, and otherwise the text keeps what README.rst has about it, with its date.
"""

import argparse
from collections.abc import Sequence
import dataclasses
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap

import psutil

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import control_client
from tests.fixtures import container
from tools import detached_cloud

ROOT = pathlib.Path(__file__).parent.parent
README = ROOT / 'README.rst'
BEGIN, END = '.. begin: written by tools/footprint.py', '.. end: written by tools/footprint.py'
RESETS, STARTS = 20, 3
MB = 1_000_000


def wheel_mb() -> float:
    """Return the size of the wheel."""
    with tempfile.TemporaryDirectory() as directory:
        command = (sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps', '-w', directory)
        subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
        (path,) = pathlib.Path(directory).glob('*.whl')
        return path.stat().st_size / MB


def of_image(size_mb: float, base_mb: float, day: str) -> str:
    """Return a paragraph about an image that was built on a day."""
    return _filled(
        f'The image of a container has {size_mb:.0f} MB, of which its base has {base_mb:.0f} MB (built '
        f'on {day}).'
    )


def new_image() -> str:
    """Build the image and return the paragraph about it. Raise Unavailable where it cannot be."""
    reason = container.missing()
    if reason is not None:
        raise exception.Unavailable(service='The image of a container', reason=reason)
    with container.Image() as image:
        return of_image(image.size_mb, image.base_mb, f'{runtime.now():%Y-%m-%d}')


def written() -> tuple[str, str]:
    """Return the paragraphs in README.rst about a cloud and about the image, '' for none."""
    text = README.read_text().partition(f'{BEGIN}\n')[2].partition(END)[0]
    cloud, _break, image = text.strip().partition('\n\n')
    return cloud, image


def _filled(text: str) -> str:
    return textwrap.fill(text, width=100)


@dataclasses.dataclass(frozen=True)
class Taken:
    """Times and memory of a cloud: seconds of the wall and of processors, and resident memory."""

    ready_s: float
    ready_cpu_s: float
    memory_mb: float
    reset_s: float
    reset_cpu_s: float


def of_cloud() -> Taken:
    """Start a cloud, reset it some times, and return what it has taken."""
    began, command = runtime.monotonic(), _command_s()
    with detached_cloud.started() as directory:
        ready_s = runtime.monotonic() - began
        process = psutil.Process(detached_cloud.services(directory).pid)
        begun_s, memory_mb = _cpu_s(process), process.memory_info().rss / MB
        ready_cpu_s = begun_s + _command_s() - command
        client = control_client.Client(directory)
        resets = [float(client.post('reset')['seconds']) for _reset in range(RESETS)]
        reset_cpu_s = (_cpu_s(process) - begun_s) / RESETS
    return Taken(ready_s, ready_cpu_s, memory_mb, statistics.median(resets), reset_cpu_s)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _command_s() -> float:
    """Return the processor time of commands that have ended, such as `up` before it detaches."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def new_cloud() -> str:
    """Measure the wheel and clouds. Return the paragraph about them."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    clouds = [of_cloud() for _start in range(STARTS)]
    found = Taken(
        *(statistics.median(each) for each in zip(*map(dataclasses.astuple, clouds), strict=True))
    )
    ready = f'{found.ready_cpu_s:.1f} s of processor time until it is ready'
    reset = f'{found.reset_cpu_s * 1000:.0f} ms for a reset'
    # Other work makes times of the wall longer.
    if load < cores:
        ready += f' (after {found.ready_s:.1f} s)'
        reset += f' (after {found.reset_s * 1000:.0f} ms)'
    return _filled(
        f'The wheel has {wheel_mb():.1f} MB. A cloud of two cells with three hosts each takes {ready}, '
        f'{reset}, and {found.memory_mb:.0f} MB of memory (medians of {STARTS} clouds, Python '
        f'{platform.python_version()}).'
    )


def _measured(args: argparse.Namespace) -> str:
    """Return the text for the README. Raise Unavailable, ValueError."""
    cloud, image = written()
    if args.built is not None:
        size_mb, base_mb, day = args.built
        return f'{cloud}\n\n{of_image(float(size_mb), float(base_mb), day)}'
    if args.image:
        image = new_image()
    return f'{new_cloud()}\n\n{image}'.strip()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--write', action='store_true', help='put the figures into README.rst')
    of_images = parser.add_mutually_exclusive_group()
    of_images.add_argument('--image', action='store_true', help='build and measure the image')
    of_images.add_argument(
        '--built',
        nargs=3,
        metavar=('MB', 'BASE_MB', 'DAY'),
        help='sizes that tests/nightly/test_container.py has printed; measure nothing else',
    )
    args = parser.parse_args(argv)
    try:
        shown = _measured(args)
    except (exception.Unavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(shown)
    if args.write:
        before, _begin, rest = README.read_text().partition(f'{BEGIN}\n')
        _former, _end, after = rest.partition(END)
        README.write_text(f'{before}{BEGIN}\n\n{shown}\n\n{END}{after}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
