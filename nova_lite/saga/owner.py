"""The engine as the parts of one acquisition of a saga use it."""

import typing

from nova_lite.saga import breakpoints
from nova_lite.saga import journal as journal_module
from nova_lite.saga import queue
from nova_lite.saga import step


class Owner(typing.Protocol):
    """The owner of the lease of a saga, which runs the saga.

    stopping: whether no further step may begin
    """

    stopping: bool

    @property
    def journal(self) -> journal_module.Journal:
        """Return the journal. That of an abandoned engine records nothing."""

    @property
    def debugger(self) -> breakpoints.Debugger | None:
        """Return the debugger of this engine, or None."""

    def admit(self, entry: queue.Entry | None, saga: step.Saga) -> bool:
        """Return whether the saga may use the hosts and cells of its next step."""

    def let_go(self, record: journal_module.Record) -> None:
        """Forget a saga whose lease was released."""

    def alarm(self, saga: step.Saga, seconds: float) -> None:
        """Look at a parked saga again after some seconds."""
