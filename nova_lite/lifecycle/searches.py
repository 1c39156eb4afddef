"""What periodic searches have in common: one cell or server that fails holds up no other."""

import contextlib

from oslo_log import log

from nova_lite import exception

LOG = log.getLogger(__name__)


@contextlib.contextmanager
def going_on(message, *args):
    """Log any error that the block raises, and continue after the block.

    message: what was not done, with arguments as for a log line
    """
    try:
        yield
    except exception.NovaLiteError as error:
        LOG.warning('%s: %s', message % args, error)
    except Exception:
        # A defect that concerns one cell or server must not hold up the others.
        LOG.exception(message, *args)


def each(cells, look, *, what):
    """Call `look(cell)` for one cell after the other. what: what it searches for, for the log"""
    for cell in cells:
        with going_on('Skipping cell %s in the search for %s', cell.name, what):
            look(cell)
