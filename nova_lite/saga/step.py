"""A saga and its steps, as data and plain methods."""

import abc
import collections.abc
import contextlib
import dataclasses
import typing

from oslo_log import log

from nova_lite.saga import journal
from nova_lite.saga import values

LOG = log.getLogger(__name__)

# Step.attempts of a pivot after a step that cannot be undone.
FOREVER = 1 << 30
# Keys of Saga.data that only the engine uses.
TRIES, GIVEN_UP, NOT_UNDONE, GO_BACK = '_tries', '_left', '_not_undone', '_turn'
# {step id: error} of steps that were not undone or cleaned up, since their cell is not mapped.
GONE = '_gone'
PLAN, ASIDE = '_plan', '_aside'
# {'name', 'step', 'keeps'} of the Leave of a saga that has failed.
LEFT_AS = '_left_as'
# A key of the plan.
BEGUN = 'begun'

# The type of functions that do or undo a step. They return a value of the step's Result, Pending,
# Skipped or None.
Effect: typing.TypeAlias = typing.Callable[[], typing.Any]
# The type of functions of a connection that return a value of the step's Result or None.
Transaction: typing.TypeAlias = typing.Callable[[typing.Any], typing.Any]


def nothing() -> None:
    """Do nothing. This is the `do` of a step whose whole effect is its `transaction`."""


@dataclasses.dataclass(frozen=True)
class Pending:
    """Result of a step whose effect is in progress: call it again in `wake_in` seconds.

    keeps: keep the server locked against other sagas until the effect has ended (only for duties
        with `alone`)
    """

    wake_in: float = 1.0
    detail: str | None = None
    keeps: bool = False


class Skipped:
    """Result of a step with `skips` that had nothing to do. The journal does not record it."""


@dataclasses.dataclass(frozen=True)
class Clean:
    """Cleanup of a step that was given up or not undone, after the end of its saga.

    do: an effect that may be repeated and that does not disturb a later saga
    alone: run `do` only while no other saga has the server. Without it `do` must name all objects
        that it changes by ids of this saga
    """

    do: Effect
    alone: bool = False


@dataclasses.dataclass(frozen=True)
class Leave:
    """The end of a saga that fails and does not undo all of its steps.

    A step after the pivot that fails so is given up at once, and no duty cleans up.

    name: for `Saga.left_as`, which the undo of the first step reads
    keeps: ids of the steps whose effects stay; all other steps are undone
    """

    name: str
    keeps: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Step:
    """One effect with its undo. Both may run twice, and the undo also if nothing was done.

    id: name of the step in the journal, in words with hyphens; never changed, unique in a plan. A
        Result if other steps read its value
    pivot: after this step nothing is undone. It is one transaction, or one request to a service. If
        it fails, its own undo runs too, although the effect may have taken place
    attempts: maximum number of tries before the pivot. A service that does not answer is
        called several times in any case. After the pivot there is no limit
    best_effort: only after the pivot: give the step up after `attempts` tries; `Saga.given_up` has
        the error
    later: record the end of the step together with that of a later step, which saves a transaction.
        So this step may be repeated after the later one has run, and the undo of the steps in
        between must not need its result. The step before the pivot is recorded in any case, unless
        the pivot has a `transaction`
    transaction: an effect in the journal's database, made after `do` in the transaction that
        records the end of the step, and that of the saga if no step follows. So both take place,
        or neither. It takes the connection, and returns the result of the step or None. The
        result must not change the plan. Such a step is never `later`
    skips: whether the step may return Skipped. A skipped step may be repeated as with `later`
    clean: the duty of a step that was given up or could not be undone; None if an audit of the
        hosts or of placement does the cleanup
    harmless: whether the server works as before if the undo of the step fails
    at: the place of the effect, for the timeline and the documentation
    calls: names of the RPC methods that do, undo and clean may call. A saga is refused while a
        host does not support one of them
    title: text for people, in the words of the spec or the reference; default: the words of the id
    """

    id: str
    do: Effect
    undo: Effect | None = None
    pivot: bool = False
    attempts: int = 1
    best_effort: bool = False
    later: bool = False
    transaction: Transaction | None = None
    skips: bool = False
    clean: Clean | None = None
    harmless: bool = False
    at: typing.Any = None
    calls: tuple[str, ...] = ()
    title: str = ''

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, 'title', self.id.replace('-', ' '))
        if self.later and self.transaction is not None:
            raise ValueError(f'Step {self.id} is later, so its transaction would not be made')


Steps: typing.TypeAlias = collections.abc.Sequence[Step]


@dataclasses.dataclass(frozen=True)
class Way:
    """Conditions of one of several plans of a saga: arguments, and results of steps."""

    arguments: journal.Data = dataclasses.field(default_factory=dict)
    data: journal.Data = dataclasses.field(default_factory=dict)


class Context(typing.Protocol):
    """The part of the user's context that sagas use."""

    def for_saga(self, saga: str, epoch: int) -> 'Context':
        """Return a copy whose calls are fenced."""

    def guarded(self, guard: typing.Callable[[], None]) -> 'Context':
        """Return a copy that calls `guard` before a neighbour service changes something."""

    def bound(self) -> contextlib.AbstractContextManager[None]:
        """Return a context manager that binds the log lines of its block to this context."""


