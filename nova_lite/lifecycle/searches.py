"""What periodic searches have in common: one cell or server that fails holds up no other."""

import contextlib

from oslo_log import log

from nova_lite import exception

LOG = log.getLogger(__name__)


@contextlib.contextmanager
def going_on(message, *args):
    """Log whatever error comes out of the block, and go on behind it.

    message: what is not done, with its arguments as of a log line
    """
    try:
        yield
    except exception.NovaLiteError as error:
        LOG.warning('%s: %s', message % args, error)
    except Exception:
        # A defect in what concerns one of them is not to keep all from being looked at.
        LOG.exception(message, *args)


def each(cells, look, *, what):
    """`look(cell)` at one cell after the other. what: is looked at, for the log"""
    for cell in cells:
        with going_on('%s of cell %s are not looked at', what, cell.name):
            look(cell)
