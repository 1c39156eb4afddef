"""Duties: cleanup that a saga could not finish and that is retried after its end.

By that time the server is released, and its objects may belong to a later saga. So there are two
kinds of duties. The first kind names objects of the saga by their ids (an attachment, an
image) and is repeated until it succeeds. The second kind runs only while no other saga has
the server, which the journal's unique key ensures, and reads the current state of the server.
Both run under the newest epoch of their saga. While an effect of the second kind is in
progress (`Pending.keeps`), the saga keeps the server.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite.saga import failures
from nova_lite.saga import journal as journal_module
from nova_lite.saga import owner
from nova_lite.saga import retries
from nova_lite.saga import step as step_module
from nova_lite.saga import values

LOG = log.getLogger(__name__)

# Keys of a saga's data: the duties, and the ids of the steps whose duties were done.
DUTIES, CLEANED = '_duties', '_cleaned'
# A note: {step: {kind: ids}} of objects that stay reserved for the server, although it no longer
# has them, until the duty of the step is done.
HELD = values.Result('held', dict[str, dict[str, list[str]]])
FIRST_PAUSE_S = 30
LONGEST_PAUSE_S = 600


def pause_s(attempts: int) -> float:
    """Return the seconds to wait after that many attempts."""
    return retries.pause_s(attempts, FIRST_PAUSE_S, LONGEST_PAUSE_S)


def add(saga: step_module.Saga, step: step_module.Step, error: journal_module.Failure) -> None:
    """Add the duty of a step that was given up or not undone, with the saga's current data.

    A step whose failure is left as it is has no duty.
    """
    is_left = saga.data.get(step_module.LEFT_AS, {}).get('step') == step.id
    if step.clean is None or is_left:
        return
    known = {name: value for name, value in saga.data.items() if not name.startswith('_')}
    duty = {
        'step': step.id,
        'alone': step.clean.alone,
        'data': known,
        'error': error['message'],
    }
    saga.data[DUTIES] = [*saga.data.get(DUTIES, ()), duty]


def owed(data: journal_module.Data) -> set[str]:
    """Return the ids of the steps whose duties are not done yet, by a saga's data."""
    return {duty['step'] for duty in data.get(DUTIES, ())}


def owes(saga: step_module.Saga, step: str) -> bool:
    """Return whether the saga still has to do the duty of a step."""
    return step in owed(saga.data)


def has_duties(saga: step_module.Saga) -> bool:
    """Return whether the saga has duties to do."""
    return bool(saga.data.get(DUTIES))


class Cleaning:
    """One attempt to do all duties of a saga that has ended."""

    def __init__(
        self, engine: owner.Owner, saga: step_module.Saga, record: journal_module.Record
    ) -> None:
        self._engine, self._saga, self._record = engine, saga, record
        # Seconds after which to look again at an effect that is in progress.
        self._look_in: float | None = None
        # Notes about duties that are not done.
        self._notes: list[journal_module.Note] = []

    def go(self) -> str:
        """Try all duties. Return the new state of the saga."""
        # Duties that need the server come last, because all other duties may take long.
        duties = sorted(self._saga.data[DUTIES], key=lambda duty: duty['alone'])
        left = [duty for duty in duties if not self._try(duty)]
        journal, state = self._engine.journal, journal_module.CLEANING
        self._saga.data[DUTIES] = left
        gone = self._saga.data.get(step_module.GONE, ())
        done = {duty['step'] for duty in duties if duty not in left and duty['step'] not in gone}
        self._saga.data[CLEANED] = sorted(done.union(self._saga.data.get(CLEANED, ())))
        if left:
            seconds = self._pause()
            self._engine.let_go(self._record)
            self._engine.alarm(self._saga, seconds)
        else:
            state = journal_module.end_of(self._record.direction)
            note = journal_module.Note('cleaned', self._record.step)
            journal.finish(
                self._record,
                state=state,
                notes=[*self._notes, note],
                position=self._record.position,
                data=self._saga.data,
            )
        return state

    def _pause(self) -> float:
        """Record the pause until the next attempt, and release the lease. Return its seconds."""
        journal, data = self._engine.journal, self._saga.data
        attempts, is_kept = self._record.attempts, self._record.active_for is not None
        if self._engine.stopping and is_kept:
            # The duty of a former attempt is still in progress.
            self._look_in = 0
        if self._look_in is not None:
            journal.clean_soon(self._record, wake_in_s=self._look_in, data=data)
            return self._look_in
        seconds = pause_s(attempts)
        journal.clean_later(
            self._record,
            wake_in_s=seconds,
            attempts=attempts + 1,
            data=data,
            notes=self._notes,
        )
        return seconds

    def _try(self, duty: journal_module.Data) -> bool:
        """Do a duty. Return whether it is finished."""
        if self._engine.stopping:
            return False
        before = duty['error']
        try:
            done = self._do(duty)
        except (journal_module.LostLease, exception.StaleEpoch):
            raise
        except Exception as error:
            if failures.is_gone(error):
                self._abandon(duty, error)
                return True
            LOG.log(
                retries.level(self._record.attempts),
                'Saga %s cannot clean up "%s" of server %s yet (%s: %s), attempt %s',
                self._saga.uuid,
                duty['step'],
                self._saga.instance_uuid,
                type(error).__name__,
                error,
                self._record.attempts,
                exc_info=retries.exc_info(error, self._record.attempts),
            )
            duty['error'] = f'{type(error).__name__}: {error}'
            duty['failures'] = duty.get('failures', 0) + 1
            return False
        if not done and duty['error'] != before:
            LOG.info(
                'Saga %s will clean up "%s" of server %s later: %s',
                self._saga.uuid,
                duty['step'],
                self._saga.instance_uuid,
                duty['error'],
            )
        return done

    def _abandon(self, duty: journal_module.Data, error: Exception) -> None:
        """Note a duty that is dropped, because its cell or host has no mapping."""
        LOG.warning(
            'Saga %s does not clean up "%s" of server %s: %s',
            self._saga.uuid,
            duty['step'],
            self._saga.instance_uuid,
            error,
        )
        gone = self._saga.data.get(step_module.GONE, {})
        self._saga.data[step_module.GONE] = {**gone, duty['step']: failures.describe(error)}
        self._notes.append(journal_module.Note('left', duty['step'], str(error)))

    def _do(self, duty: journal_module.Data) -> bool:
        known = self._saga.data
        self._saga.data = {**known, **duty['data'], step_module.TRIES: _tries(known, duty)}
        try:
            steps = {step.id: step for step in self._saga.steps()}
            step = steps.get(duty['step'])
            if step is None or step.clean is None:
                raise LookupError(f'no step "{duty["step"]}" with a cleanup')
            if step.clean.alone and not self._engine.journal.hold_server(self._record):
                duty['error'] = 'another saga has the server'
                return False
            result = step.clean.do()
            if isinstance(result, step_module.Pending):
                duty['error'] = result.detail or duty['error']
                if result.keeps:
                    self._look_in = result.wake_in
                return False
            return True
        finally:
            self._saga.data = known


def _tries(data: journal_module.Data, duty: journal_module.Data) -> dict[str, int]:
    """Return the counts of failures, which make keys, updated with those of the duty."""
    tries, name = data.get(step_module.TRIES, {}), duty['step']
    return {**tries, name: tries.get(name, 0) + duty.get('failures', 0)}
