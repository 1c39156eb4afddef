"""Errors about shares, which guests mount."""

from nova_lite.exception import base


class ShareNotUsable(base.Invalid):
    msg = 'Share %(share_id)s cannot be used: %(reason)s'


class ShareNotFound(base.NotFound):
    msg = 'Share %(share_id)s could not be found.'


class ShareNotAttached(base.NotFound):
    msg = 'Share %(share_id)s is not attached to instance %(instance_id)s.'


class ShareAlreadyAttached(base.Conflict):
    msg = "Share '%(share_id)s' or tag '%(tag)s' is already attached to instance %(instance_id)s."


class ShareInUse(base.Conflict):
    msg = "Share %(share_id)s cannot be detached while its status is '%(status)s'."


class SharesAttached(base.Conflict):
    msg = 'Instance %(instance_id)s has shares, which this action does not support. Detach them.'


class SharesNotSupported(base.Conflict):
    msg = 'The host of instance %(instance_id)s does not support shares: %(reason)s.'
