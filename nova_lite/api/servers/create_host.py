"""The place of a new server: zone, forced host, requested destination.

Source: reference/nova/create-server 2.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import zones
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import create_plan
from nova_lite.db.api import aggregates
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes

LOG = log.getLogger(__name__)


def choose(req: request.Request, server: operation.Body) -> create_plan.Place:
    """Return the requested place of new servers. Raise Invalid, Forbidden."""
    zone, host, node = _parse(req, server.get('availability_zone'))
    if host or node:
        req.authorize(rules.FORCED_HOST)
        zone = _zone_of_forced(req, zone, host)
    wanted_host, wanted_node = server.get('host'), server.get('hypervisor_hostname')
    destination = None
    if wanted_host or wanted_node:
        req.authorize(rules.REQUESTED_DESTINATION)
        if host or node:
            raise exception.Invalid(
                'availability_zone cannot name a host or node when host or '
                'hypervisor_hostname is given.'
            )
        _require_destination(req, wanted_host, wanted_node)
        destination = {'host': wanted_host, 'node': wanted_node}
    if zone is not None and not (host or node) and not zones.exists(req, zone):
        raise exception.Invalid('The requested availability zone is not available')
    return create_plan.Place(
        zone=zone,
        forced_hosts=(host,) if host else (),
        forced_nodes=(node,) if node else (),
        destination=destination,
    )


def _parse(req: request.Request, text: str | None) -> tuple[str | None, str | None, str | None]:
    """Return (zone, host, node) of `zone`, `zone:host`, `zone:host:node` or `zone::node`."""
    parts = (text or '').split(':')
    if len(parts) > 3:
        raise exception.Invalid('Unable to parse availability_zone')
    zone, host, node = (*parts, '', '')[:3]
    return zone or req.conf.default_schedule_zone, host or None, node or None


def _zone_of_forced(req: request.Request, zone: str | None, host: str | None) -> str | None:
    """Return the zone of a forced host, which replaces any other zone in the request."""
    if host is None or zone is None:
        return zone
    actual = req.app.api_db.read(aggregates.zones).get(host)
    if zone == (actual or req.conf.default_availability_zone):
        return zone
    LOG.warning(
        'Zone %s was requested with host %s, which is in zone %s. Using the zone of the host.',
        zone,
        host,
        actual,
    )
    return actual


def _require_destination(req: request.Request, host: str | None, node: str | None) -> None:
    """Raise ComputeHostNotFound for a host or node that does not exist."""
    if host is None:
        providers = req.app.placement.providers
        if node is not None and providers.find_by_name(req.ctxt, node) is None:
            raise exception.ComputeHostNotFound(host=node)
        return
    try:
        mapping = req.app.api_db.read(host_mappings.get, host)
    except exception.HostMappingNotFound:
        raise exception.ComputeHostNotFound(host=host) from None
    if node is None:
        return
    cell = req.app.cells.by_id(mapping.cell_id)
    if not cell.db.read(compute_nodes.every, host=host, hypervisor_hostname=node):
        raise exception.ComputeHostNotFound(host=f'{host}:{node}')
