"""Bindings of ports to hosts: one is active, the others are prepared for a move.

Each call may be repeated: an effect that is already there is no error. Ports that no longer belong
to the server are skipped, see `owned_ports`.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from nova_lite import exception
from nova_lite.clients import network_reads
from nova_lite.clients import owned_ports
from nova_lite.clients import resource_requests
from nova_lite.clients import responses
from nova_lite.clients import session
from nova_lite.objects import port_devices

EXTENSION = 'binding-extended'
FAILED, UNBOUND = 'binding_failed', 'unbound'
# {port id: `allocation` of its binding}
Allocations: typing.TypeAlias = Mapping[str, resource_requests.Allocation]
NO_ALLOCATIONS: Allocations = {}


def require_bound(port: session.Json, host: str) -> None:
    """Raise PortBindingFailed if the service could not plug the port on the host."""
    if port.get('binding:vif_type') == FAILED:
        raise exception.PortBindingFailed(
            port_id=port['id'], host=host, reason='see the log of the network service'
        )


class Bindings:
    """Calls about bindings, made with our own credentials."""

    def __init__(self, network: network_reads.Reads) -> None:
        self.network = network
        self.service = network.service

    def are_supported(self, ctxt: session.Ctxt) -> bool:
        """Return whether the network service supports bindings of a port to several hosts."""
        return self.network.has_extension(ctxt, EXTENSION)

    def list(self, ctxt: session.Ctxt, port_id: str) -> session.Jsons:
        """Return the bindings of a port: [{'host', 'status', 'vif_type', …}]."""
        missing = session.raising(exception.PortNotFound, port_id=port_id)
        body = self.service.get(ctxt, f'/ports/{port_id}/bindings', errors={404: missing})
        bindings: session.Jsons = body['bindings']
        return bindings

    def create(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: Allocations = NO_ALLOCATIONS,
    ) -> None:
        """Add an inactive binding to `host` to all ports of a server, or to none of them.

        allocations: {port id: `allocation` of its binding} on the host
        Raises PortBindingFailed.
        """
        made = []

        def create(vif: session.Json) -> None:
            made.append(vif)
            self._create(ctxt, vif, host, allocations.get(vif['id']))

        try:
            self._ports(ctxt, server_uuid).each(network_info, create)
        except exception.NovaLiteError:
            self.delete(ctxt, server_uuid, made, host)
            raise

    def _ports(self, ctxt: session.Ctxt, server_uuid: str) -> owned_ports.OwnedPorts:
        return owned_ports.OwnedPorts(self.network, ctxt, server_uuid)

    def _create(
        self,
        ctxt: session.Ctxt,
        vif: session.Json,
        host: str,
        allocation: resource_requests.Allocation | None,
    ) -> None:
        profile = resource_requests.profile(vif['profile'], allocation)
        body = {'host': host, 'vnic_type': vif['vnic_type'], 'profile': profile}
        failed = session.raising(exception.PortBindingFailed, port_id=vif['id'], host=host)
        response = self.service.call(
            ctxt,
            'POST',
            f'/ports/{vif["id"]}/bindings',
            json={'binding': body},
            errors={400: failed, 404: failed, 409: None, 500: failed},
        )
        if response.status_code == 409:
            if 'already exists' not in responses.detail(response):
                raise failed(reason=responses.detail(response))
            if allocation is not None:
                # An earlier attempt may have created the binding, with its allocation.
                self._set_profile(ctxt, vif['id'], host, profile)
        elif response.json()['binding']['vif_type'] == FAILED:
            raise failed(reason='see the log of the network service')

    def _set_profile(
        self, ctxt: session.Ctxt, port_id: str, host: str, profile: session.Json
    ) -> None:
        failed = session.raising(exception.PortBindingFailed, port_id=port_id, host=host)
        self.service.call(
            ctxt,
            'PUT',
            f'/ports/{port_id}/bindings/{session.segment(host, failed)}',
            json={'binding': {'profile': profile}},
            errors={404: failed},
        )

    def put_devices(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        devices: Mapping[str, session.Json],
        host: str,
    ) -> None:
        """Name the devices of ports in their bindings to `host`.

        devices: {port id: values of the profile}
        """

        def put(vif: session.Json) -> None:
            port_id = vif['id']
            failed = session.raising(exception.PortBindingFailed, port_id=port_id, host=host)
            for binding in self.list(ctxt, port_id):
                if binding['host'] == host:
                    profile = {**port_devices.without(binding['profile']), **devices[port_id]}
                    if profile != binding['profile']:
                        self._set_profile(ctxt, port_id, host, profile)
                    return
            raise failed(reason='it has no binding that could name its device')

        ports = [{'id': port_id} for port_id in devices]
        self._ports(ctxt, server_uuid).each(ports, put)

    def activate(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
    ) -> None:
        """Make the bindings of a server's ports to `host` the active ones.

        The service unbinds a binding when another one is activated, and does not bind it again when
        it is activated again, as in a move that goes back to its source. A binding that was deleted
        is created again.
        """

        def activate(vif: session.Json) -> None:
            binding = self._activate(ctxt, vif['id'], host)
            if binding is None:
                found = resource_requests.recorded([vif])
                self._create(ctxt, vif, host, found.get(vif['id']))
                binding = self._activate(ctxt, vif['id'], host)
            if binding is None:
                raise exception.PortBindingFailed(
                    port_id=vif['id'], host=host, reason='its binding was deleted'
                )
            if binding['vif_type'] == UNBOUND:
                self._set_profile(ctxt, vif['id'], host, binding['profile'])

        self._ports(ctxt, server_uuid).each(network_info, activate)

    def _activate(self, ctxt: session.Ctxt, port_id: str, host: str) -> session.Json | None:
        """Return the active binding, or None if the port has no binding to the host."""
        failed = session.raising(exception.PortBindingFailed, port_id=port_id, host=host)
        response = self.service.call(
            ctxt,
            'PUT',
            f'/ports/{port_id}/bindings/{session.segment(host, failed)}/activate',
            errors={404: None, 409: None},
        )
        if response.status_code == 404:
            return None
        if response.status_code != 409:
            activated: session.Json = response.json()
            return activated
        for binding in self.list(ctxt, port_id):
            if binding['host'] == host and binding['status'] == 'ACTIVE':
                return binding
        raise failed(reason=responses.detail(response))

    def delete(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
    ) -> None:
        """Remove the bindings of a server's ports to `host`, if they exist."""
        missing = session.raising(exception.Invalid, reason='a host must have a name')

        def delete(vif: session.Json) -> None:
            path = f'/ports/{vif["id"]}/bindings/{session.segment(host, missing)}'
            self.service.call(ctxt, 'DELETE', path, errors={404: None})

        self._ports(ctxt, server_uuid).each(network_info, delete)
