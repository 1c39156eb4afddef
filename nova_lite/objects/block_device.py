"""BlockDevice: one disk of a server, as the compute must provide it."""

from collections.abc import Mapping
import typing

from oslo_versionedobjects import fields

from nova_lite.objects import base


@base.Registry.register
class BlockDevice(base.Object):
    """A block device mapping. volume_size in GiB.

    source_type: image, volume, snapshot or blank; destination_type: local or volume
    volume_id, volume_size, attachment_id: may be missing; read them by `get`
    connection_info: the connection to the volume, from the volume service
    id: of its row; may be missing, and no host reads it
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'instance_uuid': fields.UUIDField(nullable=True),
        'source_type': fields.StringField(),
        'destination_type': fields.StringField(),
        'guest_format': fields.StringField(nullable=True),
        'device_type': fields.StringField(nullable=True),
        'disk_bus': fields.StringField(nullable=True),
        'device_name': fields.StringField(nullable=True),
        'boot_index': fields.IntegerField(nullable=True),
        'delete_on_termination': fields.BooleanField(),
        'volume_id': fields.StringField(nullable=True),
        'snapshot_id': fields.StringField(nullable=True),
        'image_id': fields.StringField(nullable=True),
        'volume_size': fields.IntegerField(nullable=True),
        'volume_type': fields.StringField(nullable=True),
        'attachment_id': fields.StringField(nullable=True),
        'tag': fields.StringField(nullable=True),
        'connection_info': base.JsonField(nullable=True),
    }
    uuid: str
    source_type: str
    destination_type: str
    device_name: str | None
    boot_index: int | None
    delete_on_termination: bool
    volume_id: str
    volume_size: int
    attachment_id: str
    connection_info: base.Data | None

    @classmethod
    def recorded(cls, values: Mapping[str, typing.Any]) -> typing.Self:
        """Return a new device by the columns with which it was recorded. The others are None."""
        nothing = {name: None for name, field in cls.fields.items() if field.nullable}
        return cls.of({**nothing, 'delete_on_termination': False, **values})
