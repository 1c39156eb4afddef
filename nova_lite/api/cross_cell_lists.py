"""Lists over all cells, while servers move from one to another.

The cells answer one after the other. A server that changes cells in between may be missing in both
answers, so the list is read again.
"""

from collections.abc import Callable
import typing

from oslo_log import log

from nova_lite.api import request
from nova_lite.db.api import mapping_switch
from nova_lite.db.api import stamps

T = typing.TypeVar('T')

LOG = log.getLogger(__name__)
MOST = 20


def steadily(req: request.Request, read: Callable[[], T]) -> T:
    """Return the result of `read()`. Repeat it if a server has changed cells during the call.

    A cell that was mapped just now is read, too: it may have servers.
    """
    known = req.app.api_db.read(stamps.every)
    req.app.cells.follow(known)
    if len(req.app.cells.every(cell0=False)) < 2:
        return read()
    count = known.get(mapping_switch.STAMP, 0)
    for _attempt in range(MOST):
        found = read()
        before, count = count, req.app.api_db.read(mapping_switch.count)
        if count == before:
            return found
    LOG.warning(
        'Servers changed cells during each of %s attempts to list them; '
        'the list may lack some of them or contain them twice',
        MOST,
    )
    return found
