"""Figures of a run: rates, percentiles, CPU seconds by kind of daemon."""

import glob
import json
import os
import statistics

from nova_lite import runtime
from nova_lite.lab.bench import counts
from nova_lite.lab.bench import speed

TICKS = os.sysconf('SC_CLK_TCK')


def _stat(pid):
    with open(f'/proc/{pid}/stat') as file:
        return file.read().rsplit(')', 1)[1].split()


def children():
    """Return {process: [its children, ...]} of the whole machine."""
    found = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                found.setdefault(int(_stat(name)[1]), []).append(int(name))
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended while we looked
    return found


def tree(pid, below):
    """Yield a process and all below it. below: what `children` gave"""
    yield pid
    for child in below.get(pid, ()):
        yield from tree(child, below)


def cpu_seconds(pid):
    """CPU seconds of one process."""
    try:
        fields = _stat(pid)
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def pids_of(directory, also):
    """Return {KIND.NAME: process id} of a cloud's pid files and of `also`."""
    found = {str(pid): pid for pid in also}
    for path in glob.glob(os.path.join(directory, 'run', '*.pid')):
        with open(path) as file:
            found[os.path.basename(path)[:-4]] = int(file.read())
    return found


def cpu_of(pids):
    """Return {name: CPU seconds so far of the process and all below it}."""
    below = children()
    return {name: sum(cpu_seconds(each) for each in tree(pid, below)) for name, pid in pids.items()}


class Measured:
    """Collects times and CPU of one scenario.

    times: {what: [seconds, ...]}
    sampler: a profile.Sampler that is to say by which parts of the daemons; None
    """

    def __init__(self, scenario, directory, also, *, sampler=None):
        self.scenario, self.times, self.failures = scenario, {}, []
        self.count = 0
        self._pids = pids_of(directory, also)
        self._sampler = sampler
        self._samples, self._counts = {}, {}
        self._directory = directory
        self._seconds = self._before = self._after = None
        self._arithmetic_ms = []

    def begin(self):
        """Start the clock and the CPU counters."""
        if self._sampler is not None:
            self._sampler.begin(pids_of(self._directory, ()))
            self._counts = counts.so_far(self._directory)
        self._arithmetic_ms = [speed.arithmetic_ms()]
        self._before = cpu_of(self._pids)
        self._seconds = -runtime.monotonic()

    def end(self, count, *, tail_s=0):
        """They stop, the CPU counters `tail_s` later; `count` operations were done."""
        self._seconds += runtime.monotonic()
        runtime.sleep(tail_s)
        self._after = cpu_of(self._pids)
        if self._sampler is not None:
            self._samples = self._sampler.end()
            self._counts = counts.between(self._counts, counts.so_far(self._directory))
        self._arithmetic_ms.append(speed.arithmetic_ms())
        self.count = count

    def add(self, what, seconds):
        """Add the duration of one operation."""
        self.times.setdefault(what, []).append(seconds)

    def as_dict(self):
        """Return all figures; milliseconds and CPU seconds per operation."""
        used = {name: self._after[name] - self._before[name] for name in self._pids}
        kinds = {}
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

    def _each(self, done):
        return {what: number / max(1, self.count) for what, number in sorted(done.items())}

    def _by_part(self, used):
        """Return {kind: {part: milliseconds}} of a profile, by each daemon's share of samples."""
        found = {}
        for name, samples in self._samples.items():
            parts = found.setdefault(name.split('.')[0], {})
            for part, number in samples.items():
                spent_ms = 1000 * used[name] * number / samples.total()
                parts[part] = parts.get(part, 0.0) + spent_ms / max(1, self.count)
        return found

    def print(self, *, as_json):
        """Print for people or for programs."""
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


def _percentiles(times):
    if len(times) < 2:
        return {'p50': 1000 * times[0], 'p95': 1000 * times[0]}
    cuts = statistics.quantiles(times, n=20, method='inclusive')
    return {'p50': 1000 * cuts[9], 'p95': 1000 * cuts[18]}
