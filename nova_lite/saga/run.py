"""Run one saga during one acquisition: forward to the end, or back to the start.

Rules: undo runs newest first and includes the step that failed. A saga may go back to an
earlier step and continue differently from there. After the pivot steps are only retried. An
undo that fails is logged, and the next undo runs. A saga that waits occupies no thread.
`progress` decides when steps are recorded.
"""

import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import metrics
from nova_lite.saga import breakpoints
from nova_lite.saga import cleaning
from nova_lite.saga import failures
from nova_lite.saga import journal as journal_module
from nova_lite.saga import owner
from nova_lite.saga import progress as progress_module
from nova_lite.saga import queue as queue_module
from nova_lite.saga import retries
from nova_lite.saga import step as step_module

LOG = log.getLogger(__name__)

# (index of the next step, direction)
Reached: typing.TypeAlias = tuple[int, str]
FORWARD, UNDO = journal_module.FORWARD, journal_module.UNDO
DONE = journal_module.DONE

# Seconds between attempts: 0.5, 1, 2, ... 30, and for a defect up to 600.
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S, LONGEST_DEFECT_PAUSE_S = 30, 600


def pause_s(attempts: int, error: Exception | None = None) -> float:
    """Return the seconds to wait after that many attempts. error: that of the last attempt"""
    known = error is None or not retries.is_defect(error)
    longest_s = LONGEST_PAUSE_S if known else LONGEST_DEFECT_PAUSE_S
    return retries.pause_s(attempts, FIRST_PAUSE_S, longest_s)


