"""Control of the clock: freeze, advance, change the rate, resume.

An advance goes in steps. Before each of them the process has finished all that was due, so
that a timeout passes only for what really waits. A step ends at the next deadline of work in
progress, and periodic tasks run once in each.
"""

import collections.abc
import contextlib
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.testclock import clock as clock_module
from nova_lite.lab.testclock import quiet

LOG = log.getLogger(__name__)

LONGEST_ADVANCE_S = 366 * 86400.0
HIGHEST_RATE = 100_000.0
# An advance takes at least so many steps, each of them at most so short.
STEPS, SHORT_STEP_S = 60, 10.0
# By so many seconds each step in a row that ends for work in progress is longer than the last.
GROWTH_S = 0.01
BUSY_LIMIT_S = 60.0
TICK_S, TICK_LIMIT_S = 0.02, 1.0


class Busy(exception.Conflict):
    msg = (
        'The clock was advanced by %(done).0f s of %(seconds).0f s: the cloud still works for '
        'requests after %(limit)g s. Advance the rest when it is idle'
    )


class Interrupted(exception.Conflict):
    msg = (
        'The clock was advanced by %(done).0f s of %(seconds).0f s: meanwhile it was resumed or given '
        'another rate, or the cloud was reset or stopped. Advance the rest'
    )


class Control:
    """Changes the clock of this process.

    record(ahead_s): called before the clock moves ahead, to keep it over a restart
    """

    def __init__(
        self,
        clock: clock_module.Clock,
        record: collections.abc.Callable[[float], None] = lambda ahead_s: None,
    ) -> None:
        self._clock, self._record = clock, record
        self._system = runtime.Runtime()
        self._rate = 1.0
        # One moves the clock at a time, and one switches between frozen and the rates.
        self._turn, self._switch = runtime.Lock(), runtime.RLock()
        # How often an advance was to end early. Each step looks at it and moves under the lock.
        self._interrupts, self._step = 0, runtime.Lock()
        self._stop: runtime.Event | None = None
        self._driver: runtime.Thread | None = None

    def show(self) -> dict[str, typing.Any]:
        """Return {now, ahead_s, frozen, rate}."""
        return {
            'now': self._clock.now().isoformat(timespec='milliseconds'),
            'ahead_s': round(self._clock.now().timestamp() - self._system.now().timestamp(), 3),
            'frozen': self.is_frozen,
            'rate': self._rate,
        }

    @property
    def is_frozen(self) -> bool:
        """Return whether time stands still."""
        return self._clock.state.frozen is not None

    def freeze(self) -> None:
        """Stop time."""
        with self._switch:
            self._end_rate()
            self._clock.freeze()
        LOG.info('The clock is frozen at %s', self._clock.now())

    def resume(self) -> None:
        """Make time pass at the rate of the system's clock. An advance in progress ends."""
        with self._switch:
            with self._step:
                self._interrupts += 1
            self._end_rate()
            self._clock.resume()
            self._record(self._clock.state.ahead_s)
        LOG.info('The clock continues at %s', self._clock.now())

    @contextlib.contextmanager
    def resumed(self) -> collections.abc.Iterator[None]:
        """Resume for the length of the block: changes of the clock wait for its end."""
        with self._switch:
            self.resume()
            with self._turn:
                yield

    def advance(self, seconds: float) -> None:
        """Move ahead by `seconds` and let the cloud do what has become due.

        Raise Busy, Interrupted.
        """
        if not 0 < seconds <= LONGEST_ADVANCE_S:
            raise exception.Invalid(
                reason=f'seconds must be above 0 and at most {LONGEST_ADVANCE_S:.0f}'
            )
        interrupts = self._interrupts

        def is_wanted() -> bool:
            return self._interrupts == interrupts

        with self._turn:
            done = self._move(seconds, BUSY_LIMIT_S, is_wanted)
        LOG.info('The clock was advanced by %s s to %s', done, self._clock.now())
        if done < seconds and not is_wanted():
            raise Interrupted(done=done, seconds=seconds)
        if done < seconds:
            raise Busy(done=done, seconds=seconds, limit=BUSY_LIMIT_S)

    def set_rate(self, rate: float) -> None:
        """Make time pass `rate` times as fast as the system's, slower while the cloud works."""
        if not 1 <= rate <= HIGHEST_RATE:
            raise exception.Invalid(reason=f'rate must be from 1 to {HIGHEST_RATE:.0f}')
        with self._switch:
            self.resume()
            self._rate = rate
            if rate > 1:
                self._stop = runtime.Event()
                self._driver = runtime.spawn(self._drive, self._stop, rate, name='test-clock')
        LOG.info('The clock runs at rate %s', rate)

    # ---- parts ----

    def _move(
        self, seconds: float, limit_s: float, is_wanted: collections.abc.Callable[[], bool]
    ) -> float:
        """Move ahead in steps while `is_wanted()`; return by how much.

        Less also if the cloud works for longer than `limit_s`.
        """
        longest = max(SHORT_STEP_S, seconds / STEPS)
        done, in_a_row = 0.0, 0
        while quiet.wait(self._system, limit_s, is_wanted):
            left = seconds - done
            if left <= 0:
                break
            step, due = min(left, longest), self._clock.work_due_s()
            if due is None or due > longest:
                in_a_row = 0
            else:
                in_a_row += 1
                step = min(step, max(due, in_a_row * GROWTH_S))
            with self._step:
                if not is_wanted():
                    break
                self._record(self._clock.state.ahead_s + step)
                self._clock.jump(step)
            done = seconds if step == left else done + step
        return done

    def _drive(self, stop: runtime.Event, rate: float) -> None:
        last = self._system.monotonic()
        while not stop.is_set():
            self._system.sleep(TICK_S)
            passed_s = self._system.monotonic() - last
            with self._turn:
                self._move(passed_s * (rate - 1), TICK_LIMIT_S, lambda: not stop.is_set())
                # The time of work and of an advance is not made up for.
                last = self._system.monotonic()

    def _end_rate(self) -> None:
        if self._driver is not None and self._stop is not None:
            self._stop.set()
            self._driver.join()
            self._driver = self._stop = None
        self._rate = 1.0
