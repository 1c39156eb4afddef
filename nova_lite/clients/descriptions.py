"""Descriptions of ports, with their networks: what network_info is made of.

Networks and their subnets change seldom, and are kept for a while.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_config import cfg

from nova_lite import exception
from nova_lite.clients import cache
from nova_lite.clients import network_reads
from nova_lite.clients import session
from nova_lite.clients import vifs

# A network with its subnets.
Subnetted: typing.TypeAlias = tuple[session.Json, session.Jsons]
# Pairs of a port and its former entry in network_info, with the decisions when it was plugged.
Plugged: typing.TypeAlias = Sequence[tuple[session.Json, session.Json | None]]


class Descriptions:
    """Describes ports of the network service."""

    def __init__(self, conf: cfg.ConfigOpts, network: network_reads.Reads) -> None:
        self._network = network
        self._bridge = conf.neutron.ovs_bridge
        self._known: cache.Cache[str, Subnetted] = cache.Cache(conf.neutron.network_cache_seconds)

    def of(
        self, ctxt: session.Ctxt, plugged: Plugged, floating_ips: Iterable[session.Json] = ()
    ) -> session.Jsons:
        """Return the network_info of pairs (port, its former entry)."""
        networks = self._networks(ctxt, [port for port, _known in plugged])
        for port, _known in plugged:
            if port['network_id'] not in networks:
                raise exception.NetworkNotUsable(network_id=port['network_id'])
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

    def of_servers(
        self,
        ctxt: session.Ctxt,
        known: Mapping[str, Iterable[session.Json]],
        ports: Iterable[session.Json],
    ) -> dict[str, session.Jsons]:
        """Return {uuid: network_info} of servers that have these ports.

        known: {uuid: former network_info}, whose order of ports is kept
        A network that does not exist was deleted, with its ports, after the ports were read.
        """
        ports = list(ports)
        networks = self._networks(ctxt, ports)
        own: dict[str, dict[str, session.Json]] = {uuid: {} for uuid in known}
        for port in ports:
            if port['network_id'] in networks:
                own[port['device_id']][port['id']] = port
        ids = [port_id for of_server in own.values() for port_id in of_server]
        floating = self._network.list(ctxt, 'floatingips', port_id=ids) if ids else []
        return {uuid: self.of(ctxt, _in_order(own[uuid], known[uuid]), floating) for uuid in known}

    def _networks(self, ctxt: session.Ctxt, ports: Iterable[session.Json]) -> dict[str, Subnetted]:
        """Return {network id: (network, its subnets)} of ports, asking only for those not known."""
        cached = {port['network_id']: self._known.get(port['network_id']) for port in ports}
        found = {network_id: entry for network_id, entry in cached.items() if entry is not None}
        missing = [network_id for network_id in cached if network_id not in found]
        if missing:
            subnets = self._network.list(ctxt, 'subnets', network_id=missing)
            for network in self._network.list(ctxt, 'networks', id=missing):
                own = [subnet for subnet in subnets if subnet['network_id'] == network['id']]
                found[network['id']] = self._known.put(network['id'], (network, own))
        return found


def _in_order(ports: Mapping[str, session.Json], known: Iterable[session.Json]) -> Plugged:
    """Return pairs (port, its entry in `known` or None), the known ports first."""
    before = {vif['id']: vif for vif in known}
    order = [port_id for port_id in before if port_id in ports]
    order += [port_id for port_id in ports if port_id not in before]
    return [(ports[port_id], before.get(port_id)) for port_id in order]
