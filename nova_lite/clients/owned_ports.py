"""The ports in a server's record that still belong to the server.

Owners may delete their ports, or attach them to other servers, at any time. A call about the ports
of a server skips such ports. `network-vif-deleted`, or the next refresh, removes them from the
record.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite.clients import network_reads
from nova_lite.clients import session

LOG = log.getLogger(__name__)

# A function that changes the port of an entry of network_info.
Act: typing.TypeAlias = Callable[[session.Json], object]


class OwnedPorts:
    """Calls about the ports of one server."""

    def __init__(self, network: network_reads.Reads, ctxt: session.Ctxt, server_uuid: str) -> None:
        self._network, self._ctxt, self._server_uuid = network, ctxt, server_uuid

    def each(self, network_info: Iterable[session.Json], act: Act) -> session.Jsons:
        """Call `act` for each entry whose port belongs to the server. Return these entries.

        An error of `act` is ignored if the port no longer belongs to the server afterwards.
        """
        vifs = list(network_info)
        own, done = self._own(vifs), []
        for vif in vifs:
            if vif['id'] not in own:
                self._pass_over(vif)
                continue
            try:
                act(vif)
            except exception.StaleEpoch:
                raise
            except exception.NovaLiteError as error:
                if error.transient or self._own([vif]):
                    raise
                self._pass_over(vif)
            else:
                done.append(vif)
        return done

    def _own(self, vifs: Sequence[session.Json]) -> set[str]:
        if not vifs:
            return set()
        ids, fields = [vif['id'] for vif in vifs], ['id', 'device_id']
        ports = self._network.list(self._ctxt, 'ports', id=ids, fields=fields)
        return {port['id'] for port in ports if port['device_id'] == self._server_uuid}

    def _pass_over(self, vif: session.Json) -> None:
        LOG.info(
            'Port %s was deleted, or taken from server %s, by its owner. Continuing without it.',
            vif['id'],
            self._server_uuid,
        )
