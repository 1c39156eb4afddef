"""Live migration by pre-copy, as a pure function of parameters and time.

The disks are copied once, at the beginning. Then memory is copied in rounds: the first round sends
all memory, each further round the memory that the guest wrote during the round before. If the rest
can be sent within the allowed downtime, the guest is stopped, the rest is sent, and the guest is
handed over. The copy of a guest that writes faster than the link sends never ends, unless
auto-converge slows the guest down, or it is forced: the guest is paused until it is copied, or
switched to post-copy (it leaves at once and fetches the rest afterwards).

Sizes are MB (2**20 bytes), rates MB/s, times seconds since the copy began.
"""

from collections.abc import Iterator
import dataclasses
import enum
import math
from typing import Any

MB = 1024 * 1024
POST_COPY_DOWNTIME_S = 0.05
# Auto-converge: the guest loses 20 % of its time from the third round on, 10 % more
# each round. At the limit it writes at half the link's rate at most.
THROTTLE_FIRST_ROUND = 2
THROTTLE_START = 20
THROTTLE_STEP = 10
THROTTLE_LIMIT = 99


class Phase(enum.StrEnum):
    DISK = 'disk'
    MEMORY = 'memory'
    PAUSED = 'paused'
    POST_COPY = 'post-copy'
    SWITCHOVER = 'switchover'
    COMPLETED = 'completed'


class ForceMode(enum.StrEnum):
    PAUSE = 'pause'
    POST_COPY = 'post-copy'


