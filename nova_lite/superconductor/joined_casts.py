"""Messages to the hosts of a cell that are to build servers: those that wait together are joined.

A host gets one message for all its servers of a joint call.
"""

from collections.abc import Callable
from collections.abc import Sequence
import functools

from nova_lite import cells as deployment
from nova_lite import runtime
from nova_lite.lifecycle import requests
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.runtime import combine

# Servers of one call.
MOST = 20


class JoinedCasts:
    """The casts of a super-conductor. Safe to use from several threads.

    compute: function that returns a ComputeAPI client onto the bus of a cell
    """

    def __init__(self, compute: Callable[[deployment.Cell], compute_rpc.ComputeAPI]) -> None:
        self._compute = compute
        self._lock = runtime.Lock()
        self._combiners: dict[tuple[str, ...], combine.Combiner[requests.Order, None]] = {}

    def send(self, cell: deployment.Cell, order: requests.Order) -> None:
        """Request a host of a cell to build a server."""
        alone = functools.partial(requests.send, self._compute(cell), [order])
        self.of_cell(cell).call(order, alone)

    def of_cell(self, cell: deployment.Cell) -> combine.Combiner[requests.Order, None]:
        """Return the Combiner of messages to a cell."""
        key = (cell.uuid, *cell.urls)
        with self._lock:
            if key not in self._combiners:
                together = functools.partial(self._send_together, cell)
                self._combiners[key] = combine.Combiner(together, MOST)
            return self._combiners[key]

    def _send_together(self, cell: deployment.Cell, orders: Sequence[requests.Order]) -> list[None]:
        requests.send(self._compute(cell), orders)
        return [None] * len(orders)
