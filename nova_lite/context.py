"""RequestContext: the user, the project and the id of a request.

Travels with every RPC. It never carries a connection: the receiver knows its
own databases and buses. `saga` and `epoch` fence calls made for a saga: the far
side refuses an older epoch than it has seen. Neighbour services know no epochs:
`guard`, which does not travel, is asked before each change that they are to make.
"""

import collections.abc
import contextlib
import copy
import typing

from oslo_context import context

from nova_lite import runtime
from nova_lite.private_apis import context as storage

_WIRE = (
    'user_id',
    'project_id',
    'user_name',
    'project_name',
    'request_id',
    'roles',
    'is_admin',
    'auth_token',
    'saga',
    'epoch',
    'timestamp',
)

Guard: typing.TypeAlias = typing.Callable[[], None]


class RequestContext(context.RequestContext):
    """Identity and request of one call.

    guard: function that raises if another process has taken over the work; or None
    waited: {service: seconds} in which a request of a user has waited for neighbours in vain; or
        None where no user waits. It does not travel
    """

    guard: Guard | None = None
    waited: dict[str, float] | None = None

    def __init__(
        self,
        *,
        saga: str | None = None,
        epoch: int | None = None,
        timestamp: str | None = None,
        auth_token: str | None = None,
        request_id: str | None = None,
        roles: collections.abc.Iterable[str] | None = None,
        **kwargs: typing.Any,
    ) -> None:
        former = storage.bound()
        self.saga = saga
        self.epoch = epoch
        self.timestamp = timestamp or runtime.now().isoformat()
        super().__init__(
            auth_token=auth_token,
            roles=[r.lower() for r in roles or ()],
            request_id=request_id or runtime.new_request_id(),
            **kwargs,
        )
        if not kwargs.get('overwrite', True):
            # oslo.context makes it the thread's where there is none.
            storage.bind(former)

    def to_wire(self) -> dict[str, typing.Any]:
        """Return the fields that travel, as plain values.

        The token goes along because neighbour services are called in the user's
        name; oslo.messaging and our logs never print it.
        """
        return {name: getattr(self, name) for name in _WIRE}

    @classmethod
    def from_wire(cls, values: dict[str, typing.Any]) -> typing.Self:
        """Return the context of a received message; unknown keys are ignored."""
        return cls(overwrite=False, **{k: values[k] for k in _WIRE if k in values})

    def for_saga(self, saga: str | None, epoch: int | None) -> typing.Self:
        """Return a copy whose calls are fenced by `(saga, epoch)`."""
        other = copy.copy(self)
        other.saga, other.epoch = saga, epoch
        return other

    def in_project(self, project_id: str) -> typing.Self:
        """Return a copy for requests without a user token that create objects in a project."""
        other = copy.copy(self)
        other.project_id = project_id
        return other

    def bound(self) -> contextlib.AbstractContextManager[None]:
        """Return a context manager that binds the log lines of its block to this context."""
        return bound(self)

    def guarded(self, guard: Guard) -> typing.Self:
        """Return a copy that asks `guard` before a neighbour service changes something."""
        other = copy.copy(self)
        other.guard = guard
        return other


@contextlib.contextmanager
def bound(ctxt: context.RequestContext | None) -> collections.abc.Iterator[None]:
    """Bind the log lines of a block of work to a context, or to none (None).

    Threads are reused: a context that is not restored would mark the lines of later work.
    """
    former = storage.bound()
    storage.bind(ctxt)
    try:
        yield
    finally:
        storage.bind(former)


def current() -> context.RequestContext | None:
    """Return the context that this thread's log lines carry, or None."""
    return storage.bound()


def admin() -> RequestContext:
    """Return a context for work that no user requested: periodic tasks, audits, start-up."""
    return RequestContext(is_admin=True, roles=['admin'], overwrite=False)
