"""Projects that requests name: checked with the identity service, where there is one."""

from oslo_log import log

from nova_lite import exception
from nova_lite.api import request

LOG = log.getLogger(__name__)


def require(req: request.Request, project_id: str) -> None:
    """Raise Invalid if the project does not exist according to the identity service.

    If the identity service does not say it, the project is assumed to exist.
    """
    if req.app.identity is None:
        return
    try:
        req.app.identity.require_project(req.ctxt, project_id)
    except (exception.Unavailable, exception.NeighbourForbids) as error:
        LOG.warning(
            'Cannot check whether project %s exists: %s. Assuming that it does.', project_id, error
        )
