"""Errors by meaning.

A class says what is wrong in the terms of the field; `kind` says what the HTTP
answer will be (api/faults.py holds the only table from kind to code). Messages
name what the reader can mend. Errors cross RPC by class name and message.
"""

import typing


class NovaLiteError(Exception):
    """Base. `msg` is a template filled from the keyword arguments.

    reschedule: another host might succeed; may also be set on an instance of the error
    transient: the request may succeed a moment later
    final: the request would fail again
    outage: the far side cannot be reached; accepted work waits until it can be
    """

    kind = 'internal'
    reschedule = False
    transient = False
    outage = False
    final = False
    msg = 'An unknown error occurred.'

    def __init__(self, message: str | None = None, **kwargs: typing.Any) -> None:
        self.kwargs = kwargs
        self.message = message if message is not None else self.msg % kwargs
        super().__init__(self.message)


# ---- the families ---------------------------------------------------------


class Invalid(NovaLiteError):
    """The request is not valid. Answered with 400."""

    kind = 'invalid'
    msg = 'Bad request: %(reason)s'


class Forbidden(NovaLiteError):
    """The caller does not have the permission. Answered with 403."""

    kind = 'forbidden'
    msg = 'Not authorized.'


class NotFound(NovaLiteError):
    """The object does not exist, or not for this caller. Answered with 404."""

    kind = 'not_found'
    msg = 'Resource could not be found.'


class Conflict(NovaLiteError):
    """The object is in a state that does not allow the request. Answered with 409."""

    kind = 'conflict'
    msg = 'Conflict: %(reason)s'


class Unavailable(NovaLiteError):
    """A required service does not answer. Answered with 503.

    The reason names hosts and addresses: it is for logs (`str`), while `message`
    is what users read.
    """

    kind = 'unavailable'
    transient = True
    msg = '%(service)s is not available.'

    def __str__(self) -> str:
        reason = self.kwargs.get('reason')
        return f'{self.message.rstrip(".")}: {reason}' if reason else self.message


class NotImplementedHere(NovaLiteError):
    """The driver or the deployment does not support the request. Answered with 501."""

    kind = 'not_implemented'
    msg = 'Not implemented: %(reason)s'


# ---- invalid --------------------------------------------------------------


class InvalidMicroversion(Invalid):
    msg = 'API Version String %(version)s is of invalid format. It must be of format Major.Minor.'


class InvalidBDM(Invalid):
    msg = 'Block Device Mapping is Invalid: %(reason)s'


class InvalidBDMBootSequence(InvalidBDM):
    msg = (
        'Block Device Mapping is Invalid: Boot sequence for the instance and image/block '
        'device mapping combination is not valid.'
    )


class FlavorNotUsable(Invalid):
    msg = 'Flavor %(flavor_id)s could not be found.'


class ImageNotUsable(Invalid):
    msg = 'Image %(image_id)s cannot be used: %(reason)s'


class ComputeHostNotFound(Invalid):
    msg = 'Compute host %(host)s could not be found.'


class CannotMigrateToSameHost(Invalid):
    msg = 'Cannot migrate to the host where the server exists.'


class MarkerNotFound(Invalid):
    msg = 'marker [%(marker)s] not found'


class NetworkNotUsable(Invalid):
    msg = 'Network %(network_id)s could not be found.'


class PortNotUsable(Invalid):
    msg = 'Port %(port_id)s cannot be used: %(reason)s'


class NetworkRequiresSubnet(Invalid):
    msg = 'Network %(network_id)s requires a subnet in order to boot instances on.'


class NetworksWithQoSPolicyNotSupported(Invalid):
    msg = (
        'Network %(network_id)s has a QoS policy that guarantees bandwidth or packet rate. '
        'Create a port on it first, and name the port in the request.'
    )


class PortResourcesNotAvailable(Invalid):
    msg = (
        'The host of server %(instance_id)s does not have the bandwidth or packet rate that '
        'port %(port_id)s asks for.'
    )


class NetworkNotAllocatable(Invalid):
    msg = 'Unable to automatically allocate a network for project %(project_id)s: %(reason)s'


class FixedIpInUse(Invalid):
    msg = 'Fixed IP %(address)s is already in use.'


