"""DELETE /servers/{server_id}/shares/{share_id}: detach a share from a server that is off.

The answer does not wait: a saga revokes the access of the server's host and the locks.
"""

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_shares as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import moves
from nova_lite.api.servers import shares
from nova_lite.db.cell import shares as share_rows
from nova_lite.states import transitions


@operation.operation(
    'DELETE',
    shares.ONE,
    policy=rules.DETACH,
    guard=transitions.DETACH_SHARE,
    since=shares.SINCE,
    success=200,
    faults=(400, 403, 404, 409),
)
def detach(req: request.Request, server: server_access.Server) -> None:
    """Begin to detach a share."""
    acting.require_cell(server)
    share = server.cell.db.read(share_rows.get, server.uuid, req.args['share_id'])
    moves.begin(
        req,
        server,
        kind='detach-share',
        guard=transitions.DETACH_SHARE,
        action=transitions.DETACH_SHARE.verb,
        arguments={'share_id': share.share_id},
        detaches=share.share_id,
        timeout_s=req.conf.api.device_timeout,
    )
