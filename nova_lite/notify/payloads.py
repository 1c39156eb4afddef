"""Payloads of versioned notifications: the objects' names, versions and fields.

They are those of nova, so that its consumers understand them, with one additional field:
`cross_cell_move`, for which the payloads of actions are a minor version ahead.
"""

import typing

from oslo_versionedobjects import base
from oslo_versionedobjects import fields

ALL: dict[str, type['Payload']] = {}
P = typing.TypeVar('P', bound='Payload')


class Payload(base.VersionedObject):
    """A part of a notification's payload. It is only sent, never received."""

    OBJ_SERIAL_NAMESPACE = 'nova_object'
    OBJ_PROJECT_NAMESPACE = 'nova'

    def as_wire(self) -> dict[str, typing.Any]:
        """Return the plain values that go into the message."""
        return self.obj_to_primitive()

    def obj_what_changed(self) -> set[str]:
        """Return an empty set: the changes of an object that is only sent do not matter."""
        return set()


def payload(cls: type[P]) -> type[P]:
    """Declare a payload. It is not registered, because no receiver creates it by its name."""
    declared: type[P] = base.VersionedObjectRegistry.register_if(False)(cls)
    ALL[cls.__name__] = declared
    return declared


def _text() -> fields.StringField:
    return fields.StringField(nullable=True)


def _time() -> fields.DateTimeField:
    return fields.DateTimeField(nullable=True)


def _number() -> fields.IntegerField:
    return fields.IntegerField(nullable=True)


@payload
class FlavorPayload(Payload):
    VERSION = '1.4'
    fields = {
        'flavorid': _text(),
        'memory_mb': _number(),
        'vcpus': _number(),
        'root_gb': _number(),
        'ephemeral_gb': _number(),
        'name': fields.StringField(),
        'swap': fields.IntegerField(),
        'rxtx_factor': fields.FloatField(nullable=True),
        'vcpu_weight': _number(),
        'disabled': fields.BooleanField(),
        'is_public': fields.BooleanField(),
        'extra_specs': fields.DictOfNullableStringsField(),
        'projects': fields.ListOfStringsField(nullable=True),
        'description': _text(),
    }


@payload
class IpPayload(Payload):
    VERSION = '1.0'
    fields = {
        'label': _text(),
        'mac': fields.StringField(),
        'meta': fields.DictOfNullableStringsField(),
        'port_uuid': _text(),
        'version': fields.IntegerField(),
        'address': fields.StringField(),
        'device_name': _text(),
    }


@payload
class BlockDevicePayload(Payload):
    VERSION = '1.0'
    fields = {
        'device_name': _text(),
        'boot_index': _number(),
        'delete_on_termination': fields.BooleanField(),
        'volume_id': _text(),
        'tag': _text(),
    }


@payload
class SharePayload(Payload):
    """A share of a server, without its path, which a policy of its own guards in the API."""

    VERSION = '1.0'
    fields = {
        'share_mapping_uuid': fields.UUIDField(),
        'share_id': fields.UUIDField(),
        'status': _text(),
        'tag': fields.StringField(),
    }


@payload
class ExceptionPayload(Payload):
    VERSION = '1.1'
    fields = {
        'module_name': fields.StringField(),
        'function_name': fields.StringField(),
        'exception': fields.StringField(),
        'exception_message': fields.StringField(),
        'traceback': _text(),
    }


@payload
class KeypairPayload(Payload):
    VERSION = '1.0'
    fields = {
        'user_id': _text(),
        'name': fields.StringField(),
        'fingerprint': _text(),
        'public_key': _text(),
        'type': fields.StringField(),
    }


@payload
class InstancePayload(Payload):
    """A server. `shares` is null without [notifications]include_share_mapping."""

    VERSION = '1.9'
    fields = {
        'uuid': fields.UUIDField(),
        'user_id': _text(),
        'tenant_id': _text(),
        'reservation_id': _text(),
        'display_name': _text(),
        'display_description': _text(),
        'host_name': _text(),
        'host': _text(),
        'node': _text(),
        'os_type': _text(),
        'architecture': _text(),
        'availability_zone': _text(),
        'flavor': fields.ObjectField('FlavorPayload'),
        'image_uuid': _text(),
        'key_name': _text(),
        'kernel_id': _text(),
        'ramdisk_id': _text(),
        'created_at': _time(),
        'launched_at': _time(),
        'terminated_at': _time(),
        'deleted_at': _time(),
        'updated_at': _time(),
        'state': _text(),
        'power_state': _text(),
        'task_state': _text(),
        'progress': _number(),
        'ip_addresses': fields.ListOfObjectsField('IpPayload'),
        'block_devices': fields.ListOfObjectsField('BlockDevicePayload', nullable=True),
        'metadata': fields.DictOfNullableStringsField(),
        'locked': fields.BooleanField(),
        'locked_reason': _text(),
        'auto_disk_config': fields.StringField(),
        'request_id': _text(),
        'action_initiator_user': _text(),
        'action_initiator_project': _text(),
        'shares': fields.ListOfObjectsField('SharePayload', nullable=True),
    }


