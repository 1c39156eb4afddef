"""Instance: the fields of a server that a compute needs for its work.

The whole record stays in the cell database. A change of state is a named call of the
conductor with the fields that change; this object is never sent back.
"""

import typing

from oslo_utils import versionutils
from oslo_versionedobjects import fields

from nova_lite.objects import base
from nova_lite.objects import flavor

# Fields that messages about deletions have. The host asks its cell for the rest.
OF_DELETION = ('uuid', 'project_id', 'user_id', 'host', 'node')


@base.Registry.register
class Instance(base.Object):
    """A server as the compute sees it. Sizes are in `flavor`.

    host: set if a host has the server
    """

    # 1.0: first version
    # 1.1: image_properties
    VERSION = '1.1'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'project_id': fields.StringField(),
        'user_id': fields.StringField(),
        'display_name': fields.StringField(),
        'hostname': fields.StringField(nullable=True),
        'host': fields.StringField(nullable=True),
        'node': fields.StringField(nullable=True),
        'vm_state': fields.StringField(),
        'task_state': fields.StringField(nullable=True),
        'power_state': fields.IntegerField(nullable=True),
        'availability_zone': fields.StringField(nullable=True),
        'image_ref': fields.StringField(nullable=True),
        'kernel_id': fields.StringField(nullable=True),
        'ramdisk_id': fields.StringField(nullable=True),
        'root_device_name': fields.StringField(nullable=True),
        'reservation_id': fields.StringField(nullable=True),
        'launch_index': fields.IntegerField(nullable=True),
        'key_name': fields.StringField(nullable=True),
        'key_data': fields.StringField(nullable=True),
        'user_data': fields.StringField(nullable=True),
        'config_drive': fields.StringField(nullable=True),
        'flavor': fields.ObjectField('Flavor'),
        'old_flavor': fields.ObjectField('Flavor', nullable=True),
        'new_flavor': fields.ObjectField('Flavor', nullable=True),
        'metadata': fields.DictOfNullableStringsField(),
        'system_metadata': fields.DictOfNullableStringsField(),
        'image_properties': base.JsonField(),
        'security_groups': fields.ListOfStringsField(),
        'network_info': base.JsonField(),
    }
    id: int
    uuid: str
    project_id: str
    user_id: str
    display_name: str
    hostname: str | None
    availability_zone: str | None
    host: str
    node: str | None
    vm_state: str
    task_state: str | None
    flavor: flavor.Flavor
    metadata: dict[str, str | None]
    system_metadata: dict[str, str | None]
    image_properties: base.Data
    security_groups: list[str]
    network_info: list[base.Data]

    def obj_make_compatible(self, primitive: base.Data, target_version: str) -> None:
        super().obj_make_compatible(primitive, target_version)
        if versionutils.convert_version_to_tuple(target_version) < (1, 1):
            primitive.pop('image_properties', None)

    @classmethod
    def for_deletion(cls, row: typing.Any) -> typing.Self:
        """Return an Instance with what a host needs to delete the server of a row: OF_DELETION."""
        return cls(**{name: getattr(row, name) for name in OF_DELETION})

    @classmethod
    def from_row(cls, row: typing.Any, **more: typing.Any) -> typing.Self:
        """Return the Instance of a row of `instances`.

        more: {field: value} in place of the row's
        """
        flavors = {
            name: flavor.Flavor(**getattr(row, name)) if getattr(row, name) else None
            for name in ('flavor', 'old_flavor', 'new_flavor')
        }
        return cls.of(row, **{**flavors, **more})
