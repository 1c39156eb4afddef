"""/os-assisted-volume-snapshots: snapshots in which the hypervisor of a volume takes part.

The volume service asks for that where its storage is files, such as NFS, and waits for a
report on the snapshot. Simulated disks have no contents: there is nothing to do on a host,
and the report follows at once. Source: reference/nova/api-surface 2.5.
"""

from oslo_log import log

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import system as rules
from nova_lite.api.servers import acting
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import devices
from nova_lite.db.cell import shares
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

PATH = '/os-assisted-volume-snapshots'
# What is reported: the host has done its part, and the volume service may do the rest.
CREATING, DELETING = 'creating', 'deleting'
_ID = {'type': 'string', 'minLength': 1}
_SNAPSHOT = schema_parts.whole(
    {
        'volume_id': _ID,
        'create_info': schema_parts.whole(
            {
                'snapshot_id': _ID,
                'type': {'type': 'string', 'enum': ['qcow2']},
                'new_file': _ID,
                'id': _ID,
            },
            required=['snapshot_id', 'type', 'new_file'],
        ),
    },
    required=['volume_id', 'create_info'],
)
_QUERY = {'delete_info': schema_parts.multi({'type': 'string'})}


class NoSuchVolume(exception.Invalid):
    msg = 'No server uses volume %(volume_id)s.'


class SeveralServers(exception.Invalid):
    msg = 'Volume %(volume_id)s is used by several servers, which do not support this.'


class MalformedInfo(exception.Invalid):
    msg = 'delete_info must be a JSON object with the string volume_id.'


@operation.operation(
    'POST',
    PATH,
    policy=rules.ASSISTED_CREATE,
    body={'2.1': schema_parts.body('snapshot', _SNAPSHOT)},
    faults=(400, 403, 409),
)
def create(req: request.Request) -> operation.Result:
    """Report that the server of a volume has done its part of a snapshot."""
    volume_id, info = req.content['volume_id'], req.content['create_info']
    _report(req, volume_id, info['snapshot_id'], transitions.CREATE_VOLUME_SNAPSHOT, CREATING)
    return {'snapshot': {'id': info.get('id'), 'volumeId': volume_id}}


@operation.operation(
    'DELETE',
    PATH + '/{id}',
    policy=rules.ASSISTED_DELETE,
    query={'2.1': schema_parts.query(_QUERY), '2.75': schema_parts.query(_QUERY, strict=True)},
    success=204,
    faults=(400, 403, 409),
)
def delete(req: request.Request) -> None:
    """Report that the server of a volume has done its part of a deletion."""
    _report(
        req,
        _volume_of(req.param('delete_info') or ''),
        req.args['id'],
        transitions.DELETE_VOLUME_SNAPSHOT,
        DELETING,
    )


def _volume_of(text: str) -> str:
    """Return the volume that `delete_info` names. Raise MalformedInfo."""
    try:
        info = request.decode(text.encode())
    except exception.Invalid as error:
        raise MalformedInfo() from error
    volume_id = info.get('volume_id') if isinstance(info, dict) else None
    if not isinstance(volume_id, str):
        raise MalformedInfo()
    return volume_id


def _report(
    req: request.Request,
    volume_id: str,
    snapshot_id: str,
    guard: transitions.Transition,
    status: str,
) -> None:
    server = _server_of(req, volume_id)
    server_access.require_state(server, guard)
    acting.require_host(server)
    server.cell.db.read(shares.require_none, server.uuid)
    LOG.info(
        'Reporting snapshot %s of volume %s of server %s as %s',
        snapshot_id,
        volume_id,
        server.uuid,
        status,
    )
    try:
        req.app.volume.report_snapshot(req.ctxt, snapshot_id, status)
    except (exception.NotFound, exception.Conflict, exception.Forbidden) as error:
        LOG.warning(
            'Cannot report snapshot %s of volume %s as %s: %s. '
            'As in nova the request succeeds, and the volume service gets no report.',
            snapshot_id,
            volume_id,
            status,
            error,
        )


def _server_of(req: request.Request, volume_id: str) -> server_access.Server:
    """Return the server that uses a volume. Raise NoSuchVolume, SeveralServers, Unavailable."""
    answers, silent = cells.split(req.app.cells.scatter(devices.servers_with, volume_id))
    found = [(cell, row) for cell, known in answers.items() for row in known]
    if len(found) > 1:
        raise SeveralServers(volume_id=volume_id)
    if not found and silent:
        raise exception.Unavailable(service='A cell', reason=next(iter(silent.values())).error)
    if not found:
        raise NoSuchVolume(volume_id=volume_id)
    ((cell, row),) = found
    mapping = req.app.api_db.read(instance_mappings.get, row.uuid)
    return server_access.Server(row, cell=cell, mapping=mapping)
