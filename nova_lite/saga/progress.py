"""Progress of a running saga: its position in the journal, and when the journal is written.

The journal is written where recovery needs it. After a step that is recorded later, or that
was skipped, the position in the journal does not change, unless the step has changed the plan. A
saga that is taken over repeats such steps. If one of them fails then, the undo begins at the last
step that the former owner may have begun.
"""

from collections.abc import Iterator
import contextlib
import typing

from nova_lite import runtime
from nova_lite.saga import journal as journal_module
from nova_lite.saga import owner
from nova_lite.saga import step as step_module

FORWARD, UNDO = journal_module.FORWARD, journal_module.UNDO
DONE = journal_module.DONE


class Progress:
    """The steps of a saga during one acquisition, and how much of them is recorded.

    steps: the current plan; pivot: index of the pivot in it, or the number of steps
    """

    steps: step_module.Steps
    pivot: int

    def __init__(
        self,
        engine: owner.Owner,
        saga: step_module.Saga,
        record: journal_module.Record,
    ) -> None:
        self._engine, self._saga, self._record = engine, saga, record
        self._recorded = record.position
        # The note of the last step, which is recorded with the end of the saga.
        self._last: dict[str, typing.Any] = {}
        # Notes of steps that have ended and are not recorded yet.
        self._earlier: list[journal_module.Note] = []
        # The `transaction` of the step that is being recorded.
        self._effect: journal_module.Effect | None = None
        self._plan()
        self._begun = self._former_begun()
        # Whether the journal names the last step that may begin before it is written again. After a
        # park it does not, so the first step to end is recorded.
        last = self._last_unrecorded(record.position)
        self._is_ahead = step_module.PLAN not in record.data or self._begun_before() >= last

    @property
    def _journal(self) -> journal_module.Journal:
        # An engine that was abandoned has another journal.
        journal = self._engine.journal
        return journal if self._effect is None else journal.joined(self._effect)

    @contextlib.contextmanager
    def joining(self, effect: journal_module.Effect) -> Iterator[None]:
        """Make an effect in the transaction that the block writes to the journal."""
        self._effect = effect
        try:
            yield
        finally:
            self._effect = None

    # ---- the plan ----

    def _plan(self) -> None:
        """Find the current steps. Later steps may depend on results of earlier steps."""
        self.steps = self._saga.planned()
        pivots = [i for i, step in enumerate(self.steps) if step.pivot]
        self.pivot = pivots[0] if pivots else len(self.steps)

    def _replans(self) -> bool:
        """Find the current steps. Return whether the plan has changed."""
        before = [step.id for step in self.steps]
        self._plan()
        return before != [step.id for step in self.steps]

    def is_end(self, index: int, direction: str) -> bool:
        """Return whether no step follows in a direction."""
        return index < 0 if direction == UNDO else index >= len(self.steps)

    def _data(self, index: int, *, ahead: bool = False) -> journal_module.Data:
        """Return the saga's data for the journal, with the current plan.

        The plan names the last step that may begin before the journal is written again. A
        release that does not know this part of the plan does not run the saga.
        index: the next step; ahead: whether the saga continues there at once
        """
        self._plan()
        plan = self._saga.plan(self.steps)
        begun = max(self._begun_before(), self._last_unrecorded(index) if ahead else -1)
        if begun > index:
            plan[step_module.BEGUN] = self.steps[begun].id
        self._saga.data[step_module.PLAN] = plan
        return self._saga.data

    # ---- steps that may have begun without a record ----

    def _former_begun(self) -> str | None:
        """Return the last step that may have begun before this acquisition, or None."""
        plan = self._record.data.get(step_module.PLAN)
        if plan is not None:
            begun: str | None = plan.get(step_module.BEGUN)
            return begun
        first = self._record.epoch == 1
        return None if first else self.steps[self._last_unrecorded(0)].id

    def _begun_before(self) -> int:
        """Return the index of the last step that may have begun before this acquisition, or -1."""
        ids = [step.id for step in self.steps]
        return ids.index(self._begun) if self._begun in ids else -1

    def _last_unrecorded(self, index: int) -> int:
        """Return the last step that may begin before the journal is written, from `index` on."""
        last = self.pivot - 1
        while index < last and (self.steps[index].later or self.steps[index].skips):
            index += 1
        return index

    def last_to_undo(self, failed: int) -> int:
        """Return the index of the step at which the undo begins.

        failed: index of the failed step
        """
        last, self._begun = max(failed, self._begun_before()), None
        return last

    # ---- recording ----

    def reach(
        self,
        index: int,
        direction: str,
        step: step_module.Step,
        *,
        what: str | None,
        error: journal_module.Failure | None = None,
    ) -> None:
        """Record the end of a step, now or together with a later step. index: the next step's"""
        note = journal_module.Note(what, step.id, error and error['message'])
        if self.is_end(index, direction):
            data = self._data(index)
            self._saga.results.drop_secrets(each.id for each in self.steps)
            # The step is recorded together with the end of the saga, which follows at once.
            self._last = {'notes': self._with(note), 'position': max(index, 0), 'data': data}
        elif step.later and what == DONE and self.may_defer(index - 1) and not self._replans():
            now = runtime.naive_now()
            self._earlier.append(journal_module.Note(what, step.id, at=now))
        else:
            self._advance(index, direction, note, error)

    def may_defer(self, index: int) -> bool:
        """Return whether the end of the step at `index` may be recorded later."""
        return self._is_ahead or index > self.pivot

    def record_all_before(self, index: int, direction: str) -> None:
        """Record all steps before the pivot if it is next: after it none of them may fail again.

        A pivot with a `transaction` is recorded with them.
        """
        if direction == UNDO or index != self.pivot or self.steps[index].transaction:
            return
        if index != self._recorded:
            note = journal_module.Note(None, self.steps[index - 1].id)
            self._advance(index, direction, note)

    def _advance(
        self,
        index: int,
        direction: str,
        note: journal_module.Note,
        error: journal_module.Failure | None = None,
    ) -> None:
        self._journal.advance(
            self._record,
            self._with(note),
            position=max(index, 0),
            direction=direction,
            data=self._data(index, ahead=direction == FORWARD),
            error=error,
        )
        self._recorded, self._earlier, self._is_ahead = index, [], True

    def _with(self, note: journal_module.Note) -> journal_module.Notes:
        """Return the notes that are not recorded yet, followed by `note`."""
        return [*self._earlier, note]

    def park(self, index: int, seconds: float, attempts: int, note: journal_module.Note) -> None:
        """Record that the saga waits before or in the step at `index`."""
        self._journal.park(
            self._record,
            self._with(note),
            position=index,
            wake_in_s=seconds,
            attempts=attempts,
            data=self._data(index),
        )

    def finish(self, direction: str) -> str:
        """Record the end of a saga. Return its state."""
        state = journal_module.end_of(direction)
        self._journal.finish(self._record, state=state, **self._last)
        return state

    def clean_later(self, index: int, seconds: float) -> None:
        """Record the end of a saga whose duties are due in that many seconds."""
        ended = {'data': self._data(index), **self._last}
        self._journal.clean_later(self._record, wake_in_s=seconds, attempts=1, **ended)
