"""The fence of a compute process: it refuses calls of former owners of a saga.

The process remembers the newest epoch of each saga. It sends an epoch that it does not know to the
cell's conductor first, which knows the newest epoch in the whole cell. So a restart of the process
does not weaken the fence. Source: contributor/architecture, Sagas.
"""

import collections

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.rpc.methods import conductor as conductor_rpc

# Number of sagas that are remembered. A forgotten one is sent to the conductor again.
SIZE = 10000


class Fence:
    """Checks the epochs of calls. conductor: a ConductorAPI client"""

    def __init__(self, conductor: conductor_rpc.ConductorAPI) -> None:
        self._conductor = conductor
        self._seen: collections.OrderedDict[str, int] = collections.OrderedDict()
        self._lock = runtime.Lock()

    def check(self, ctxt: context.RequestContext) -> None:
        """Raise StaleEpoch if the context's saga has a newer epoch. Calls without a saga pass."""
        if ctxt.saga is None or ctxt.epoch is None:
            return
        with self._lock:
            seen = self._seen.get(ctxt.saga)
        if seen is not None and ctxt.epoch < seen:
            raise exception.StaleEpoch(saga=ctxt.saga, seen=seen, epoch=ctxt.epoch)
        if seen == ctxt.epoch:
            return
        self._conductor.check_epoch(ctxt)
        with self._lock:
            self._seen[ctxt.saga] = max(ctxt.epoch, self._seen.get(ctxt.saga, 0))
            self._seen.move_to_end(ctxt.saga)
            while len(self._seen) > SIZE:
                self._seen.popitem(last=False)
