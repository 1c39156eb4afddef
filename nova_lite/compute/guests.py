"""Guests: a server's records in the terms of the driver.

Sizes follow the flavor; a server that boots from a volume has no root disk here.
"""

from oslo_utils import strutils

from nova_lite import exception
from nova_lite import states
from nova_lite.virt import model

MIB_PER_GIB = 1024
VOLUME = 'volume'


def name_of(conf, instance):
    """Return the guest's name on its hypervisor."""
    template = conf.instance_name_template
    if '%(' not in template:
        return template % instance.id
    return template % {
        'id': instance.id,
        'uuid': instance.uuid,
        'display_name': instance.display_name,
        'hostname': instance.get('hostname'),
        'project_id': instance.project_id,
        'user_id': instance.user_id,
    }


def boots_from_volume(block_devices):
    """Return whether the first boot device is a volume."""
    return any(
        device.get('boot_index') == 0 and device.destination_type == VOLUME
        for device in block_devices
    )


def disk_gb(flavor, block_devices):
    """GiB of local disks: root, ephemeral and swap together."""
    root = 0 if boots_from_volume(block_devices) else flavor.root_gb
    return root + flavor.ephemeral_gb + -(-flavor.swap // MIB_PER_GIB)


def spec_of(conf, instance, *, block_devices=(), network_info=None, image_id=None):
    """Return the definition of a server's guest with its devices.

    network_info: of the ports to plug; None takes what the record says
    image_id: another image than the server's own (rescue)
    """
    if network_info is None:
        network_info = instance.get('network_info') or ()
    flavor = instance.flavor
    return model.GuestSpec(
        uuid=instance.uuid,
        name=name_of(conf, instance),
        flavor=flavor.name,
        vcpus=flavor.vcpus,
        memory_mb=flavor.memory_mb,
        disk_gb=disk_gb(flavor, block_devices),
        image_id=image_id or instance.get('image_ref') or None,
        metadata=dict(instance.get('metadata') or {}),
        devices=(
            *(volume_of(device) for device in block_devices if device.get('volume_id')),
            *(interface_of(vif) for vif in network_info),
        ),
        config_drive=strutils.bool_from_string(instance.get('config_drive')),
        title=instance.display_name,
    )


def volume_of(device):
    """Return a block device that is a volume, as the driver plugs it."""
    return model.Device(
        model.DeviceKind.VOLUME,
        device.volume_id,
        {
            'device_name': device.get('device_name'),
            'boot_index': device.get('boot_index'),
            'tag': device.get('tag'),
            'connection_info': device.get('connection_info'),
        },
    )


def interface_of(vif):
    """Return an entry of network information, as the driver plugs it."""
    return model.Device(model.DeviceKind.INTERFACE, vif['id'], {'mac_address': vif.get('address')})


def power_state(driver, node, uuid):
    """Return the power state of a guest; raises GuestNotFound."""
    return driver.get_guest(node, uuid).power_state


def require_running(driver, node, uuid, *, action):
    """Raise InstanceInvalidState unless the guest runs; `action` is what it is asked for."""
    found = power_state(driver, node, uuid)
    if found is not states.PowerState.RUNNING:
        raise exception.InstanceInvalidState(
            action=action, instance_id=uuid, attr='power_state', state=found.name.lower()
        )
