"""Placement that is tuned for SQLite in one process, as an option of an embedded cloud.

It answers as the real one does, and functions of placement are replaced for it; see
doc/source/decisions/0005-placement-in-a-process-of-ours.rst. `of` returns what
`nova_lite.daemons.wsgi.placement` takes.
"""

from oslo_log import log

from nova_lite.daemons.wsgi import placement
from nova_lite.private_apis import guard

LOG = log.getLogger(__name__)


def of(*, is_wanted: bool, atomic: bool = True) -> placement.Tuning | None:
    """Return the changes of placement; None if they do not suit the placement that is installed.

    atomic: make one transaction of each request that writes. Without it, placement that is killed
        may leave a part of a request behind, as over a database server
    """
    if not is_wanted:
        return None
    try:
        # Its modules use undocumented names of placement.
        from nova_lite.lab.tuned_placement import tuning
    except guard.Unsupported as error:
        LOG.warning('Placement is not tuned: %s', error)
        return None
    return tuning.Tuning(atomic=atomic) if tuning.LIBRARY.is_used else None
