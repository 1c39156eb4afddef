"""Reads of the network service, which the client and its parts share."""

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import cache
from nova_lite.clients import items
from nova_lite.clients import network_lists
from nova_lite.clients import session

EXTENSIONS = 'extensions'


class Reads:
    """The network service, as far as it is only read."""

    def __init__(self, credentials: auth.Credentials) -> None:
        self.service = session.Neighbour(credentials, 'neutron', title='network', version='/v2.0')
        self._ports = items.Items(
            self.service, '/ports', missing=(exception.PortNotFound, 'port_id')
        )
        self.known_extensions: cache.Cache[str, set[str]] = cache.Cache(
            credentials.conf.neutron.extension_sync_interval
        )

    def list(
        self, ctxt: session.Ctxt, kind: str, *, as_user: bool = False, **filters: object
    ) -> session.Jsons:
        """Return all objects of a kind that match the filters; see `network_lists`."""
        return network_lists.read(self.service, ctxt, kind, filters, as_user=as_user)

    def ports(self, ctxt: session.Ctxt, server_uuid: str) -> session.Jsons:
        """Return the ports that belong to a server."""
        return self.list(ctxt, 'ports', device_id=server_uuid)

    def get_port(self, ctxt: session.Ctxt, port_id: str, *, as_user: bool = False) -> session.Json:
        """Return one port. Raise PortNotFound."""
        response = self._ports.call(ctxt, 'GET', port_id, as_user=as_user)
        port: session.Json = response.json()['port']
        return port

    def has_extension(self, ctxt: session.Ctxt, alias: str) -> bool:
        """Return whether the service has an extension."""
        aliases = self.known_extensions.get(EXTENSIONS)
        if aliases is None:
            aliases = {item['alias'] for item in self.list(ctxt, 'extensions')}
            self.known_extensions.put(EXTENSIONS, aliases)
        return alias in aliases
