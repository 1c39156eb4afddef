"""A saga and its steps, as data and plain methods."""

import abc
import contextlib
import dataclasses
import typing

from nova_lite.saga import journal

# Step.attempts of a pivot that follows what cannot be undone.
FOREVER = 1 << 30
# Keys of Saga.data that the engine keeps for itself.
TRIES, LEFT, NOT_UNDONE, TURN = '_tries', '_left', '_not_undone', '_turn'
PLAN, ASIDE = '_plan', '_aside'

# What is done or taken back; its result is plain JSON, Pending, Skipped or None.
Effect: typing.TypeAlias = typing.Callable[[], typing.Any]


@dataclasses.dataclass(frozen=True)
class Pending:
    """What a step returns whose effect is under way: look again in `wake_in` seconds.

    keeps: of a duty that is alone: no other saga gets the server before the effect ends
    """

    wake_in: float = 1.0
    detail: str | None = None
    keeps: bool = False


class Skipped:
    """What a step returns that had nothing to do: that is not worth a note in the journal."""


@dataclasses.dataclass(frozen=True)
class Clean:
    """How a saga that has ended goes on with a step that it could not do, or not undo.

    do: an effect that may be repeated, and that takes nothing from a later saga
    alone: only while no other saga has the server; else it names all that it touches by
        ids that are this saga's own
    """

    do: Effect
    alone: bool = False


@dataclasses.dataclass(frozen=True)
class Step:
    """One effect with its undo; both may run twice, and undo when nothing was done.

    name: the words of the spec or the reference; it stands once in a plan, and the journal
        knows the step by it
    pivot: one transaction; once it is done nothing is undone any more
    attempts: how often it is tried when it fails; a service that does not answer is
        asked several times in any case. After the pivot there is no end of it
    left: after the pivot: tried `attempts` times all the same, then left; `Saga.left` has
        the error
    clean: what the saga goes on with after its end when the step was left, or could not
        be undone; None where an audit of the hosts or of placement does that
    at: where it takes effect, for who draws or documents sagas
    calls: names of the remote methods that it may call, forward, back and afterwards; a saga
        is not begun where a far side does not know one of them
    """

    name: str
    do: Effect
    undo: Effect | None = None
    pivot: bool = False
    attempts: int = 1
    left: bool = False
    clean: Clean | None = None
    at: typing.Any = None
    calls: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Way:
    """What makes a saga go one way of several: arguments, and what steps have found."""

    arguments: journal.Data = dataclasses.field(default_factory=dict)
    data: journal.Data = dataclasses.field(default_factory=dict)


class Context(typing.Protocol):
    """The user's context, as far as sagas know it."""

    def for_saga(self, saga: str, epoch: int) -> 'Context':
        """Return a copy whose calls are fenced."""

    def guarded(self, guard: typing.Callable[[], None]) -> 'Context':
        """Return a copy that calls `guard` before a neighbour service changes something."""

    def bound(self) -> contextlib.AbstractContextManager[None]:
        """Return a block of work whose log lines carry this context."""


class Saga(abc.ABC):
    """Base of every saga: made anew from its journal row each time it is run.

    world: what the steps work with (databases, RPC clients), handed in
    ctxt: the user's context, fenced by this saga's uuid and epoch
    data: {step name: what the step returned}, of finished steps; a saga may keep more
        in it, which is stored whenever a step ends or waits
    error: {'type', 'message', 'kind'} of the first failure, while undoing
    repeated: steps may have been tried before, by this process or another
    """

    kind: str
    # Further kinds that the class runs.
    also: tuple[str, ...] = ()
    # Of the plans of a kind: another one when steps come, go, or change names or places.
    version = 1
    # One for each plan that there may be.
    ways: tuple[Way, ...] = (Way(),)

    def __init__(self, world: typing.Any, record: journal.Record, ctxt: Context) -> None:
        self.world = world
        self.kind = record.kind
        self.uuid = record.uuid
        self.instance_uuid = record.instance_uuid
        self.epoch = record.epoch
        self.arguments = record.arguments
        self.data = dict(record.data)
        self.error = record.error
        self.repeated = record.epoch > 1
        self.ctxt = ctxt.for_saga(record.uuid, record.epoch)

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """All kinds that the class runs."""
        return (cls.kind, *cls.also)

    @abc.abstractmethod
    def steps(self) -> list[Step]:
        """The steps, in order.

        Those after a step may depend on what it found (`data`), those before it may not.
        """

    def plan(self, steps: list[Step]) -> journal.Data:
        """What the journal keeps of `steps`, to recognize them."""
        return {'version': self.version, 'steps': [step.name for step in steps]}

    def turn(self, step: Step, error: Exception) -> str | None:
        """Name of the step to go back to and try anew, when `step` failed before the pivot.

        None: the saga fails. Steps are undone down to that step, and it as well; then it
        is done again. What it must do otherwise then is to be left in `data`.
        """
        return None

    def key(self, step: str) -> str:
        """The idempotency key of one step, for the far side.

        Another one after the step failed: a far side keeps failures, too.
        step: its name, or 'name/part' of one that asks for several things
        """
        tries = self.data.get(TRIES, {}).get(step.partition('/')[0])
        return f'{self.uuid}/{step}' + (f'/{tries}' if tries else '')

    @property
    def undoing(self) -> bool:
        """Whether steps are being taken back, to the start or to where it turns."""
        return self.error is not None or self.turning

    @property
    def turning(self) -> bool:
        """Whether steps are being taken back only to try something else."""
        return TURN in self.data

    @property
    def left(self) -> dict[str, journal.Failure]:
        """{step name: error} of steps that were left."""
        left: dict[str, journal.Failure] = self.data.get(LEFT, {})
        return left

    @property
    def not_undone(self) -> dict[str, journal.Failure]:
        """{step name: error} of steps whose undo failed."""
        not_undone: dict[str, journal.Failure] = self.data.get(NOT_UNDONE, {})
        return not_undone
