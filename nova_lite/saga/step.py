"""A saga and its steps, as data and plain methods."""

import abc
import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Pending:
    """What a step returns whose effect is under way: look again in `wake_in` seconds."""

    wake_in: float = 1.0
    detail: str | None = None


@dataclasses.dataclass(frozen=True)
class Step:
    """One effect with its undo; both may run twice, and undo when nothing was done.

    name: the words of the spec or the reference
    pivot: one transaction; once it is done nothing is undone any more
    """

    name: str
    do: typing.Callable
    undo: typing.Callable | None = None
    pivot: bool = False


class Saga(abc.ABC):
    """Base of every saga: made anew from its journal row each time it is run.

    world: what the steps work with (databases, RPC clients), handed in
    ctxt: the user's context, fenced by this saga's uuid and epoch
    data: {step name: what the step returned}, of finished steps
    error: {'type', 'message', 'kind'} of the first failure, while undoing
    """

    kind = None

    def __init__(self, world, record, ctxt):
        self.world = world
        self.uuid = record.uuid
        self.instance_uuid = record.instance_uuid
        self.epoch = record.epoch
        self.arguments = record.arguments
        self.data = dict(record.data)
        self.error = record.error
        self.ctxt = ctxt.for_saga(record.uuid, record.epoch)

    @abc.abstractmethod
    def steps(self):
        """The steps, in order."""

    def key(self, step):
        """The idempotency key of one step, for the far side."""
        return f'{self.uuid}/{step}'
