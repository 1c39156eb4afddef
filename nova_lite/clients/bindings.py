"""Bindings of ports to hosts: one is active, others wait for a move.

Every call may be repeated: what is already as wanted is no error.
"""

from nova_lite import exception
from nova_lite.clients import session

EXTENSION = 'binding-extended'
FAILED = 'binding_failed'


def require_bound(port, host):
    """Raise PortBindingFailed if the service could not plug the port on the host."""
    if port.get('binding:vif_type') == FAILED:
        raise exception.PortBindingFailed(
            port_id=port['id'], host=host, reason='see the log of the network service'
        )


class Bindings:
    """Calls about bindings, made by ourselves."""

    def __init__(self, network):
        self.network = network
        self.service = network.service

    def are_supported(self, ctxt):
        """Whether a port may have bindings to several hosts."""
        return self.network.has_extension(ctxt, EXTENSION)

    def list(self, ctxt, port_id):
        """The bindings of a port: [{'host', 'status', 'vif_type', …}]."""
        missing = session.raising(exception.PortNotFound, port_id=port_id)
        return self.service.get(ctxt, f'/ports/{port_id}/bindings', errors={404: missing})[
            'bindings'
        ]

    def create(self, ctxt, network_info, host):
        """Add an inactive binding to `host` to every port, or to none.

        Raises PortBindingFailed.
        """
        made = []
        try:
            for vif in network_info:
                made.append(vif)
                self._create(ctxt, vif, host)
        except exception.NovaLiteError:
            self.delete(ctxt, [vif['id'] for vif in made], host)
            raise

    def _create(self, ctxt, vif, host):
        body = {'host': host, 'vnic_type': vif['vnic_type'], 'profile': vif['profile']}
        failed = session.raising(exception.PortBindingFailed, port_id=vif['id'], host=host)
        response = self.service.call(
            ctxt,
            'POST',
            f'/ports/{vif["id"]}/bindings',
            json={'binding': body},
            errors={400: failed, 404: failed, 409: None, 500: failed},
        )
        if response.status_code == 409:
            if 'already exists' not in session.detail(response):
                raise failed(reason=session.detail(response))
        elif response.json()['binding']['vif_type'] == FAILED:
            raise failed(reason='see the log of the network service')

    def activate(self, ctxt, port_ids, host):
        """Make the bindings to `host` the active ones."""
        for port_id in port_ids:
            failed = session.raising(exception.PortBindingFailed, port_id=port_id, host=host)
            response = self.service.call(
                ctxt,
                'PUT',
                f'/ports/{port_id}/bindings/{session.segment(host, failed)}/activate',
                errors={404: failed, 409: None},
            )
            if response.status_code == 409 and not self._is_active(ctxt, port_id, host):
                raise failed(reason=session.detail(response))

    def _is_active(self, ctxt, port_id, host):
        return any(
            binding['host'] == host and binding['status'] == 'ACTIVE'
            for binding in self.list(ctxt, port_id)
        )

    def delete(self, ctxt, port_ids, host):
        """Remove the bindings to `host`, where they are."""
        missing = session.raising(exception.Invalid, reason='a host must have a name')
        for port_id in port_ids:
            self.service.call(
                ctxt,
                'DELETE',
                f'/ports/{port_id}/bindings/{session.segment(host, missing)}',
                errors={404: None},
            )
