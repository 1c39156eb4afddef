"""The figures of a scenario in phases, each with rates, times and CPU of its own."""

import contextlib
import json

from nova_lite.lab.bench import results

# What follows the moment that a client waits for belongs to the move as well.
TAIL_S = 0.5


class Phases:
    """Collects phases, and what the super-conductor held meanwhile.

    footprints: [{'when', 'running', 'waiting', 'memory_mib', 'threads'}, ...]
    """

    def __init__(self, scenario, args):
        self.scenario, self._args = scenario, args
        self.phases, self.footprints = [], []

    @contextlib.contextmanager
    def phase(self, name):
        """Measure what is done within; the block counts with `add` and `failures`."""
        measured = results.Measured(
            name, self._args.state_dir, self._args.also, sampler=self._args.sampler
        )
        measured.begin()
        yield measured
        count = max((len(times) for times in measured.times.values()), default=0)
        measured.end(count, tail_s=TAIL_S)
        self.phases.append(measured)

    @property
    def failures(self):
        return [failure for measured in self.phases for failure in measured.failures]

    def print(self, *, as_json):
        """Print for people or for programs."""
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