class Saga(abc.ABC):
    """Base class of sagas. An object is created from the journal's row for each run.

    world: the databases and RPC clients that the steps use
    ctxt: the user's context, fenced by this saga's uuid and epoch
    arguments: a Value of the class that a kind annotates it with, or else plain JSON
    plain_arguments: the arguments as the journal stores them
    data: the results of finished steps, as the journal stores them; see `results`
    error: {'type', 'message', 'kind'} of the first failure, while undoing
    repeated: whether this or another process may have tried the steps before
    """

    kind: str
    arguments: typing.Any
    # Further kinds of saga that the class runs.
    also: tuple[str, ...] = ()
    # Version of the plans of a kind. It is raised when steps are removed, or change their ids,
    # places or meaning.
    version = 1
    # Earlier versions whose plans the class also runs. `version` of an object is that of its plan.
    former_versions: tuple[int, ...] = ()
    # One Way for each plan that is possible.
    ways: tuple[Way, ...] = (Way(),)

    def __init__(self, world: typing.Any, record: journal.Record, ctxt: Context) -> None:
        self.world = world
        self.kind = record.kind
        self.uuid = record.uuid
        self.instance_uuid = record.instance_uuid
        self.epoch = record.epoch
        self.plain_arguments = record.arguments
        self.arguments = values.arguments(type(self), record.arguments)
        self.data = dict(record.data)
        # A saga without a plan has not begun.
        begun: int | None = self.data.get(PLAN, {}).get('version')
        if begun in self.former_versions:
            self.version = begun
        self.error = record.error
        self.repeated = record.epoch > 1
        self.ctxt = ctxt.for_saga(record.uuid, record.epoch)
        self._loaded: values.Loaded = {}
        self._added: frozenset[str] = frozenset()

    @property
    def results(self) -> values.Results:
        """Return the results of steps, and the notes. Both are stored when a step ends or waits."""
        return values.Results(self.data, self._loaded)

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """Return all kinds that the class runs."""
        return (cls.kind, *cls.also)

    @abc.abstractmethod
    def steps(self) -> Steps:
        """Return the steps, in order.

        The list may depend on the results of steps (`data`), but only after those steps.
        """

    def planned(self) -> Steps:
        """Return the steps, without steps that a release after the begin of the saga has added."""
        return tuple(step for step in self.steps() if step.id not in self._added)

    def plan(self, steps: Steps) -> journal.Data:
        """Return the plan of `steps` that the journal keeps, to recognize them."""
        return {'version': self.version, 'steps': [step.id for step in steps]}

    def keep(self, plan: journal.Data) -> None:
        """Leave out the steps that the plan in the journal does not have.

        The release that began the saga did not have these steps. Raise UnknownPlan if the plan has
        further steps, another order, another version, or a part that this release does not know.
        """
        self._added = frozenset(step.id for step in self.steps()) - frozenset(plan['steps'])
        kept = {key: value for key, value in plan.items() if key != BEGUN}
        ours = self.plan(self.planned())
        if self._added:
            LOG.info(
                'Saga %s began without the steps %s', self.uuid, ', '.join(sorted(self._added))
            )
        if kept != ours:
            raise journal.UnknownPlan(f'its plan is {kept}, here it would be {ours}')

    def go_back(self, step: Step, error: Exception) -> str | None:
        """Return the step to which to go back after `step` failed before the pivot, or None.

        With None the saga fails. Otherwise the steps back to the returned step, inclusive, are
        undone, and it runs again. `data` must contain what it has to do differently.
        """
        return None

    def leave_at(self, step: Step, error: Exception) -> Leave | None:
        """Return the Leave of a saga in which `step` has failed, or None.

        With None the saga retries the step, or undoes its steps, as the plan says. The engine asks
        after each error that it does not take for an outage.
        """
        return None

    @property
    def left_as(self) -> str | None:
        """Return the name of the Leave with which the saga fails, or None."""
        left: journal.Data = self.data.get(LEFT_AS, {})
        return left.get('name')

    def key(self, step: str) -> str:
        """Return the idempotency key of a request of a step.

        The key changes after each failure, because the remote side also remembers failed results.
        step: the step's id, 'undo id', or 'id/part' if the step makes several requests
        """
        tries = self.data.get(TRIES, {}).get(step.partition('/')[0])
        return f'{self.uuid}/{step}' + (f'/{tries}' if tries else '')

    def failed(self, step: str) -> bool:
        """Return whether a step has failed before."""
        return step in self.data.get(TRIES, {})

    @property
    def error_type(self) -> str | None:
        """Return the name of the class of the first failure, or None."""
        return self.error['type'] if self.error else None

    @property
    def undoing(self) -> bool:
        """Return whether steps are being undone, to the start or to the step to go back to."""
        return self.error is not None or self.going_back

    @property
    def going_back(self) -> bool:
        """Return whether steps are being undone only to continue differently."""
        return GO_BACK in self.data

    @property
    def given_up(self) -> dict[str, journal.Failure]:
        """Return {step id: error} of steps that were given up."""
        given_up: dict[str, journal.Failure] = self.data.get(GIVEN_UP, {})
        return given_up

    @property
    def not_undone(self) -> dict[str, journal.Failure]:
        """Return {step id: error} of steps whose undo failed."""
        not_undone: dict[str, journal.Failure] = self.data.get(NOT_UNDONE, {})
        return not_undone