class Run:
    """One acquisition of one saga. entry: its queue.Entry, or None"""

    def __init__(
        self,
        engine: owner.Owner,
        saga: step_module.Saga,
        record: journal_module.Record,
        entry: queue_module.Entry | None = None,
    ) -> None:
        self.engine, self.entry = engine, entry
        self.saga, self.record = saga, record
        self.attempts = saga.data.pop(step_module.ASIDE, record.attempts)
        if engine.debugger is None:
            saga.data.pop(breakpoints.MARK, None)
        self.position = record.position
        # The state of a saga that has ended with its last step.
        self._ended: str | None = None
        self.progress = progress_module.Progress(engine, saga, record)

    def go(self) -> str:
        """Run until the saga ends or waits. Return its state."""
        index, direction = self.record.position, self.record.direction
        while True:
            self.position = max(index, 0)
            if self.progress.is_end(index, direction):
                return self._ended or self._end(direction)
            step = self.progress.steps[index]
            if self.engine.stopping:
                self._log_parked(step, 'this super-conductor stops')
                self._park(0, 'stopping')
                return journal_module.PARKED
            if self._is_stopped(step, direction):
                return journal_module.PARKED
            if not self.engine.admit(self.entry, self.saga):
                busy = 'a host or cell is busy'
                self._log_parked(step, busy)
                self._park(0, 'queued', detail=busy)
                return journal_module.PARKED
            self.progress.record_all_before(index, direction)
            act = self._do if direction == FORWARD else self._undo
            reached = act(index, self.progress.steps[index])
            if reached is None:
                return journal_module.PARKED
            index, direction = reached

    def _is_stopped(self, step: step_module.Step, direction: str) -> bool:
        """Park the saga if a debugger stops it before a step. Return whether it is parked."""
        debugger = self.engine.debugger
        if debugger is None or (direction == UNDO and step.undo is None):
            return False
        before = breakpoints.stopped(self.saga.data)
        if not breakpoints.stops(debugger, self.saga, step.id, direction):
            return False
        what = None
        # The engine looks at it again from time to time, as at each parked saga.
        if before is None:
            what = breakpoints.STOPPED
            self._log_parked(step, 'a debugger stops it there')
        self._park(retries.LONGEST_WAIT_S, what, step.id)
        return True

    def _end(self, direction: str) -> str:
        if cleaning.has_duties(self.saga):
            seconds = cleaning.pause_s(0)
            self.progress.clean_later(self.position, seconds)
            self.engine.let_go(self.record)
            self.engine.alarm(self.saga, seconds)
            return journal_module.CLEANING
        return self.progress.finish(direction)

    # ---- one step: returns the new position of the saga, None if it is parked ----

    def _do(self, index: int, step: step_module.Step) -> Reached | None:
        try:
            result = self._timed(step, FORWARD, step.do)
            if not isinstance(result, step_module.Pending | step_module.Skipped | None):
                self.saga.results.keep(step.id, result)
            if step.transaction and not isinstance(
                result, step_module.Pending | step_module.Skipped
            ):
                return self._do_transaction(index, step, step.transaction)
        except (journal_module.LostLease, exception.StaleEpoch):
            raise
        except Exception as error:
            return self._failed(index, step, error)
        if isinstance(result, step_module.Pending):
            self._wait(step, result)
            return None
        if isinstance(result, step_module.Skipped) and step.skips:
            ends = self.progress.is_end(index + 1, FORWARD)
            if ends or not self.progress.may_defer(index):
                return self._reach(index + 1, FORWARD, step, what=None)
            # The journal is not written: after a takeover the step is skipped again.
            return index + 1, FORWARD
        return self._reach(index + 1, FORWARD, step, what=DONE)

    def _do_transaction(
        self, index: int, step: step_module.Step, transaction: step_module.Transaction
    ) -> Reached:
        """Record the end of a step with its transaction, and the end of the saga if it is the last.

        After an error the saga is as before. The transaction may have taken place.
        """
        data, attempts = dict(self.saga.data), self.attempts

        def effect(connection: typing.Any) -> None:
            result = transaction(connection)
            if result is not None:
                self.saga.results.keep(step.id, result)

        try:
            with self.progress.joining(effect):
                reached = self._reach(index + 1, FORWARD, step, what=DONE)
                if self.progress.is_end(*reached):
                    self._ended = self._end(FORWARD)
        except Exception:
            self.saga.data, self.attempts = data, attempts
            raise
        return reached

    def _undo(self, index: int, step: step_module.Step) -> Reached | None:
        if step.id in self.saga.data.get(step_module.LEFT_AS, {}).get('keeps', ()):
            return self._reach(index - 1, UNDO, step, what='kept')
        try:
            result = self._timed(step, UNDO, step.undo) if step.undo is not None else None
        except (journal_module.LostLease, exception.StaleEpoch):
            raise
        except Exception as error:
            first = index == 0 and failures.is_transient(error)
            if first or self._may_repeat(error):
                # The result of the first step has the server's former states. Without it the server
                # keeps its states.
                self._retry(step, error)
                return None
            self._leave_undone(step, error)
        else:
            if isinstance(result, step_module.Pending):
                self._wait(step, result)
                return None
        if self.saga.data.get(step_module.GO_BACK) == step.id:
            del self.saga.data[step_module.GO_BACK]
            self._forget(index)
            return self._reach(index, FORWARD, step, what='turns')
        return self._reach(index - 1, UNDO, step, what='undone')

    def _leave_undone(self, step: step_module.Step, error: Exception) -> None:
        """Continue after an undo that failed. A step whose cell is gone has nothing to undo."""
        gone = failures.is_gone(error)
        LOG.error(
            'Saga %s: undo of "%s" failed, continuing with the next undo: %s',
            self.saga.uuid,
            step.id,
            error,
            exc_info=not (gone or isinstance(error, exception.Unavailable)),
        )
        key = step_module.GONE if gone else step_module.NOT_UNDONE
        self._note(key, step, failures.describe(error))
        if not gone:
            cleaning.add(self.saga, step, failures.describe(error))

    def _timed(
        self, step: step_module.Step, direction: str, effect: step_module.Effect
    ) -> typing.Any:
        labels = {'kind': self.record.kind, 'step': step.id, 'direction': direction}
        with metrics.timed(metrics.STEPS, **labels):
            return effect()

    def _reach(
        self,
        index: int,
        direction: str,
        step: step_module.Step,
        *,
        what: str | None,
        error: journal_module.Failure | None = None,
    ) -> Reached:
        self.attempts = 0
        self.progress.reach(index, direction, step, what=what, error=error)
        return index, direction

    # ---- failures ----

    def _failed(self, index: int, step: step_module.Step, error: Exception) -> Reached | None:
        """Retry the step, skip it, go back to an earlier step, or undo the saga."""
        tried = self.attempts + 1
        transient = failures.is_transient(error)
        if self._may_repeat(error) or (index == self.progress.pivot and failures.is_unknown(error)):
            self._retry(step, error)
            return None
        leave = self.saga.leave_at(step, error)
        gone = failures.is_gone(error)
        attempts = 1 if failures.is_final(error) or gone or leave else step.attempts
        if not transient:
            self._count_try(step)
            if tried < attempts:
                self._retry(step, error)
                return None
        if index > self.progress.pivot:
            if not (step.best_effort or gone) or tried < attempts:
                self._retry(step, error)
                return None
            return self._give_up(index, step, error, leave)
        self.position = self.progress.last_to_undo(index)
        back_to = self.saga.go_back(step, error)
        if back_to is not None:
            LOG.info('Saga %s goes back to "%s": %s', self.saga.uuid, back_to, error)
            self.saga.data[step_module.GO_BACK] = back_to
            return self._reach(self.position, UNDO, step, what='failed')
        LOG.warning(
            'Saga %s: step "%s" failed, undoing: %s',
            self.saga.uuid,
            step.id,
            error,
            exc_info=retries.is_defect(error),
        )
        self.saga.error = failures.describe(error)
        if leave is not None:
            self._leave(step, leave)
        reached = self._reach(self.position, UNDO, step, what='failed', error=self.saga.error)
        if transient:
            # The request that was not answered may still be in progress. The undo gets a newer
            # epoch, so that the far side refuses the request if it arrives late.
            self._park(0, 'yields')
            return None
        return reached

    def _give_up(
        self,
        index: int,
        step: step_module.Step,
        error: Exception,
        leave: step_module.Leave | None,
    ) -> Reached:
        """Continue after a step that is given up. leave: how the saga fails, or None"""
        LOG.warning(
            'Saga %s: continuing without step "%s", which keeps failing: %s',
            self.saga.uuid,
            step.id,
            error,
        )
        if leave is not None:
            self._leave(step, leave)
        self._note(step_module.GIVEN_UP, step, failures.describe(error))
        cleaning.add(self.saga, step, failures.describe(error))
        return self._reach(index + 1, FORWARD, step, what='left')

    def _leave(self, step: step_module.Step, leave: step_module.Leave) -> None:
        left = {'name': leave.name, 'step': step.id, 'keeps': list(leave.keeps)}
        self.saga.data.setdefault(step_module.LEFT_AS, left)

    def _may_repeat(self, error: Exception) -> bool:
        """Return whether to repeat a step, because a service did not answer.

        A step is not given up while its service cannot be reached.
        """
        few = self.attempts < retries.MANY_ATTEMPTS
        return failures.is_transient(error) and (few or failures.is_outage(error))

    def _retry(self, step: step_module.Step, error: Exception) -> None:
        seconds = pause_s(self.attempts, error)
        self.attempts += 1
        LOG.log(
            retries.level(self.attempts),
            'Saga %s (%s of server %s): step "%s" failed (%s: %s), attempt %s; retrying in %s s',
            self.saga.uuid,
            self.record.kind,
            self.saga.instance_uuid,
            step.id,
            type(error).__name__,
            error,
            self.attempts,
            seconds,
            exc_info=retries.exc_info(error, self.attempts),
        )
        self._park(seconds, 'retries', step.id, f'{type(error).__name__}: {error}')

    def _note(self, key: str, step: step_module.Step, value: typing.Any) -> None:
        self.saga.data[key] = {**self.saga.data.get(key, {}), step.id: value}

    def _count_try(self, step: step_module.Step) -> None:
        tries = self.saga.data.get(step_module.TRIES, {}).get(step.id, 0)
        self._note(step_module.TRIES, step, tries + 1)

    def _forget(self, index: int) -> None:
        """Drop the results of steps that were undone and will be done again."""
        for step in self.progress.steps[index:]:
            self.saga.data.pop(step.id, None)

    def _wait(self, step: step_module.Step, pending: step_module.Pending) -> None:
        if self.record.waits_on != step.id:
            # Only the first poll of a wait is logged and recorded in the journal.
            self._log_parked(step, pending.detail or 'its effect is in progress')
        self._park(pending.wake_in, 'waits', step.id, pending.detail)

    def _log_parked(self, step: step_module.Step, why: str) -> None:
        LOG.info(
            'Saga %s (%s of server %s) is parked at "%s": %s',
            self.saga.uuid,
            self.record.kind,
            self.saga.instance_uuid,
            step.id,
            why,
        )

    def _park(
        self, seconds: float, what: str | None, step: str | None = None, detail: str | None = None
    ) -> None:
        note = journal_module.Note(what, step, detail)
        self.progress.park(self.position, seconds, self.attempts, note)
        # This comes before the alarm, because an engine does not acquire a saga that it holds.
        self.engine.let_go(self.record)
        self.engine.alarm(self.saga, seconds)
