"""The figures of a scenario in phases, each with separate rates, times and CPU."""

import argparse
from collections.abc import Iterator
import contextlib
import json
import typing

from nova_lite.lab.bench import results

# The work of a move continues for this long after the status that a client waits for.
TAIL_S = 0.5


class Phases:
    """Collects phases, and the memory and threads of the super-conductor.

    footprints: [{'when', 'running', 'waiting', 'memory_mib', 'threads'}, ...]
    """

    def __init__(self, scenario: str, args: argparse.Namespace) -> None:
        self.scenario, self._args = scenario, args
        self.phases: list[results.Measured] = []
        self.footprints: list[dict[str, typing.Any]] = []

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[results.Measured]:
        """Measure a block. Yield the Measured, to which the block adds durations and failures."""
        measured = results.Measured(
            name, self._args.state_dir, self._args.also, sampler=self._args.sampler
        )
        measured.begin()
        yield measured
        count = max((len(times) for times in measured.times.values()), default=0)
        measured.end(count, tail_s=TAIL_S)
        self.phases.append(measured)

    @property
    def failures(self) -> list[str]:
        return [failure for measured in self.phases for failure in measured.failures]

    def print(self, *, as_json: bool) -> None:
        """Print the figures as text or as JSON."""
        if as_json:
            print(
                json.dumps(
                    {
                        'scenario': self.scenario,
                        'count': self._args.count,
                        'concurrency': self._args.concurrency,
                        'phases': [measured.as_dict() for measured in self.phases],
                        'super_conductor': self.footprints,
                    },
                    indent=2,
                )
            )
            return
        for measured in self.phases:
            measured.print(as_json=False)
        for found in self.footprints:
            print(
                f'super-conductor, {found["when"]}: {found["running"]} moves run, '
                f'{found["waiting"]} wait: {found["memory_mib"]:.0f} MiB, '
                f'{found["threads"]} threads'
            )
