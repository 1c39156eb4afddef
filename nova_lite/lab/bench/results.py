"""Figures of a measurement: rates, percentiles, CPU seconds by kind of daemon."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import glob
import json
import os
import statistics
import typing

from nova_lite import runtime
from nova_lite.lab.bench import counts
from nova_lite.lab.bench import cpu_profile
from nova_lite.lab.bench import speed

TICKS = os.sysconf('SC_CLK_TCK')


def _stat(pid: int | str) -> list[str]:
    with open(f'/proc/{pid}/stat') as file:
        return file.read().rsplit(')', 1)[1].split()


def children() -> dict[int, list[int]]:
    """Return {process id: [ids of its children]} of all processes of the machine."""
    found: dict[int, list[int]] = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                found.setdefault(int(_stat(name)[1]), []).append(int(name))
            except (FileNotFoundError, ProcessLookupError):
                continue  # the process has ended
    return found


def tree(pid: int, below: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield a process and all processes below it. below: result of `children`"""
    yield pid
    for child in below.get(pid, ()):
        yield from tree(child, below)


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of one process, 0 if it has ended."""
    try:
        fields = _stat(pid)
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def pids_of(directory: str, also: Iterable[int]) -> dict[str, int]:
    """Return {KIND.NAME: process id} from the pid files of a cloud, and {id: id} of `also`."""
    found = {str(pid): pid for pid in also}
    for path in glob.glob(os.path.join(directory, 'run', '*.pid')):
        with open(path) as file:
            found[os.path.basename(path)[:-4]] = int(file.read())
    return found


def cpu_of(pids: Mapping[str, int]) -> dict[str, float]:
    """Return {name: CPU seconds of a process and of all processes below it}."""
    below = children()
    return {name: sum(cpu_seconds(each) for each in tree(pid, below)) for name, pid in pids.items()}


class Measured:
    """Collects the durations and the CPU time of one scenario.

    also: ids of other processes whose CPU time counts
    sampler: measures the CPU time by parts of the code, or None
    times: {what was measured: [seconds, ...]}
    """

    def __init__(
        self,
        scenario: str,
        directory: str,
        also: Iterable[int],
        *,
        sampler: cpu_profile.Sampler | None = None,
    ) -> None:
        self.scenario = scenario
        self.times: dict[str, list[float]] = {}
        self.failures: list[str] = []
        self.count = 0
        self._pids = pids_of(directory, also)
        self._sampler = sampler
        self._samples: dict[str, cpu_profile.Samples] = {}
        self._counts: counts.Counts = {}
        self._directory = directory
        self._seconds = 0.0
        self._before: dict[str, float] = {}
        self._after: dict[str, float] = {}
        self._arithmetic_ms: list[float] = []

    def begin(self) -> None:
        """Start to measure time and CPU."""
        if self._sampler is not None:
            self._sampler.begin(pids_of(self._directory, ()))
            self._counts = counts.so_far(self._directory)
        self._arithmetic_ms = [speed.arithmetic_ms()]
        self._before = cpu_of(self._pids)
        self._seconds = -runtime.monotonic()

    def end(self, count: int, *, tail_s: float = 0) -> None:
        """Stop to measure time, and CPU `tail_s` seconds later. count: number of operations"""
        self._seconds += runtime.monotonic()
        runtime.sleep(tail_s)
        self._after = cpu_of(self._pids)
        if self._sampler is not None:
            self._samples = self._sampler.end()
            self._counts = counts.between(self._counts, counts.so_far(self._directory))
        self._arithmetic_ms.append(speed.arithmetic_ms())
        self.count = count

    def add(self, what: str, seconds: float) -> None:
        """Add the duration of one operation."""
        self.times.setdefault(what, []).append(seconds)

    def as_dict(self) -> dict[str, typing.Any]:
        """Return all figures, with milliseconds and CPU seconds for each operation."""
        used = {name: self._after[name] - self._before[name] for name in self._pids}
        kinds: dict[str, float] = {}
        for name, seconds in used.items():
            kind = name.split('.')[0]
            kinds[kind] = kinds.get(kind, 0.0) + seconds
        return {
            'scenario': self.scenario,
            'operations': self.count,
            'seconds': self._seconds,
            'per_second': self.count / self._seconds if self._seconds else None,
            'milliseconds': {what: _percentiles(times) for what, times in self.times.items()},
            'cpu_s_per_operation': sum(used.values()) / max(1, self.count),
            'cpu_ms_per_operation_by_kind': {
                kind: 1000 * seconds / max(1, self.count) for kind, seconds in kinds.items()
            },
            'cpu_ms_per_operation_by_part': self._by_part(used),
            'counts_per_operation': self._each(counts.total(self._counts)),
            'counts_per_operation_by_daemon': {
                daemon: self._each(done) for daemon, done in self._counts.items()
            },
            'arithmetic_ms': self._arithmetic_ms,
            'failures': self.failures,
        }

    def _each(self, done: Mapping[str, float]) -> dict[str, float]:
        return {what: number / max(1, self.count) for what, number in sorted(done.items())}

    def _by_part(self, used: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return {kind of daemon: {part: milliseconds}} from the shares of samples of a profile."""
        found: dict[str, dict[str, float]] = {}
        for name, samples in self._samples.items():
            parts = found.setdefault(name.split('.')[0], {})
            for part, number in samples.items():
                spent_ms = 1000 * used[name] * number / samples.total()
                parts[part] = parts.get(part, 0.0) + spent_ms / max(1, self.count)
        return found

    def print(self, *, as_json: bool) -> None:
        """Print the figures as text or as JSON."""
        figures = self.as_dict()
        if as_json:
            print(json.dumps(figures, indent=2))
            return
        print(
            f'{figures["operations"]} × {self.scenario} in {figures["seconds"]:.2f} s: '
            f'{figures["per_second"]:.1f}/s, '
            f'{1000 * figures["cpu_s_per_operation"]:.1f} ms of CPU each'
        )
        for what, values in figures['milliseconds'].items():
            print(f'  {what}: p50 {values["p50"]:.0f} ms, p95 {values["p95"]:.0f} ms')
        for kind, milliseconds in sorted(figures['cpu_ms_per_operation_by_kind'].items()):
            print(f'  CPU {kind}: {milliseconds:.1f} ms')
            parts = figures['cpu_ms_per_operation_by_part'].get(kind, {})
            for part, spent in sorted(parts.items(), key=lambda each: -each[1]):
                print(f'    {part}: {spent:.1f} ms')
        for what, number in figures['counts_per_operation'].items():
            print(f'  {what}: {number:.1f}')
        for daemon, done in sorted(figures['counts_per_operation_by_daemon'].items()):
            print(f'  by {daemon}:')
            for what, number in done.items():
                print(f'    {what}: {number:.1f}')
        before, after = figures['arithmetic_ms']
        print(f'  arithmetic: {before:.1f} ms before, {after:.1f} ms after')
        for failure in self.failures:
            print(f'  failed: {failure}')


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    if len(times) < 2:
        return {'p50': 1000 * times[0], 'p95': 1000 * times[0]}
    cuts = statistics.quantiles(times, n=20, method='inclusive')
    return {'p50': 1000 * cuts[9], 'p95': 1000 * cuts[18]}
