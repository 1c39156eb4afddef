"""The actions shelve, shelveOffload and unshelve.

Sagas of these kinds continue the actions (moves.shelve, moves.unshelve).
Source: reference/nova/api-surface 2.4.
"""

from collections.abc import Mapping
import dataclasses

from nova_lite import exception
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api import zones
from nova_lite.api.policies import server_actions as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import destination
from nova_lite.api.servers import left_guest
from nova_lite.api.servers import moves
from nova_lite.clients import release
from nova_lite.clients import resource_requests
from nova_lite.db.api import request_specs
from nova_lite.states import transitions

FAULTS = (400, 403, 404, 409)
UNSHELVE = 'unshelve'
_ZONE, _HOST = 'availability_zone', 'host'
PLACE = schema_parts.whole({_ZONE: {'type': ['string', 'null']}, _HOST: schema_parts.ANY_TEXT})
BODY = {
    '2.1': schema_parts.ANY,
    '2.77': schema_parts.null_or(
        schema_parts.whole({'availability_zone': schema_parts.NAME}, required=['availability_zone'])
    ),
    '2.91': schema_parts.null_or(PLACE),
}
# The microversion from which the body may name a zone or a host.
PLACES = 77


class UnknownZone(exception.Invalid):
    msg = 'The requested availability zone %(zone)s is not available'


class NotOffloaded(exception.Conflict):
    msg = (
        'Instance %(instance_id)s is %(state)s: availability_zone and host are allowed only '
        'when it is shelved_offloaded.'
    )


class HostNotInZone(exception.Conflict):
    msg = 'Host %(host)s is not in the availability zone %(zone)s.'


class VolumeInOtherZone(exception.Conflict):
    msg = (
        'The availability zone between the server and its attached volumes do not match: '
        '%(volume_id)s.'
    )


@operation.server_action(
    'shelve',
    policy=rules.SHELVE,
    guard=transitions.SHELVE,
    precheck=lambda req, server: acting.require_no_tpm(server, 'shelve'),
    success=202,
    faults=FAULTS,
)
def shelve(req: request.Request, server: server_access.Server) -> None:
    """Shelve the server: store its disk as an image, and offload it if that is due at once."""
    acting.require_host(server)
    volume_backed = acting.boots_from_volume(acting.devices(server))
    at_once = req.conf.shelved_offload_time == 0
    arguments: operation.Body = {'offload': volume_backed or at_once, 'image': not volume_backed}
    former = server.row.system_metadata.get(release.SHELVED_IMAGE)
    if former is not None:
        arguments['former'] = former
    moves.begin(
        req,
        server,
        kind='shelve',
        guard=transitions.SHELVE,
        action='shelve',
        arguments=arguments,
    )


@operation.server_action(
    'shelveOffload',
    policy=rules.SHELVE_OFFLOAD,
    guard=transitions.SHELVE_OFFLOAD,
    success=202,
    faults=FAULTS,
)
def shelve_offload(req: request.Request, server: server_access.Server) -> None:
    """Offload a shelved server: remove it from its host."""
    moves.begin(
        req, server, kind='shelve-offload', guard=transitions.SHELVE_OFFLOAD, action='shelveOffload'
    )


@operation.server_action(
    UNSHELVE,
    policy=rules.UNSHELVE,
    guard=transitions.UNSHELVE,
    body=BODY,
    success=202,
    faults=FAULTS,
)
def unshelve(req: request.Request, server: server_access.Server) -> None:
    """Unshelve a server. A null zone unpins its availability zone."""
    acting.require_cell(server)
    asked = _asked(req)
    arguments = {'offloaded': server.row.vm_state == states.VmState.SHELVED_OFFLOADED}
    if asked and not arguments['offloaded']:
        raise NotOffloaded(instance_id=server.uuid, state=server.row.vm_state)
    if 'availability_zone' in asked:
        arguments['zone'] = _zone(req, asked['availability_zone'])
        _require_zone_of_volumes(req, server, arguments['zone'])
    host = asked.get('host')
    if host is not None:
        req.authorize(rules.UNSHELVE_TO_HOST, server.target)
        arguments.update(_host(req, server, host))
        _require_zone(req, server, host, asked)
    if arguments['offloaded']:
        _require_room(req, server)
    left_guest.remove(req, server)
    # The steps depend on the present state of the server.
    guard = dataclasses.replace(
        transitions.UNSHELVE, vm_states=(states.VmState(server.row.vm_state),)
    )
    moves.begin(
        req,
        server,
        kind=UNSHELVE,
        guard=guard,
        action=UNSHELVE,
        arguments=arguments,
        hostless=True,
    )


def _require_room(req: request.Request, server: server_access.Server) -> None:
    """Raise OverQuota if what an offloaded server will use again exceeds a limit of its owner.

    The server itself, its vCPUs and its memory count while it is offloaded. Other resource classes
    are counted by placement, where an offloaded server has no allocations.
    """
    row = server.row
    rules_of_owner = quota.rules(req, row.project_id)
    if not rules_of_owner.asks_placement:
        return
    image = {'properties': row.image_properties or {}}
    rules_of_owner.admit(
        row.flavor,
        create_flavor.constraints_of(row.flavor, image),
        wanted=1,
        boots_from_volume=acting.boots_from_volume(acting.devices(server)),
        networks=resource_requests.requested(req.app.network.ports(req.ctxt, server.uuid)),
    )


def _asked(req: request.Request) -> dict[str, str | None]:
    """Return zone and host of the request. An empty host is no host; an empty zone unpins."""
    given = (req.content if req.minor >= PLACES else None) or {}
    return {name: given[name] or None for name in given if name == _ZONE or given[name]}


def _zone(req: request.Request, zone: str | None) -> str | None:
    if zone is not None and not zones.exists(req, zone):
        raise UnknownZone(zone=zone)
    return zone


def _require_zone_of_volumes(
    req: request.Request, server: server_access.Server, zone: str | None
) -> None:
    """Refuse a zone whose servers may not use the volumes of the server."""
    if zone is None or req.conf.cinder.cross_az_attach:
        return
    for device in acting.devices(server):
        if device.get('volume_id') is None:
            continue
        try:
            volume = req.app.volume.get(req.ctxt, device.volume_id)
        except exception.VolumeNotFound:
            continue
        if not req.app.volume.serves(volume, zone):
            raise VolumeInOtherZone(volume_id=volume['id'])


def _host(req: request.Request, server: server_access.Server, host: str) -> dict[str, str]:
    try:
        return destination.anywhere(req, server, host)
    except destination.UnknownHost as error:
        raise exception.ComputeHostNotFound(host=host) from error


def _require_zone(
    req: request.Request,
    server: server_access.Server,
    host: str,
    asked: Mapping[str, str | None],
) -> None:
    """Refuse a host outside the zone to which the server will be pinned."""
    if 'availability_zone' in asked:
        zone = asked['availability_zone']
    else:
        zone = req.app.api_db.read(request_specs.get, server.uuid).availability_zone
    if zone is not None and zone != zones.of_host(req, host):
        raise HostNotInZone(host=host, zone=zone)
