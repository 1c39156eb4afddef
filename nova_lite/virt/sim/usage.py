"""Use of CPU, memory, disks and networks by simulated guests, over time.

All of it follows from the profile, the guest and the clock, so that nothing is stored.
"""

import bisect
from collections.abc import Mapping
import dataclasses
import functools
import itertools
import typing

from nova_lite.virt.sim import strict_yaml

MOST_STEPS = 10_000
# The newest time of a step: thirty years.
LATEST_S = 1e9


@dataclasses.dataclass(frozen=True)
class Curve:
    """A value over time, in steps.

    starts: seconds at which the steps begin, ascending, the first 0; values: of each step
    every_s: after so many seconds the steps begin again, counted from 1970 by the clock of the
        host; None: they begin with the guest, and the last one stays
    """

    starts: tuple[float, ...]
    values: tuple[float, ...]
    every_s: float | None = None

    @classmethod
    def flat(cls, value: float) -> typing.Self:
        """Return the curve of a value that does not change."""
        return cls((0.0,), (value,))

    def at(self, started: float, now: float) -> float:
        """Return the value. started, now: seconds since 1970; started: when the guest was booted"""
        seconds = now - started if self.every_s is None else now % self.every_s
        return self.values[bisect.bisect_right(self.starts, seconds) - 1]

    def total(self, started: float, now: float, *, since: float | None = None) -> float:
        """Return the value integrated over the time that a guest has run.

        since: begin of the time to integrate, if it is not when the guest was booted
        """
        since = started if since is None else since
        if self.every_s is None:
            return self._sum(now - started) - self._sum(since - started)
        return self._sum_of_rounds(now) - self._sum_of_rounds(since)

    @functools.cached_property
    def _sums(self) -> tuple[float, ...]:
        """Return the integrals from 0 to the start of each step."""
        lengths = (end - start for start, end in itertools.pairwise(self.starts))
        parts = (value * length for value, length in zip(self.values, lengths, strict=False))
        return (*itertools.accumulate(parts, initial=0.0),)

    def _sum(self, seconds: float) -> float:
        """Return the integral from 0 on."""
        step = bisect.bisect_right(self.starts, seconds) - 1
        return self._sums[step] + self.values[step] * (seconds - self.starts[step])

    def _sum_of_rounds(self, seconds: float) -> float:
        every_s = typing.cast(float, self.every_s)
        rounds, rest = divmod(seconds, every_s)
        return rounds * self._sum(every_s) + self._sum(rest)


@dataclasses.dataclass(frozen=True)
class Usage:
    """The usage of a guest. cpu: share of each of its CPUs; memory: share of its memory

    The others are bytes per second: of each disk, and of each network interface.
    """

    cpu: Curve = Curve.flat(0.05)
    memory: Curve = Curve.flat(0.5)
    read_bytes_s: Curve = Curve.flat(4096)
    write_bytes_s: Curve = Curve.flat(8192)
    rx_bytes_s: Curve = Curve.flat(600)
    tx_bytes_s: Curve = Curve.flat(300)


SHARES = ('cpu', 'memory')
KEYS = tuple(field.name for field in dataclasses.fields(Usage))
DEFAULT = Usage()


def read(item: strict_yaml.Reader) -> Mapping[str, Curve]:
    """Return {key: its curve} of a part of a profile. Raise ProfileError."""
    item.mapping(optional=KEYS)
    return {key: _curve(value, 1.0 if key in SHARES else 1e12) for key, value in item.items()}


def _curve(item: strict_yaml.Reader, most: float) -> Curve:
    if item.is_number():
        return Curve.flat(item.number(0, most))
    item.mapping(required=('steps',), optional=('every',))
    steps = item.at('steps').sequence()
    item.at('steps').expect(0 < len(steps) <= MOST_STEPS, f'must have 1 to {MOST_STEPS} steps')
    starts, values = [], []
    for step in steps:
        pair = step.sequence()
        step.expect(len(pair) == 2, 'must be a pair: seconds and value')
        starts.append(pair[0].number(0, LATEST_S))
        values.append(pair[1].number(0, most))
    item.at('steps').expect(starts[0] == 0, 'the first step must begin at 0')
    item.at('steps').expect(starts == sorted({*starts}), 'must begin one after the other')
    every_s = item.at('every').number(1, LATEST_S) if item.has('every') else None
    if every_s is not None:
        item.at('steps').expect(starts[-1] < every_s, 'must begin before they are repeated')
    return Curve(tuple(starts), tuple(values), every_s)
