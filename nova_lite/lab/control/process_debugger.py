"""The debugger of a cloud with a process for each daemon: requests and breakpoints meet in rows.

`Following` is in the process of a super-conductor that `nova-lite up --drills` starts, and reads
the API database before each step. The program of the service does not contain it.
`ProcessDebugger`, in the process of `nova-lite up`, changes the rows.
"""

from collections.abc import Mapping
import os
import signal

from oslo_config import cfg
from oslo_log import log

from nova_lite import cells as cells_module
from nova_lite.db import rows as db_rows
from nova_lite.db import transactions
from nova_lite.db.api import breakpoints as rows
from nova_lite.lab.control import stopping
from nova_lite.saga import step as step_module

LOG = log.getLogger(__name__)


class Following:
    """Stops the sagas of a super-conductor, or kills its process (a saga.breakpoints.Debugger)."""

    def __init__(self, database: transactions.Database) -> None:
        self._database = database

    def find(self, saga: step_module.Saga, step: str) -> int | None:
        return stopping.point_of(stopping.points_in(self._database).values(), saga, step)

    def kills(self, uuid: str) -> bool:
        if self._database.write(rows.spare, uuid):
            LOG.warning('This process is killed with saga %s, as a debugger asked', uuid)
            os.kill(os.getpid(), signal.SIGKILL)
        return False


class ProcessDebugger(stopping.Stopping):
    """Stops the sagas of super-conductors that have a `Following`.

    conf: configuration of the control daemons
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self._conf = conf
        self._api_db = transactions.Database(conf.api_database.connection)
        self._known_cells = cells_module.Cells(conf, self._api_db)

    def close(self) -> None:
        """Close the connections to the databases."""
        self._known_cells.close()
        self._api_db.dispose()

    @property
    def _database(self) -> transactions.Database:
        return self._api_db

    @property
    def _cells(self) -> cells_module.Cells:
        return self._known_cells

    @property
    def _lease_s(self) -> float:
        lease_s: float = self._conf.conductor.lease_s
        return lease_s

    def _find_points(self) -> Mapping[int, db_rows.Row]:
        return stopping.points_in(self._api_db)

    def _submit(self, uuid: str) -> None:
        LOG.debug('The next sweep of a super-conductor continues saga %s', uuid)

    def _before_loss(self) -> None:
        LOG.debug('The supervisor starts a super-conductor again when it has died')

    def _lose(self, uuid: str) -> None:
        self._api_db.write(rows.lose, uuid)

    def _spare(self, uuid: str) -> None:
        self._api_db.write(rows.spare, uuid)

    def _is_lost(self, uuid: str) -> bool:
        return not self._api_db.read(rows.is_to_be_lost, uuid)