class SecurityGroupNotUsable(Invalid):
    msg = 'Security group %(group)s cannot be used: %(reason)s'


class VolumeNotUsable(Invalid):
    msg = 'Volume %(volume_id)s cannot be used: %(reason)s'


class ShareNotUsable(Invalid):
    msg = 'Share %(share_id)s cannot be used: %(reason)s'


class KeypairNotUsable(Invalid):
    msg = 'Invalid key_name provided.'


class AggregateNotEmpty(Invalid):
    msg = 'Cannot delete aggregate %(aggregate_id)s. Reason: Host aggregate is not empty.'


# ---- forbidden ------------------------------------------------------------


class PolicyNotAuthorized(Forbidden):
    msg = "Policy doesn't allow %(action)s to be performed."


class ExternalNetworkForbidden(Forbidden):
    msg = 'It is not allowed to create an interface on external network %(network_id)s'


class NeighbourForbids(Forbidden):
    """A neighbour service does not permit a request of the user, or one of ours for the user."""

    msg = 'The %(service)s service refuses: %(reason)s'


class TooManyDevices(Forbidden):
    msg = (
        'The maximum allowed number of disk devices (%(maximum)s) to attach to a single server '
        'has been exceeded.'
    )


class OverQuota(Forbidden):
    msg = (
        'Quota exceeded for %(resource)s: Requested %(requested)s, but already used %(used)s '
        'of %(limit)s %(resource)s'
    )


# ---- not found ------------------------------------------------------------


class InstanceNotFound(NotFound):
    msg = 'Instance %(instance_id)s could not be found.'


class InstanceMappingNotFound(NotFound):
    msg = 'Instance %(uuid)s has no mapping to a cell.'


class BuildRequestNotFound(NotFound):
    msg = 'Build request for instance %(uuid)s not found'


class RequestSpecNotFound(NotFound):
    msg = 'RequestSpec not found for instance %(uuid)s'


class FlavorNotFound(NotFound):
    msg = 'Flavor %(flavor_id)s could not be found.'


class FlavorExtraSpecNotFound(NotFound):
    msg = 'Flavor %(flavor_id)s has no extra specs with key %(key)s.'


class FlavorAccessNotFound(NotFound):
    msg = 'Flavor access not found for %(flavor_id)s / %(project_id)s combination.'


class KeypairNotFound(NotFound):
    msg = 'Keypair %(name)s not found for user %(user_id)s'


class AggregateNotFound(NotFound):
    msg = 'Aggregate %(aggregate_id)s could not be found.'


class AggregateHostNotFound(NotFound):
    msg = 'Aggregate %(aggregate_id)s has no host %(host)s.'


class ServerGroupNotFound(NotFound):
    msg = 'Instance group %(group)s could not be found.'


class ServiceNotFound(NotFound):
    msg = 'Service %(service_id)s could not be found.'


class ComputeNodeNotFound(NotFound):
    msg = 'Compute node %(node)s could not be found.'


class HostMappingNotFound(NotFound):
    msg = "Host '%(host)s' is not mapped to any cell"


class CellMappingNotFound(NotFound):
    msg = 'Cell %(cell)s has no mapping.'


class MigrationNotFound(NotFound):
    msg = 'Migration %(migration_id)s could not be found.'


class MigrationNotFoundForInstance(NotFound):
    msg = 'Migration %(migration_id)s not found for instance %(instance_id)s'


class ActionNotFound(NotFound):
    msg = 'Action for request_id %(request_id)s on instance %(instance_id)s not found'


class ImageNotFound(NotFound):
    msg = 'Image %(image_id)s could not be found.'


class NetworkNotFound(NotFound):
    msg = 'Network %(network_id)s could not be found.'


class SubnetNotFound(NotFound):
    msg = 'Subnet %(subnet_id)s could not be found.'


class PortNotFound(NotFound):
    msg = 'Port id %(port_id)s could not be found.'


class SecurityGroupNotFound(NotFound):
    msg = 'Security group %(group)s not found.'


class SecurityGroupNotOnServer(NotFound):
    msg = 'Security group %(group)s is not associated with instance %(instance_id)s.'


class ServerHasNoPorts(NotFound):
    msg = 'Instance %(instance_id)s has no ports.'