@dataclasses.dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of a copy. converges: None: the rates decide; False and True override them"""

    memory_mb: float
    disk_mb: float
    bandwidth_mb_s: float
    dirty_rate_mb_s: float
    max_downtime_ms: int = 300
    auto_converge: bool = False
    converges: bool | None = None

    @property
    def dirty(self) -> float:
        """Return the rate at which the guest writes, as `converges` wants it."""
        if self.converges is None:
            return self.dirty_rate_mb_s
        if self.converges:
            return min(self.dirty_rate_mb_s, self.bandwidth_mb_s / 2)
        return max(self.dirty_rate_mb_s, self.bandwidth_mb_s)

    @property
    def throttled(self) -> bool:
        """Return whether auto-converge must throttle the guest."""
        return (
            self.auto_converge
            and self.converges is not False
            and self.dirty > self.bandwidth_mb_s / 2
        )

    @property
    def threshold_mb(self) -> float:
        """Return the largest rest for which the guest may be stopped."""
        if self.converges is False:
            return 0.0
        return self.bandwidth_mb_s * self.max_downtime_ms / 1000

    @property
    def disk_seconds(self) -> float:
        return self.disk_mb / self.bandwidth_mb_s


@dataclasses.dataclass(frozen=True, slots=True)
class Force:
    """The command to end it, and the time at which it took effect."""

    at: float
    mode: ForceMode


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """Progress of the copy. Sizes in bytes; processed never falls."""

    phase: Phase
    elapsed: float
    iteration: int
    throttle_percent: int
    downtime_ms: int
    memory_total: int
    memory_processed: int
    memory_remaining: int
    disk_total: int
    disk_processed: int
    disk_remaining: int

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {'phase': str(self.phase)}


@dataclasses.dataclass(frozen=True, slots=True)
class Round:
    """One pass over memory: it begins `start` s after the disks, sends `amount`."""

    number: int
    start: float
    amount: float
    dirty: float
    throttle: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Timeline:
    """Times at which the guest leaves the source, and all is copied (inf: never)."""

    handover: float
    completed: float
    downtime: float


def timeline(params: Parameters, force: Force | None = None) -> Timeline:
    """Return when the guest is handed over and the copy is complete."""
    natural = _natural_timeline(params)
    if force is None or force.at >= natural.completed - natural.downtime:
        return natural
    if force.mode is ForceMode.POST_COPY:
        handover = max(force.at, params.disk_seconds)
        if handover >= natural.completed - natural.downtime:
            return natural
        rest = _memory_left(params, handover) / params.bandwidth_mb_s
        return Timeline(handover, handover + rest, POST_COPY_DOWNTIME_S)
    rest = _disk_left(params, force.at) + _memory_left(params, force.at)
    completed = force.at + rest / params.bandwidth_mb_s
    return Timeline(completed, completed, completed - force.at)


def progress(params: Parameters, elapsed: float, force: Force | None = None) -> Progress:
    """Return the phase and counters `elapsed` seconds after the copy began."""
    ends = timeline(params, force)
    elapsed = min(max(elapsed, 0.0), ends.completed)
    phase = _phase(params, elapsed, force, ends)
    number, throttle = 0, 0
    if elapsed > params.disk_seconds:
        at = elapsed if force is None else min(elapsed, max(force.at, params.disk_seconds))
        last = _round_at(params, at - params.disk_seconds)
        number, throttle = last.number + 1, last.throttle
    disk_left = _disk_left(params, elapsed)
    sent = max(0.0, elapsed - params.disk_seconds) * params.bandwidth_mb_s
    if phase is Phase.COMPLETED:
        sent = _sent(params, ends.completed)
        left = 0.0
    elif force is not None and phase in (Phase.PAUSED, Phase.POST_COPY):
        left = (ends.completed - max(elapsed, params.disk_seconds)) * params.bandwidth_mb_s
    else:
        left = _round_left(params, elapsed)
    settled = phase in (Phase.COMPLETED, Phase.POST_COPY)
    return Progress(
        phase,
        elapsed,
        number,
        throttle,
        downtime_ms=round(ends.downtime * 1000) if settled else 0,
        memory_total=round(params.memory_mb * MB),
        memory_processed=round(sent * MB),
        memory_remaining=round(min(max(left, 0.0), params.memory_mb) * MB),
        disk_total=round(params.disk_mb * MB),
        disk_processed=round(params.disk_mb * MB) - round(disk_left * MB),
        disk_remaining=round(disk_left * MB),
    )


# ---- the rounds -----------------------------------------------------------


def _opening_rounds(params: Parameters) -> Iterator[Round]:
    """Yield the rounds up to the one from which the guest's rate stays the same."""
    current = Round(0, 0.0, params.memory_mb, params.dirty)
    yield current
    if not params.throttled:
        return
    while current.throttle < THROTTLE_LIMIT and current.amount > params.threshold_mb:
        number = current.number + 1
        throttle = 0
        if number >= THROTTLE_FIRST_ROUND:
            steps = number - THROTTLE_FIRST_ROUND
            throttle = min(THROTTLE_LIMIT, THROTTLE_START + THROTTLE_STEP * steps)
        current = Round(
            number,
            _end(params, current),
            _next_amount(params, current),
            _slowed(params, throttle),
            throttle,
        )
        yield current


def _slowed(params: Parameters, throttle: int) -> float:
    """Return the rate at which the guest writes when it loses `throttle` percent of its time."""
    dirty = params.dirty * (100 - throttle) / 100
    if throttle == THROTTLE_LIMIT:
        return min(dirty, params.bandwidth_mb_s / 2)
    return dirty


def _end(params: Parameters, current: Round) -> float:
    return current.start + current.amount / params.bandwidth_mb_s


def _next_amount(params: Parameters, current: Round) -> float:
    written = current.amount * (current.dirty / params.bandwidth_mb_s)
    return min(params.memory_mb, written)


def _natural_timeline(params: Parameters) -> Timeline:
    """Return the timeline of a copy that is not forced."""
    for last in _opening_rounds(params):
        if last.amount <= params.threshold_mb:
            break
    else:
        ratio = last.dirty / params.bandwidth_mb_s
        if ratio >= 1:
            return Timeline(math.inf, math.inf, math.inf)
        last = _later_round(params, last, _rounds_until(params, last, ratio))
    completed = params.disk_seconds + _end(params, last)
    return Timeline(completed, completed, last.amount / params.bandwidth_mb_s)


