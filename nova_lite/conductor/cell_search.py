"""What periodic searches of all cells have in common: one that is away holds up no other."""

from oslo_log import log

from nova_lite import exception

LOG = log.getLogger(__name__)


def each(cells, look, *, what):
    """`look(cell)` at one cell after the other. what: is looked at, for the log"""
    for cell in cells:
        try:
            look(cell)
        except exception.Unavailable as error:
            LOG.warning('%s of cell %s are not looked at: %s', what, cell.name, error)
