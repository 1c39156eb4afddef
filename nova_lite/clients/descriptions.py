"""Descriptions of ports, with their networks: what network_info is made of.

Networks and their subnets change seldom, and are kept for a while.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

from oslo_config import cfg

from nova_lite import exception
from nova_lite.clients import cache
from nova_lite.clients import session
from nova_lite.clients import vifs

if typing.TYPE_CHECKING:
    from nova_lite.clients import network as networks

# A network with its subnets.
Subnetted: typing.TypeAlias = tuple[session.Json, session.Jsons]
# Ports with what is known of each, such as what was decided when it was plugged.
Plugged: typing.TypeAlias = Sequence[tuple[session.Json, session.Json | None]]


class Descriptions:
    """Describes ports of the network service."""

    def __init__(self, conf: cfg.ConfigOpts, network: 'networks.Network') -> None:
        self._network = network
        self._bridge = conf.neutron.ovs_bridge
        self._known: cache.Cache[str, Subnetted] = cache.Cache(conf.neutron.network_cache_seconds)

    def of(
        self, ctxt: session.Ctxt, plugged: Plugged, floating_ips: Iterable[session.Json] = ()
    ) -> session.Jsons:
        """Return the network_info of (port, what is known of it) pairs."""
        networks = self._networks(ctxt, {port['network_id'] for port, _ in plugged})
        return [
            vifs.build(
                port,
                *networks[port['network_id']],
                floating_ips=floating_ips,
                known=known,
                bridge=self._bridge,
            )
            for port, known in plugged
        ]

    def _networks(self, ctxt: session.Ctxt, network_ids: Iterable[str]) -> dict[str, Subnetted]:
        """Return {network id: (network, its subnets)}, asking only for those not known."""
        found = {network_id: self._known.get(network_id) for network_id in network_ids}
        missing = [network_id for network_id, entry in found.items() if entry is None]
        if missing:
            subnets = self._network.list(ctxt, 'subnets', network_id=missing)
            for network in self._network.list(ctxt, 'networks', id=missing):
                own = [subnet for subnet in subnets if subnet['network_id'] == network['id']]
                found[network['id']] = self._known.put(network['id'], (network, own))
        complete: dict[str, Subnetted] = {}
        for network_id, entry in found.items():
            if entry is None:
                raise exception.NetworkNotUsable(network_id=network_id)
            complete[network_id] = entry
        return complete
