"""POST /servers/{server_id}/shares: attach a share to a server that is off.

The answer does not wait: a saga grants the server's host access to the share and locks it.
The host mounts the share when the server starts. Source: reference/nova/api-surface 2.3.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_shares as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import moves
from nova_lite.api.servers import shares
from nova_lite.api.servers import source_host
from nova_lite.clients import session
from nova_lite.clients import share as share_client
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import shares as share_rows
from nova_lite.states import transitions

KEY = 'share'
# The tag with which the guest mounts the share.
TAG = {'type': 'string', 'minLength': 1, 'maxLength': 64, 'pattern': r'^[a-zA-Z0-9-]*$'}
ATTACH = schema_parts.whole({'share_id': schema_parts.UUID, 'tag': TAG}, required=['share_id'])
VIRTIO_FS, SHARED_MEMORY = 'COMPUTE_STORAGE_VIRTIO_FS', 'COMPUTE_MEM_BACKING_FILE'
PAGES = 'hw:mem_page_size'


@operation.operation(
    'POST',
    shares.PATH,
    policy=rules.ATTACH,
    guard=transitions.ATTACH_SHARE,
    since=shares.SINCE,
    body={shares.SINCE: schema_parts.body(KEY, ATTACH)},
    success=201,
    faults=(400, 403, 404, 409),
)
def attach(req: request.Request, server: server_access.Server) -> operation.Result:
    """Begin to attach a share."""
    asked = req.content
    acting.require_host(server)
    share = req.app.share.get(req.ctxt, asked['share_id'])
    _check(share)
    node = _supporting_node(req, server)
    source_host.require_up(req, server)
    access_type, access_to = share_client.access_of(share['protocol'], node.host_ip)
    columns = {
        'uuid': _uuid_for(server, share['id']),
        'share_id': share['id'],
        'tag': asked.get('tag') or share['id'],
        'share_proto': share['protocol'],
        'export_location': share['export_location'],
        'access_type': access_type,
        'access_to': access_to,
        'granted': False,
    }
    moves.begin(
        req,
        server,
        kind='attach-share',
        guard=transitions.ATTACH_SHARE,
        action=transitions.ATTACH_SHARE.verb,
        arguments={'share_id': share['id']},
        share=columns,
        timeout_s=req.conf.api.device_timeout,
    )
    attaching = shares.Attaching(
        uuid=columns['uuid'],
        share_id=share['id'],
        tag=columns['tag'],
        export_location=share['export_location'],
    )
    return {KEY: shares.detail(req, server, attaching)}


def _uuid_for(server: server_access.Server, share_id: str) -> str:
    """Return the uuid of a failed attachment of the share, or a new uuid."""
    known = server.cell.db.read(share_rows.find, server.uuid, share_id)
    return runtime.new_uuid() if known is None else known.uuid


def _check(share: session.Json) -> None:
    """Raise ShareNotUsable or Conflict for a share that cannot be attached now."""
    if share['protocol'] not in (share_client.NFS, share_client.CEPHFS):
        raise exception.ShareNotUsable(
            share_id=share['id'], reason=f'servers cannot mount protocol {share["protocol"]}'
        )
    if share['status'] != 'available' or not share['export_location']:
        raise exception.Conflict(
            reason=f"share {share['id']} is in status '{share['status']}' instead of 'available'"
        )


def _supporting_node(req: request.Request, server: server_access.Server) -> rows.Row:
    """Return the node of the server. Raise SharesNotSupported unless it and the flavor can
    give a guest a file system.
    """
    node = server.cell.db.read(compute_nodes.find, server.row.host, server.row.node)
    traits: set[str] = set()
    if node is not None:
        traits, _generation = req.app.placement.providers.traits(req.ctxt, node.uuid)
    missing = None
    if VIRTIO_FS not in traits:
        missing = f'it has no trait {VIRTIO_FS}'
    elif SHARED_MEMORY not in traits and PAGES not in server.row.flavor['extra_specs']:
        missing = f'it has no trait {SHARED_MEMORY}, and the flavor no extra spec {PAGES}'
    if missing or node is None:
        raise exception.SharesNotSupported(instance_id=server.uuid, reason=missing)
    return node
