"""The ML2 mechanism driver of Neutron that binds the ports of simulated hosts.

Neutron loads it by the entry point ``nova_lite`` of ``neutron.ml2.mechanism_drivers``. The
driver runs in Neutron's environment, which lacks most requirements of nova_lite: no module of
nova_lite imports this module, and this module imports no other one.
"""

from collections.abc import Mapping
import typing

from neutron_lib import constants
from neutron_lib import context as contexts
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api

NAME = 'nova_lite'
SEGMENT_TYPES = frozenset(
    (
        constants.TYPE_FLAT,
        constants.TYPE_GENEVE,
        constants.TYPE_GRE,
        constants.TYPE_LOCAL,
        constants.TYPE_VLAN,
        constants.TYPE_VXLAN,
    )
)
# {type of vNIC: type of the VIF}
VIF_TYPES = {
    portbindings.VNIC_NORMAL: portbindings.VIF_TYPE_OVS,
    portbindings.VNIC_DIRECT: portbindings.VIF_TYPE_HW_VEB,
    portbindings.VNIC_MACVTAP: portbindings.VIF_TYPE_HW_VEB,
}
DETAILS = {
    portbindings.CAP_PORT_FILTER: True,
    portbindings.OVS_HYBRID_PLUG: False,
}


class SimulatedHosts(api.MechanismDriver):  # type: ignore[misc]  # is not typed
    """Binds ports on hosts without a Neutron agent, and reports them ACTIVE."""

    def initialize(self) -> None:
        """Do nothing: there are no options."""

    @property
    def connectivity(self) -> str:
        """Return the kind of connectivity that bound ports have."""
        connectivity: str = portbindings.CONNECTIVITY_L2
        return connectivity

    def bind_port(self, context: api.PortContext) -> None:
        """Bind a port to a segment of its network.

        A host that runs an agent is not simulated: other drivers bind its ports.
        """
        vif_type = VIF_TYPES.get(context.current[portbindings.VNIC_TYPE])
        if vif_type is None or _has_agent(context.host):
            return
        for segment in context.segments_to_bind:
            if segment[api.NETWORK_TYPE] in SEGMENT_TYPES:
                details = dict(DETAILS)
                context.set_binding(segment[api.ID], vif_type, details, _status(context.current))
                return

    def update_port_postcommit(self, context: api.PortContext) -> None:
        """Report the status of a port that this driver has bound.

        Neutron sets a port to DOWN when another binding of the port is activated, and waits for the
        agent of the host.
        """
        port, wanted = context.current, _status(context.current)
        if port['status'] != wanted and _is_ours(context):
            directory.get_plugin().update_port_status(
                context.plugin_context, port['id'], wanted, context.host
            )


def _status(port: Mapping[str, typing.Any]) -> str:
    is_up = port['admin_state_up']
    status: str = constants.PORT_STATUS_ACTIVE if is_up else constants.PORT_STATUS_DOWN
    return status


def _is_ours(context: api.PortContext) -> bool:
    levels = context.binding_levels or []
    return bool(levels) and levels[-1][api.BOUND_DRIVER] == NAME


def _has_agent(host: str) -> bool:
    agents = directory.get_plugin().get_agents(
        contexts.get_admin_context(), filters={'host': [host]}
    )
    return bool(agents)
