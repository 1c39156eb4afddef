"""Permission of a step to destroy the guest of a server, while the server is in the move.

An administrator may reset the server's state at any time. If that happens before the guest is
destroyed, the step is refused and the server keeps its guest. Afterwards the move continues, and a
server that has no guest at the end is in ERROR, whatever state was set.
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.moves import scope as scopes

# A note: the guest may be destroyed.
BEGUN: saga.Result[bool] = saga.Result('destroying', bool)


def begin(scope: scopes.Scope, row: rows.Row | None) -> saga.Pending | None:
    """Return a Pending if the journal must be written before the guest is destroyed.

    row: the server's, or None if it is gone: then there is nothing to keep
    Raise StateChanged if the server has left the move before that.
    """
    if row is None or BEGUN in scope.results:
        return None
    try:
        scope.require_task(row)
    except exception.StateChanged as error:
        error.final = True
        raise
    # The journal is written before the host is called.
    scope.results[BEGUN] = True
    return saga.Pending(wake_in=0, detail='the guest is about to be destroyed')