class VolumeNotFound(NotFound):
    msg = 'Volume %(volume_id)s could not be found.'


class VolumeTypeNotFound(Invalid):
    msg = 'Volume type %(id_or_name)s could not be found.'


class SnapshotNotFound(NotFound):
    msg = 'Snapshot %(snapshot_id)s could not be found.'


class VolumeNotAttached(NotFound):
    msg = 'Instance %(instance_id)s is not attached to volume %(volume_id)s'


class ShareNotFound(NotFound):
    msg = 'Share %(share_id)s could not be found.'


class ShareNotAttached(NotFound):
    msg = 'Share %(share_id)s is not attached to instance %(instance_id)s.'


class PortNotAttached(NotFound):
    msg = 'Instance %(instance_id)s does not have a port with id %(port_id)s'


class AttachmentNotFound(NotFound):
    msg = 'Volume attachment %(attachment_id)s could not be found.'


class ResourceProviderNotFound(NotFound):
    msg = 'No such resource provider %(name_or_uuid)s.'


class DecisionNotFound(NotFound):
    msg = 'The scheduler has no decision about instance %(uuid)s in its memory.'


class SagaNotFound(NotFound):
    msg = 'Saga %(uuid)s could not be found. `nova-lite saga list` lists sagas.'


class GuestNotFound(NotFound):
    msg = 'Guest %(uuid)s does not exist on %(node)s.'


# ---- conflict -------------------------------------------------------------


class InstanceInvalidState(Conflict):
    msg = "Cannot '%(action)s' instance %(instance_id)s while it is in %(attr)s %(state)s"


class InstanceMoved(InstanceInvalidState):
    msg = "Cannot '%(action)s' instance %(instance_id)s: it has moved to another host"


class InstanceIsLocked(Conflict):
    msg = 'Instance %(instance_id)s is locked'


class PasswordSetFailed(Conflict):
    msg = 'Failed to set admin password on %(instance_id)s because %(reason)s'


class GuestAgentNotEnabled(Conflict):
    msg = 'QEMU guest agent is not enabled.'


class InstanceNotReady(Conflict):
    msg = 'Instance %(instance_id)s is not ready'


class StateChanged(Conflict):
    """A compare-and-swap was lost: another writer changed the row first."""

    msg = '%(what)s %(key)s is no longer in the expected state: %(detail)s'


class TransitionRefused(NovaLiteError):
    """A defect of nova_lite, or an impossible report of a host: nothing was written."""

    msg = (
        'Cannot set server %(uuid)s to %(values)s: no transition leads there from '
        'vm_state %(vm_state)s and task_state %(task_state)s.'
    )


class InstanceSealed(Conflict):
    """The server changes cells: the record of another cell is replacing this one."""

    msg = 'Instance %(instance_id)s is changing cells. Try again in a moment.'


class ServiceIsDown(Conflict):
    msg = 'Service is unavailable at this time: %(binary)s on %(host)s is not up.'


class ShareAlreadyAttached(Conflict):
    msg = "Share '%(share_id)s' or tag '%(tag)s' is already attached to instance %(instance_id)s."


class ShareInUse(Conflict):
    msg = "Share %(share_id)s cannot be detached while its status is '%(status)s'."


class SharesAttached(Conflict):
    msg = 'Instance %(instance_id)s has shares, which this action does not support. Detach them.'


class SharesNotSupported(Conflict):
    msg = 'The host of instance %(instance_id)s does not support shares: %(reason)s.'


class AlreadyExists(Conflict):
    msg = '%(what)s %(key)s already exists.'


class AggregateActionRefused(Conflict):
    msg = 'Cannot %(action)s aggregate %(aggregate_id)s. Reason: %(reason)s.'


class TooOld(Conflict):
    """A daemon of an earlier release does not support the call. Raised before it is sent."""

    msg = (
        'Finish the upgrade first: a %(service)s service does not support RPC version '
        '%(since)s, which %(method)s requires.'
    )


class PortInUse(Conflict):
    msg = 'Port %(port_id)s is still in use.'


class NetworkAmbiguous(Conflict):
    msg = 'Multiple possible networks found, use a Network ID to be more specific.'


class DevicePathInUse(Conflict):
    msg = 'The supplied device path (%(path)s) is in use.'


