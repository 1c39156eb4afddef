"""The place of a new server: zone, forced host, requested destination.

Source: reference/nova/create-server 2.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite.api import zones
from nova_lite.db.api import aggregates
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.policies import servers as rules

LOG = log.getLogger(__name__)


def choose(req, server, plan):
    """Fill zone, forced and destination; raises Invalid, Forbidden."""
    zone, host, node = _parse(req, server.get('availability_zone'))
    if host or node:
        req.authorize(rules.FORCED_HOST)
        plan.forced = ([host] if host else [], [node] if node else [])
        zone = _zone_of_forced(req, zone, host)
    wanted = {
        'host': server.get('host'),
        'node': server.get('hypervisor_hostname'),
    }
    if wanted['host'] or wanted['node']:
        req.authorize(rules.REQUESTED_DESTINATION)
        if host or node:
            raise exception.Invalid(
                'availability_zone cannot name a host or node when host or '
                'hypervisor_hostname is given.'
            )
        _require_destination(req, **wanted)
        plan.destination = wanted
    if zone is not None and not (host or node) and not zones.exists(req, zone):
        raise exception.Invalid('The requested availability zone is not available')
    plan.zone = zone


def _parse(req, text):
    """Return (zone, host, node) of `zone`, `zone:host`, `zone:host:node` or `zone::node`."""
    parts = (text or '').split(':')
    if len(parts) > 3:
        raise exception.Invalid('Unable to parse availability_zone')
    zone, host, node = (*parts, '', '')[:3]
    return zone or req.conf.default_schedule_zone, host or None, node or None


def _zone_of_forced(req, zone, host):
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


def _require_destination(req, host, node):
    """Raise ComputeHostNotFound for a host or node that does not exist."""
    if host is None:
        if req.app.placement.providers.find_by_name(req.ctxt, node) is None:
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