@payload
class InstanceActionPayload(InstancePayload):
    """cross_cell_move: whether a move crosses cells; else null. Nova has no such field."""

    VERSION = '1.10'
    fields = {
        'fault': fields.ObjectField('ExceptionPayload', nullable=True),
        'cross_cell_move': fields.BooleanField(nullable=True),
    }
    fault: ExceptionPayload | None
    cross_cell_move: bool | None


@payload
class InstanceCreatePayload(InstanceActionPayload):
    VERSION = '1.14'
    fields = {
        'keypairs': fields.ListOfObjectsField('KeypairPayload'),
        'tags': fields.ListOfStringsField(),
        'trusted_image_certificates': fields.ListOfStringsField(nullable=True),
        'instance_name': _text(),
    }


@payload
class InstanceActionResizePrepPayload(InstanceActionPayload):
    VERSION = '1.5'
    fields = {'new_flavor': fields.ObjectField('FlavorPayload', nullable=True)}


@payload
class InstanceActionRescuePayload(InstanceActionPayload):
    VERSION = '1.5'
    fields = {'rescue_image_ref': _text()}


@payload
class InstanceActionRebuildPayload(InstanceActionPayload):
    VERSION = '1.11'
    fields = {'trusted_image_certificates': fields.ListOfStringsField(nullable=True)}


@payload
class InstanceActionSnapshotPayload(InstanceActionPayload):
    VERSION = '1.11'
    fields = {'snapshot_image_id': _text()}


@payload
class InstanceActionVolumePayload(InstanceActionPayload):
    VERSION = '1.8'
    fields = {'volume_id': _text()}


@payload
class InstanceActionSharePayload(InstanceActionPayload):
    VERSION = '1.0'
    fields = {'share_id': _text()}


@payload
class InstanceActionVolumeSwapPayload(InstanceActionPayload):
    VERSION = '1.10'
    fields = {
        'old_volume_id': _text(),
        'new_volume_id': _text(),
    }


@payload
class InstanceStateUpdatePayload(Payload):
    VERSION = '1.0'
    fields = {
        'old_state': _text(),
        'state': _text(),
        'old_task_state': _text(),
        'new_task_state': _text(),
    }


@payload
class AuditPeriodPayload(Payload):
    VERSION = '1.0'
    fields = {
        'audit_period_beginning': _time(),
        'audit_period_ending': _time(),
    }


@payload
class InstanceExistsPayload(InstancePayload):
    VERSION = '2.1'
    fields = {'audit_period': fields.ObjectField('AuditPeriodPayload')}


@payload
class InstanceUpdatePayload(InstancePayload):
    VERSION = '2.1'
    fields = {
        'state_update': fields.ObjectField('InstanceStateUpdatePayload'),
        'audit_period': fields.ObjectField('AuditPeriodPayload'),
        'old_display_name': _text(),
        'tags': fields.ListOfStringsField(),
    }
    state_update: InstanceStateUpdatePayload
    old_display_name: str | None


@payload
class ComputeTaskPayload(Payload):
    VERSION = '1.0'
    fields = {
        'instance_uuid': fields.UUIDField(),
        'request_spec': fields.ObjectField('RequestSpecPayload', nullable=True),
        'state': _text(),
        'reason': fields.ObjectField('ExceptionPayload'),
    }


@payload
class ServiceStatusPayload(Payload):
    VERSION = '1.1'
    fields = {
        'host': _text(),
        'binary': _text(),
        'topic': _text(),
        'report_count': fields.IntegerField(),
        'disabled': fields.BooleanField(),
        'disabled_reason': _text(),
        'availability_zone': _text(),
        'last_seen_up': _time(),
        'forced_down': fields.BooleanField(),
        'version': fields.IntegerField(),
        'uuid': fields.UUIDField(),
    }


@payload
class AggregatePayload(Payload):
    VERSION = '1.1'
    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'name': _text(),
        'hosts': fields.ListOfStringsField(nullable=True),
        'metadata': fields.DictOfNullableStringsField(nullable=True),
    }


@payload
class AggregateCachePayload(Payload):
    """The result for one of the aggregate's hosts, the `index`th of `total`."""

    fields = {
        'id': fields.IntegerField(),
        'uuid': fields.UUIDField(),
        'name': _text(),
        'host': _text(),
        'images_cached': fields.ListOfStringsField(),
        'images_failed': fields.ListOfStringsField(),
        'index': fields.IntegerField(),
        'total': fields.IntegerField(),
    }


@payload
class ServerGroupPayload(Payload):
    VERSION = '1.1'
    fields = {
        'uuid': fields.UUIDField(),
        'name': _text(),
        'user_id': _text(),
        'project_id': _text(),
        'policies': fields.ListOfStringsField(nullable=True),
        'members': fields.ListOfStringsField(nullable=True),
        'hosts': fields.ListOfStringsField(nullable=True),
        'policy': _text(),
        'rules': fields.DictOfStringsField(),
    }