def _rounds_until(params: Parameters, first: Round, ratio: float) -> int:
    """Return how many rounds after `first`, each `ratio` of the one before, reach the threshold."""
    if ratio == 0:
        return 1
    return max(1, math.ceil(math.log(params.threshold_mb / first.amount) / math.log(ratio)))


def _later_round(params: Parameters, first: Round, count: int) -> Round:
    """Return the round `count` after `first`, at the same rate of writing."""
    ratio = first.dirty / params.bandwidth_mb_s
    seconds = first.amount / params.bandwidth_mb_s
    if ratio >= 1:
        # What the guest writes in a round covers all memory again.
        seconds = params.memory_mb / params.bandwidth_mb_s
        return dataclasses.replace(
            first,
            number=first.number + count,
            start=first.start + count * seconds,
            amount=params.memory_mb,
        )
    # The sum of a geometric series, in a form that is exact for ratios next to 1.
    total = seconds
    if ratio > 0:
        total *= -math.expm1(count * math.log(ratio)) / (1 - ratio)
    return dataclasses.replace(
        first,
        number=first.number + count,
        start=first.start + total,
        amount=first.amount * ratio**count,
    )


def _round_at(params: Parameters, since: float) -> Round:
    """Return the round that runs `since` seconds after the disks were copied."""
    for last in _opening_rounds(params):
        if last.amount <= params.threshold_mb or since < _end(params, last):
            return last
    return _later_round(params, last, _rounds_within(params, last, since - last.start))


def _rounds_within(params: Parameters, first: Round, span: float) -> int:
    """Return how many whole rounds from `first` on fit into `span` seconds."""
    ratio = first.dirty / params.bandwidth_mb_s
    seconds = first.amount / params.bandwidth_mb_s
    if ratio >= 1:
        return math.floor(span / seconds)
    last = _rounds_until(params, first, ratio)
    if ratio == 0:
        return last
    left = 1 - span * (1 - ratio) / seconds
    if left <= 0:
        return last
    return min(last, math.floor(math.log(left) / math.log(ratio)))


# ---- what is left ---------------------------------------------------------


def _disk_left(params: Parameters, elapsed: float) -> float:
    return max(0.0, params.disk_mb - elapsed * params.bandwidth_mb_s)


def _round_left(params: Parameters, elapsed: float) -> float:
    """Return the amount that the running round has still to send."""
    since = elapsed - params.disk_seconds
    if since <= 0:
        return params.memory_mb
    current = _round_at(params, since)
    return max(0.0, current.amount - (since - current.start) * params.bandwidth_mb_s)


def _memory_left(params: Parameters, elapsed: float) -> float:
    """Return what would have to be sent if the guest stopped now."""
    since = elapsed - params.disk_seconds
    if since <= 0:
        return params.memory_mb
    current = _round_at(params, since)
    written = (since - current.start) * current.dirty
    return min(params.memory_mb, _round_left(params, elapsed) + written)


def _sent(params: Parameters, elapsed: float) -> float:
    return max(0.0, elapsed - params.disk_seconds) * params.bandwidth_mb_s


def _phase(params: Parameters, elapsed: float, force: Force | None, ends: Timeline) -> Phase:
    if elapsed >= ends.completed:
        return Phase.COMPLETED
    if elapsed >= ends.handover:
        return Phase.POST_COPY
    forced = force is not None and ends != _natural_timeline(params)
    if force is not None and forced and force.mode is ForceMode.PAUSE and elapsed >= force.at:
        return Phase.PAUSED
    if elapsed < params.disk_seconds:
        return Phase.DISK
    if not forced and elapsed >= ends.completed - ends.downtime:
        return Phase.SWITCHOVER
    return Phase.MEMORY
