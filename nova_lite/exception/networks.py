"""Errors about networks, subnets, ports, addresses and security groups."""

from nova_lite.exception import base


class NetworkNotUsable(base.Invalid):
    msg = 'Network %(network_id)s could not be found.'


class NetworkNotFound(base.NotFound):
    msg = 'Network %(network_id)s could not be found.'


class NetworkRequiresSubnet(base.Invalid):
    msg = 'Network %(network_id)s requires a subnet in order to boot instances on.'


class NetworksWithQoSPolicyNotSupported(base.Invalid):
    msg = (
        'Network %(network_id)s has a QoS policy that guarantees bandwidth or packet rate. '
        'Create a port on it first, and name the port in the request.'
    )


class NetworkNotAllocatable(base.Invalid):
    msg = 'Unable to automatically allocate a network for project %(project_id)s: %(reason)s'


class NetworksNotAllocated(base.NovaLiteError):
    """A guest cannot be started without its ports."""

    msg = 'Failed to allocate the network(s), not rescheduling.'


class NetworkAmbiguous(base.Conflict):
    msg = 'Multiple possible networks found, use a Network ID to be more specific.'


class ExternalNetworkForbidden(base.Forbidden):
    msg = 'It is not allowed to create an interface on external network %(network_id)s'


class SubnetNotFound(base.NotFound):
    msg = 'Subnet %(subnet_id)s could not be found.'


class NoMoreFixedIps(base.NovaLiteError):
    msg = 'No fixed IP addresses available for network %(network_id)s: %(reason)s'


class FixedIpInUse(base.Invalid):
    msg = 'Fixed IP %(address)s is already in use.'


class PortNotUsable(base.Invalid):
    msg = 'Port %(port_id)s cannot be used: %(reason)s'


class PortNotFound(base.NotFound):
    msg = 'Port id %(port_id)s could not be found.'


class PortInUse(base.Conflict):
    msg = 'Port %(port_id)s is still in use.'


class PortNotAttached(base.NotFound):
    msg = 'Instance %(instance_id)s does not have a port with id %(port_id)s'


class PortResourcesNotAvailable(base.Invalid):
    msg = (
        'The host of server %(instance_id)s does not have the bandwidth or packet rate that '
        'port %(port_id)s asks for.'
    )


class PortBindingFailed(base.NovaLiteError):
    """The network service cannot plug the port on this host; it may be able to on another."""

    reschedule = True
    msg = 'Binding failed for port %(port_id)s on host %(host)s: %(reason)s'


class ServerHasNoPorts(base.NotFound):
    msg = 'Instance %(instance_id)s has no ports.'


class VirtualInterfaceCreateException(base.NovaLiteError):
    msg = 'Virtual Interface creation failed: %(reason)s'


class SecurityGroupNotUsable(base.Invalid):
    msg = 'Security group %(group)s cannot be used: %(reason)s'


class SecurityGroupNotFound(base.NotFound):
    msg = 'Security group %(group)s not found.'


class SecurityGroupCannotBeApplied(base.Invalid):
    msg = (
        'Network requires port_security_enabled and subnet associated in order to apply security '
        'groups. Port %(port_id)s cannot have any.'
    )


class SecurityGroupNotOnServer(base.NotFound):
    msg = 'Security group %(group)s is not associated with instance %(instance_id)s.'
