"""One run of a trace: its arrivals and departures in the order of time, with a decision for each.

The state of a run is plain data (`Progress`), so that an interrupted run can be continued.
"""

import collections
from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
import hashlib
import heapq
import math
import resource
import typing

from nova_lite import runtime
from nova_lite.lab.replay import decider
from nova_lite.lab.replay import figures
from nova_lite.lab.replay import flavors as choices
from nova_lite.lab.replay import latencies
from nova_lite.lab.replay import trace as traces
from nova_lite.objects import flavor as flavor_objects

SAMPLES = 200


@dataclasses.dataclass
class Progress:
    """A run so far.

    done: number of arrivals; departures: heap of (seconds, number of the arrival, name)
    stages: {stage: number of requests whose last hosts it refused}
    refused: {stage: number of hosts that it refused to rejected requests}
    moves: {result: servers}, of moves that a study adds to the trace
    digest: hash of all decisions and moves so far
    """

    done: int = 0
    accepted: int = 0
    rejected: int = 0
    departures: list[tuple[float, int, str]] = dataclasses.field(default_factory=list)
    staying: list[str] = dataclasses.field(default_factory=list)
    samples: list[figures.Sample] = dataclasses.field(default_factory=list)
    stages: dict[str, int] = dataclasses.field(default_factory=dict)
    refused: dict[str, int] = dataclasses.field(default_factory=dict)
    moves: dict[str, int] = dataclasses.field(default_factory=dict)
    digest: str = ''
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def living(self) -> list[str]:
        """Return the names of the machines that have a host."""
        return [*self.staying, *(name for _at, _number, name in self.departures)]

    def note(self, name: str, host: str | None) -> None:
        """Add the host of a machine to the digest."""
        self.digest = hashlib.sha256(f'{self.digest} {name} {host or "-"}'.encode()).hexdigest()


@dataclasses.dataclass(frozen=True)
class Work:
    """A trace with a flavor for each size. reference: the size of the reference flavor"""

    trace: traces.Trace
    flavors: choices.Flavors
    reference: traces.Size


# An event at a time of the trace.
Planned = tuple[float, Callable[[Progress], object]]


class Cloud(typing.Protocol):
    """The cloud of a run: a decider.Decider, or a booter.Booter."""

    def check(self) -> None:
        """Raise an error if the cloud does not have the resources that the run counts."""
        ...

    def advance_to(self, at_s: float) -> None:
        """Move the clock of the cloud ahead to a time of the trace."""
        ...

    def place(self, name: str, flavor: flavor_objects.Flavor) -> decider.Placing:
        """Place a machine."""
        ...

    def remove(self, name: str) -> None:
        """Remove a machine that was placed."""
        ...

    def figures(self) -> list[figures.Host]:
        """Return the resources of each host."""
        ...

    def finish(self) -> None:
        """Complete all changes."""
        ...


