"""Errors about servers, their records, guests, states, keypairs and groups."""

from nova_lite.exception import base


class InstanceNotFound(base.NotFound):
    msg = 'Instance %(instance_id)s could not be found.'


class InstanceMappingNotFound(base.NotFound):
    msg = 'Instance %(uuid)s has no mapping to a cell.'


class BuildRequestNotFound(base.NotFound):
    msg = 'Build request for instance %(uuid)s not found'


class RequestSpecNotFound(base.NotFound):
    msg = 'RequestSpec not found for instance %(uuid)s'


class ActionNotFound(base.NotFound):
    msg = 'Action for request_id %(request_id)s on instance %(instance_id)s not found'


class GuestNotFound(base.NotFound):
    msg = 'Guest %(uuid)s does not exist on %(node)s.'


class InstanceInvalidState(base.Conflict):
    msg = "Cannot '%(action)s' instance %(instance_id)s while it is in %(attr)s %(state)s"


class InstanceMoved(InstanceInvalidState):
    msg = "Cannot '%(action)s' instance %(instance_id)s: it has moved to another host"


class InstanceIsLocked(base.Conflict):
    msg = 'Instance %(instance_id)s is locked'


class InstanceNotReady(base.Conflict):
    msg = 'Instance %(instance_id)s is not ready'


class InstanceSealed(base.Conflict):
    """The server changes cells: the record of another cell is replacing this one."""

    msg = 'Instance %(instance_id)s is changing cells. Try again in a moment.'


class TransitionRefused(base.NovaLiteError):
    """A defect of nova_lite, or an impossible report of a host: nothing was written."""

    msg = (
        'Cannot set server %(uuid)s to %(values)s: no transition leads there from '
        'vm_state %(vm_state)s and task_state %(task_state)s.'
    )


class PasswordSetFailed(base.Conflict):
    msg = 'Failed to set admin password on %(instance_id)s because %(reason)s'


class GuestAgentNotEnabled(base.Conflict):
    msg = 'QEMU guest agent is not enabled.'


class KeypairNotUsable(base.Invalid):
    msg = 'Invalid key_name provided.'


class KeypairNotFound(base.NotFound):
    msg = 'Keypair %(name)s not found for user %(user_id)s'


class ServerGroupNotFound(base.NotFound):
    msg = 'Instance group %(group)s could not be found.'


class GroupPolicyViolated(base.Conflict):
    reschedule = True
    msg = 'The %(policy)s policy of server group %(group)s is violated on %(host)s.'
