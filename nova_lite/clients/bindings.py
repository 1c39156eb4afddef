"""Bindings of ports to hosts: one is active, others wait for a move.

Every call may be repeated: what is already as wanted is no error.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from nova_lite import exception
from nova_lite.clients import resource_requests
from nova_lite.clients import responses
from nova_lite.clients import session

if typing.TYPE_CHECKING:
    from nova_lite.clients import network as networks

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
    """Calls about bindings, made by ourselves."""

    def __init__(self, network: 'networks.Network') -> None:
        self.network = network
        self.service = network.service

    def are_supported(self, ctxt: session.Ctxt) -> bool:
        """Return whether a port may have bindings to several hosts."""
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
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: Allocations = NO_ALLOCATIONS,
    ) -> None:
        """Add an inactive binding to `host` to every port, or to none.

        allocations: what is allocated there for ports, by their ids
        Raises PortBindingFailed.
        """
        made = []
        try:
            for vif in network_info:
                made.append(vif)
                self._create(ctxt, vif, host, allocations.get(vif['id']))
        except exception.NovaLiteError:
            self.delete(ctxt, [vif['id'] for vif in made], host)
            raise

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
                # An earlier attempt may have made it, with what was allocated then.
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

    def activate(self, ctxt: session.Ctxt, port_ids: Iterable[str], host: str) -> None:
        """Make the bindings to `host` the active ones.

        The service unbinds a binding when another one is activated, and does not bind it
        when it is activated again, which a move does that goes back to its source.
        """
        for port_id in port_ids:
            binding = self._activate(ctxt, port_id, host)
            if binding['vif_type'] == UNBOUND:
                self._set_profile(ctxt, port_id, host, binding['profile'])

    def _activate(self, ctxt: session.Ctxt, port_id: str, host: str) -> session.Json:
        failed = session.raising(exception.PortBindingFailed, port_id=port_id, host=host)
        response = self.service.call(
            ctxt,
            'PUT',
            f'/ports/{port_id}/bindings/{session.segment(host, failed)}/activate',
            errors={404: failed, 409: None},
        )
        if response.status_code != 409:
            activated: session.Json = response.json()
            return activated
        for binding in self.list(ctxt, port_id):
            if binding['host'] == host and binding['status'] == 'ACTIVE':
                return binding
        raise failed(reason=responses.detail(response))

    def delete(self, ctxt: session.Ctxt, port_ids: Iterable[str], host: str) -> None:
        """Remove the bindings to `host`, where they are."""
        missing = session.raising(exception.Invalid, reason='a host must have a name')
        for port_id in port_ids:
            self.service.call(
                ctxt,
                'DELETE',
                f'/ports/{port_id}/bindings/{session.segment(host, missing)}',
                errors={404: None},
            )
