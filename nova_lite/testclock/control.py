"""What a user does to the clock: freeze, advance, change the rate, resume.

An advance goes in steps. Before each of them the process has finished all that was due, so
that a timeout passes only for what really waits. A step ends at the next deadline of work in
progress, and periodic tasks run once in each.
"""

import collections.abc
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.testclock import clock as clock_module
from nova_lite.testclock import quiet

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
        'The clock was advanced by %(done)g s of %(seconds)g s: the cloud still works for '
        'requests after %(limit)g s. Advance the rest when it is idle'
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
        self._stop: runtime.Event | None = None
        self._driver: runtime.Thread | None = None

    def show(self) -> dict[str, typing.Any]:
        """Return {now, ahead_s, frozen, rate}."""
        return {
            'now': self._clock.now().isoformat(timespec='milliseconds'),
            'ahead_s': round(self._clock.now().timestamp() - self._system.now().timestamp(), 3),
            'frozen': self._clock.state.frozen is not None,
            'rate': self._rate,
        }

    def freeze(self) -> None:
        """Stop time."""
        with self._switch:
            self._end_rate()
            self._clock.freeze()
        LOG.info('The clock is frozen at %s', self._clock.now())

    def resume(self) -> None:
        """Let time pass at the rate of the system's clock."""
        with self._switch:
            self._end_rate()
            self._clock.resume()
            self._record(self._clock.state.ahead_s)
        LOG.info('The clock continues at %s', self._clock.now())

    def advance(self, seconds: float) -> None:
        """Move ahead by `seconds` and let the cloud do what has become due. Raise Busy."""
        if not 0 < seconds <= LONGEST_ADVANCE_S:
            raise exception.Invalid(
                reason=f'seconds must be above 0 and at most {LONGEST_ADVANCE_S:.0f}'
            )
        with self._turn:
            done = self._move(seconds, BUSY_LIMIT_S)
        LOG.info('The clock was advanced by %s s to %s', done, self._clock.now())
        if done < seconds:
            raise Busy(done=done, seconds=seconds, limit=BUSY_LIMIT_S)

    def set_rate(self, rate: float) -> None:
        """Let time pass `rate` times as fast as the system's, slower while the cloud works."""
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

    def _move(self, seconds: float, limit_s: float) -> float:
        """Move ahead in steps; return by how much, less if the cloud works longer than that."""
        longest = max(SHORT_STEP_S, seconds / STEPS)
        done, in_a_row = 0.0, 0
        while quiet.wait(self._system, limit_s):
            left = seconds - done
            if left <= 0:
                break
            step, due = min(left, longest), self._clock.work_due_s()
            if due is None or due > longest:
                in_a_row = 0
            else:
                in_a_row += 1
                step = min(step, max(due, in_a_row * GROWTH_S))
            self._record(self._clock.state.ahead_s + step)
            self._clock.jump(step)
            done = seconds if step == left else done + step
        return done

    def _drive(self, stop: runtime.Event, rate: float) -> None:
        last = self._system.monotonic()
        while not stop.is_set():
            self._system.sleep(TICK_S)
            with self._turn:
                now = self._system.monotonic()
                self._move((now - last) * (rate - 1), TICK_LIMIT_S)
                # What the cloud worked for is not made up for.
                last = self._system.monotonic()

    def _end_rate(self) -> None:
        if self._driver is not None and self._stop is not None:
            self._stop.set()
            self._driver.join()
            self._driver = self._stop = None
        self._rate = 1.0
