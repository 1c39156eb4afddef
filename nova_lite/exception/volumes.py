"""Errors about volumes, snapshots, attachments and block device mappings."""

from nova_lite.exception import base


class InvalidBDM(base.Invalid):
    msg = 'Block Device Mapping is Invalid: %(reason)s'


class InvalidBDMBootSequence(InvalidBDM):
    msg = (
        'Block Device Mapping is Invalid: Boot sequence for the instance and image/block '
        'device mapping combination is not valid.'
    )


class DevicePathInUse(base.Conflict):
    msg = 'The supplied device path (%(path)s) is in use.'


class TooManyDevices(base.Forbidden):
    msg = (
        'The maximum allowed number of disk devices (%(maximum)s) to attach to a single server '
        'has been exceeded.'
    )


class VolumeNotUsable(base.Invalid):
    msg = 'Volume %(volume_id)s cannot be used: %(reason)s'


class VolumeNotFound(base.NotFound):
    msg = 'Volume %(volume_id)s could not be found.'


class VolumeTypeNotFound(base.Invalid):
    msg = 'Volume type %(id_or_name)s could not be found.'


class VolumeNotAttached(base.NotFound):
    msg = 'Instance %(instance_id)s is not attached to volume %(volume_id)s'


class SnapshotNotFound(base.NotFound):
    msg = 'Snapshot %(snapshot_id)s could not be found.'


class AttachmentNotFound(base.NotFound):
    msg = 'Volume attachment %(attachment_id)s could not be found.'
