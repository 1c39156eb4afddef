"""Confirm a move between cells: the source cell forgets the server.

Source: reference/nova/cross-cell-resize 5 and 7.
"""

from nova_lite import saga
from nova_lite.moves import confirm
from nova_lite.moves import crossing


class CrossCellConfirm(confirm.ConfirmResize):
    """As within a cell, and the source's hidden records are removed for good."""

    kind = 'cross-cell-confirm'

    def source_record_steps(self):
        return (saga.Step('remove source records', self.purge_source),)

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