class Run:
    """Runs a trace with one setting.

    planned: further events, by time
    look(progress): called after each arrival; raises an error to interrupt the run
    """

    def __init__(
        self,
        work: Work,
        cloud: Cloud,
        *,
        progress: Progress | None = None,
        planned: Sequence[Planned] = (),
        look: Callable[[Progress], object] = lambda progress: None,
    ) -> None:
        self._trace, self._flavors, self._reference = work.trace, work.flavors, work.reference
        self._cloud, self._look = cloud, look
        self.progress = progress or Progress()
        self._planned = collections.deque(planned)
        self.latencies = latencies.Latencies()
        self._clock = runtime.Runtime()

    def run(self) -> None:
        """Run the rest of the trace. All claims are sent, even if the run is interrupted."""
        began, cpu = self._clock.monotonic(), _cpu_s()
        self._cloud.check()
        try:
            for machine in self._trace.machines(self.progress.done):
                self._pass_until(machine.at_s)
                self._arrive(machine)
                self._look(self.progress)
            self._pass_until(self._trace.ended_s)
            self._sample(self._trace.ended_s)
            self._cloud.check()
        finally:
            self._cloud.finish()
            self.progress.wall_s += self._clock.monotonic() - began
            self.progress.cpu_s += _cpu_s() - cpu

    def remove_all(self) -> None:
        """Remove all machines from the cloud."""
        for name in self.progress.living:
            self._cloud.remove(name)
        self._cloud.check()

    # ---- events ----

    def _arrive(self, machine: traces.Machine) -> None:
        progress, flavor = self.progress, self._flavors[machine.size]
        began = self._clock.monotonic()
        placing = self._cloud.place(machine.name, flavor)
        self.latencies.add(self._clock.monotonic() - began)
        # Nothing below can be interrupted: a machine is either counted or not placed.
        progress.done += 1
        progress.note(machine.name, placing.host)
        if placing.host is None:
            progress.rejected += 1
            _count(progress.stages, placing.stage, 1)
            for stage, hosts in placing.refused.items():
                _count(progress.refused, stage, hosts)
            return
        progress.accepted += 1
        if machine.leaves_s is None:
            progress.staying.append(machine.name)
        else:
            heapq.heappush(progress.departures, (machine.leaves_s, progress.done, machine.name))

    def _pass_until(self, at_s: float) -> None:
        """Remove the machines that leave until a time, and take the samples that are due."""
        departures, planned = self.progress.departures, self._planned
        while True:
            leaves_s = departures[0][0] if departures else math.inf
            due_s = min(leaves_s, planned[0][0] if planned else math.inf)
            if due_s > at_s:
                break
            self._sample_before(due_s)
            self._cloud.advance_to(due_s)
            if leaves_s <= due_s:
                _due_s, _number, name = heapq.heappop(departures)
                self._cloud.remove(name)
            else:
                _due_s, event = planned.popleft()
                event(self.progress)
        self._sample_before(at_s)
        self._cloud.advance_to(at_s)

    def _sample_before(self, at_s: float) -> None:
        """Take the samples that are due before an event."""
        begin, end = self._trace.began_s, self._trace.ended_s
        while end > begin and len(self.progress.samples) < SAMPLES:
            due = begin + (end - begin) * (len(self.progress.samples) + 1) / (SAMPLES + 1)
            if due >= at_s:
                break
            self._sample(due)

    def _sample(self, at_s: float) -> None:
        self.progress.samples.append(
            figures.sample(
                at_s,
                self._cloud.figures(),
                self._reference,
                accepted=self.progress.accepted,
                rejected=self.progress.rejected,
            )
        )


def _cpu_s() -> float:
    """Return the CPU seconds of this process, which include those of placement."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


def _count(counts: dict[str, int], name: str, more: int) -> None:
    counts[name] = counts.get(name, 0) + more


def summary(progress: Progress) -> dict[str, typing.Any]:
    """Return the figures of a run that has ended. Equal seeds give equal figures."""
    last = progress.samples[-1]
    return {
        'arrivals': progress.done,
        'accepted': progress.accepted,
        'rejected': progress.rejected,
        'acceptance': last.acceptance,
        'first_rejected_at_s': next(
            (each.at_s for each in progress.samples if each.rejected), None
        ),
        'rejected_by': dict(sorted(progress.stages.items())),
        'hosts_refused_by': dict(sorted(progress.refused.items())),
        'at_the_end': {**dataclasses.asdict(last), 'stranded': last.stranded},
        'mean': _means(progress.samples),
        'moves': dict(sorted(progress.moves.items())),
        'decisions_sha256': progress.digest,
    }


def _means(samples: list[figures.Sample]) -> dict[str, float]:
    found = {}
    for name in ('vcpus', 'memory', 'empty_hosts', 'jain', 'variation', 'stranded'):
        found[name] = sum(getattr(each, name) for each in samples) / len(samples)
    return found
