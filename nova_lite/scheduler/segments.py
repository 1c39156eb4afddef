"""Aggregates of routed networks: which hosts reach the segments of a network.

The network service makes a provider of each segment, with the segment's uuid, in
an aggregate with the hosts that reach it. Source: reference/nova/scheduling 2, no. 9.
"""

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.clients import session


class Segments:
    """Finds the aggregates of a request's networks and ports."""

    def __init__(self, network: networks.Network, placement: placements.Placement) -> None:
        self.network, self.placement = network, placement

    def __call__(
        self, ctxt: context.RequestContext, network_id: str | None, port_id: str | None
    ) -> set[str] | None:
        """Return aggregate uuids; empty if a segment has none, None without segments."""
        segments = self._segments(ctxt, network_id, port_id)
        if not segments:
            return None
        found = [self._aggregates(ctxt, segment) for segment in segments]
        return set().union(*found) if all(found) else set()

    def _segments(
        self, ctxt: context.RequestContext, network_id: str | None, port_id: str | None
    ) -> set[str]:
        """Return the suitable segments: that of the port's address, or all of the network's."""
        if port_id is not None:
            port = self.network.get_port(ctxt, port_id)
            if port['fixed_ips']:
                subnet = self.network.get_subnet(ctxt, port['fixed_ips'][0]['subnet_id'])
                return _named([subnet])
            network_id = port['network_id']
        if network_id is None:
            return set()
        subnets = self.network.list_subnets(ctxt, network_id=network_id)
        return _named(subnets)

    def _aggregates(self, ctxt: context.RequestContext, segment: str) -> set[str]:
        try:
            return self.placement.providers.aggregates(ctxt, segment)[0]
        except exception.ResourceProviderNotFound:
            return set()


def _named(subnets: list[session.Json]) -> set[str]:
    """Return the ids of the segments that subnets name."""
    return {subnet['segment_id'] for subnet in subnets if subnet.get('segment_id') is not None}
