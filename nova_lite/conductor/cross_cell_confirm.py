"""Confirm a move between cells: the source cell forgets the server.

Source: reference/cross-cell-resize 5 and 7.
"""

from nova_lite import saga
from nova_lite.conductor import confirm
from nova_lite.conductor import crossing
from nova_lite.conductor import duties
from nova_lite.conductor import move


class CrossCellConfirm(confirm.ConfirmResize):
    """As within a cell, and the source's hidden records are removed for good."""

    kind = 'cross-cell-confirm'

    def steps(self):
        last = ()
        if self.arguments.get('delete'):
            last = (saga.Step('delete the server', self.delete),)
        return (
            saga.Step(confirm.BEGIN, self.begin, undo=self.give_up, pivot=True),
            saga.Step(confirm.CLEAN, self.clean, attempts=move.PATIENCE, left=True),
            saga.Step(
                'drop source bindings',
                self.unbind,
                attempts=move.PATIENCE,
                left=True,
                clean=duties.bindings(self, lambda: self.began['source']['host']),
            ),
            saga.Step('release source allocation', self.drop_source),
            saga.Step('remove source records', self.purge_source),
            saga.Step('record confirmation', self.record),
            *last,
        )

    @property
    def source_side(self):
        """The cell that the server has left."""
        cell = self.world.cells.of_host(self.began['source']['host'])
        return crossing.Side(self.world, cell, self.ctxt)

    def clean(self):
        """confirm_resize: the source drops what it kept."""
        return self.ask(self.source_side.compute.confirm_resize, self.end('source', confirm.CLEAN))

    def purge_source(self):
        self.source_side.purge(self.instance_uuid)