class NoUniqueMatch(Conflict):
    msg = "Multiple %(what)s match name '%(name)s'. Use an ID to be more specific."


class GroupPolicyViolated(Conflict):
    reschedule = True
    msg = 'The %(policy)s policy of server group %(group)s is violated on %(host)s.'


class AllocationConflict(Conflict):
    """Another writer changed this consumer's allocations (consumer generation)."""

    transient = True
    msg = 'Allocations of consumer %(consumer)s were changed by another process.'


class ProviderConflict(Conflict):
    """A provider's generation moved on and the retries are used up."""

    transient = True
    msg = 'Resource provider %(provider)s was changed by another process.'


class StaleEpoch(Conflict):
    """The call comes from a former owner of the saga: a newer epoch is known."""

    msg = 'Saga %(saga)s is at epoch %(seen)s; a call from epoch %(epoch)s is refused.'


# ---- scheduling and building ----------------------------------------------


class NoValidHost(NovaLiteError):
    msg = 'No valid host was found. %(reason)s'


class RequestFilterFailed(NoValidHost):
    msg = 'No valid host was found. Scheduling failed: %(reason)s'


class MaxRetriesExceeded(NoValidHost):
    msg = (
        'Exceeded maximum number of retries. Exhausted all hosts available for retrying build '
        'failures for instance %(instance_uuid)s.'
    )


class NoCapacity(NovaLiteError):
    """The host does not have the resources for the guest; another host may have them."""

    reschedule = True
    msg = 'Insufficient compute resources: %(reason)s.'


class BuildAborted(NovaLiteError):
    """The build failed for a reason that another host would not change."""

    msg = 'Build of instance %(instance_uuid)s aborted: %(reason)s'


class BuildRescheduled(NovaLiteError):
    """The build failed here; the next alternate may be tried."""

    msg = 'Build of instance %(instance_uuid)s was re-scheduled: %(reason)s'


class MoveRefused(NovaLiteError):
    """A host rejects a server that moves to it; another host may accept it."""

    reschedule = True
    msg = 'Host %(host)s cannot take instance %(instance_uuid)s: %(reason)s'


class DriverError(NovaLiteError):
    """The hypervisor refused or failed. error_class: class of the error of its job, if any"""

    error_class = ''
    msg = '%(verb)s of guest %(guest)s failed on %(node)s: %(reason)s'


class PortBindingFailed(NovaLiteError):
    """The network service cannot plug the port on this host; it may be able to on another."""

    reschedule = True
    msg = 'Binding failed for port %(port_id)s on host %(host)s: %(reason)s'


class VirtualInterfaceCreateException(NovaLiteError):
    msg = 'Virtual Interface creation failed: %(reason)s'


class NetworksNotAllocated(NovaLiteError):
    """A guest cannot be started without its ports."""

    msg = 'Failed to allocate the network(s), not rescheduling.'


class NoMoreFixedIps(NovaLiteError):
    msg = 'No fixed IP addresses available for network %(network_id)s: %(reason)s'


class LiveMigrationAborted(Conflict):
    msg = 'Live migration %(migration_id)s was aborted.'


class AbortMigrationNotSupported(NovaLiteError):
    msg = 'The hypervisor of host %(host)s cannot abort live migration %(migration_id)s.'


class MigrationPreCheckError(Invalid):
    reschedule = True
    msg = 'Migration pre-check error: %(reason)s'


class NeighbourError(NovaLiteError):
    """A neighbour service rejected a request of ours."""

    msg = 'The %(service)s service answered %(status)s to %(request)s: %(reason)s'


class RemoteError(NovaLiteError):
    """An error of another daemon that is no NovaLiteError. Its text, `value`, is for logs only."""

    msg = 'Remote error: %(type)s'

    def __str__(self) -> str:
        return f'{self.message} {self.kwargs.get("value", "")}'.rstrip()


class DiskFull(Unavailable):
    msg = 'The disk of %(service)s is full. Free space on it, and repeat the request.'


class BusUnavailable(Unavailable):
    outage = True


class MessagingTimeout(Unavailable):
    msg = 'Timed out waiting for %(method)s on %(topic)s'


class CellTimeout(Unavailable):
    msg = 'Cell %(cell)s did not respond'
