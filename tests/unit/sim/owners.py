"""Programs in which a former owner of a saga changes a cell or a guest."""

import os

from nova_lite import context
from tests.sim import kernel
from tests.sim import totals
from tests.sim.oracle import overtaken

CELL, GUESTS = '/cell1.sqlite', '/guests.sqlite'


class _Cloud:
    """A compute process and the database of a cell, whose changes the rule sees."""

    def __init__(self):
        now = kernel.current()
        self._counts = now.journal.counts
        self._rule = overtaken.Overtaken({'cell1': CELL}, [GUESTS], self._counts)
        self._process = now.process('compute-cell1')

    def change(self, epoch, path):
        """Commit a change to a file for an epoch of a saga."""
        with context.RequestContext(overwrite=False).for_saga('saga', epoch).bound():
            self._rule.committed(os.path.realpath(path))

    def call(self, epoch, *, changes):
        """Run a call of a saga in the process."""
        self._process.spawn(self._answer, epoch, changes).join()
        late = self._counts[f'{totals.LATE}compute']
        kernel.current().log('late calls', late)

    def _answer(self, epoch, changes):
        self._rule.began(kernel.current().running, {'saga': 'saga', 'epoch': epoch}, 'spawn')
        if changes:
            self.change(epoch, GUESTS)


def owners_in_order():
    """Calls of one owner, then of the next; late ones are refused."""
    cloud = _Cloud()
    for epoch in (1, 1, 2):
        cloud.call(epoch, changes=True)
        cloud.change(epoch, CELL)
    cloud.call(1, changes=False)
    cloud.call(2, changes=True)


def late_call():
    """A host carries out the call of a former owner."""
    cloud = _Cloud()
    cloud.call(2, changes=True)
    cloud.call(1, changes=True)


def late_change():
    """A cell takes the change of a former owner."""
    cloud = _Cloud()
    for epoch in (2, 1):
        cloud.change(epoch, CELL)
