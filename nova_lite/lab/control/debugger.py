"""The debugger of an embedded cloud: it stops the sagas of the super-conductors in this process."""

from collections.abc import Callable
from collections.abc import Mapping

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows as db_rows
from nova_lite.db import transactions
from nova_lite.lab.control import stopping
from nova_lite.saga import step as step_module
from nova_lite.superconductor import manager as manager_module


class Debugger(stopping.Stopping):
    """Stops the sagas of the super-conductors in this process (a saga.breakpoints.Debugger).

    start_other: starts another super-conductor; called before one must lose a saga
    """

    def __init__(self, start_other: Callable[[], None]) -> None:
        super().__init__()
        self._start_other = start_other
        self._lock = runtime.Lock()
        self._managers: list[manager_module.SuperConductor] = []
        # {id: row of the database}
        self._points: Mapping[int, db_rows.Row] = {}
        # {uuid of a saga that must be lost: whether it is lost}
        self._kills: dict[str, bool] = {}

    def attach(self, manager: manager_module.SuperConductor) -> None:
        """Stop the sagas of a super-conductor from now on. Call this before its start."""
        points = stopping.points_in(manager.world.api_db)
        with self._lock:
            self._points = points
            self._managers = [*self._managers, manager]
        manager.engine.debugger = self

    def detach(self) -> None:
        """Forget all super-conductors, which have ended."""
        with self._lock:
            self._managers, self._points, self._kills = [], {}, {}

    # ---- requests of engines ----

    def find(self, saga: step_module.Saga, step: str) -> int | None:
        return stopping.point_of(self._points.values(), saga, step)

    def kills(self, uuid: str) -> bool:
        if self._kills.get(uuid, True):
            return False
        self._kills[uuid] = True
        return True

    # ---- super-conductors ----

    @property
    def _manager(self) -> manager_module.SuperConductor:
        managers = self._managers
        if not managers:
            raise exception.Unavailable(service='The cloud', reason='it starts or is being reset')
        return managers[0]

    @property
    def _database(self) -> transactions.Database:
        return self._manager.world.api_db

    @property
    def _cells(self) -> cells_module.Cells:
        return self._manager.world.cells

    @property
    def _lease_s(self) -> float:
        lease_s: float = self._manager.conf.conductor.lease_s
        return lease_s

    def _find_points(self) -> Mapping[int, db_rows.Row]:
        return self._points

    def _change(self, change: Callable[[], object]) -> None:
        with self._lock:
            change()
            self._points = stopping.points_in(self._database)

    def _submit(self, uuid: str) -> None:
        self._manager.engine.submit(uuid)

    def _before_loss(self) -> None:
        self._start_other()

    def _lose(self, uuid: str) -> None:
        self._kills[uuid] = False

    def _spare(self, uuid: str) -> None:
        self._kills.pop(uuid, None)

    def _is_lost(self, uuid: str) -> bool:
        return self._kills.get(uuid, False)
