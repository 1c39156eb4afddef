"""Guests: a server's records in the terms of the driver.

Sizes follow the flavor. A server that boots from a volume has no local root disk.
"""

from collections.abc import Iterable
from collections.abc import Sequence

from oslo_config import cfg
from oslo_utils import strutils

from nova_lite import exception
from nova_lite import states
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import block_device
from nova_lite.objects import flavor as flavors
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

MIB_PER_GIB = 1024
VOLUME = 'volume'


def name_of(conf: cfg.ConfigOpts, instance: objects.Instance) -> str:
    """Return the guest's name on its hypervisor."""
    template: str = conf.instance_name_template
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


def boots_from_volume(block_devices: Sequence[block_device.BlockDevice]) -> bool:
    """Return whether the first boot device is a volume."""
    return any(
        device.get('boot_index') == 0 and device.destination_type == VOLUME
        for device in block_devices
    )


def disk_gb(flavor: flavors.Flavor, block_devices: Sequence[block_device.BlockDevice]) -> int:
    """Return the GiB of local disks: root, ephemeral and swap together."""
    root = 0 if boots_from_volume(block_devices) else flavor.root_gb
    return root + flavor.ephemeral_gb + -(-flavor.swap // MIB_PER_GIB)


def spec_of(
    conf: cfg.ConfigOpts,
    instance: objects.Instance,
    *,
    block_devices: Sequence[block_device.BlockDevice] = (),
    network_info: Iterable[model.Json] | None = None,
    image_id: str | None = None,
    shares: Iterable[conductor_rpc.Share] = (),
) -> model.GuestSpec:
    """Return the definition of a server's guest with its devices.

    network_info: that of the ports to plug; None means that of the record
    image_id: image in place of the server's own (rescue); None
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
            *(share_of(share) for share in shares),
        ),
        config_drive=strutils.bool_from_string(instance.get('config_drive')),
        title=instance.display_name,
    )


def constraints_of(
    instance: objects.Instance, ports: Sequence[model.Json] | None = None
) -> constraints.Constraints:
    """Return the requirements of a server on its host, besides sizes, by its flavor and image.

    ports: requested networks or entries of network_info; None means those of the record
    Raise Invalid if flavor and image contradict: a former release has accepted the server.
    """
    if ports is None:
        ports = instance.get('network_info') or ()
    return constraints.of(
        constraints.Asked.of(
            instance.flavor.as_dict(),
            instance.get('image_properties') or {},
            image_id=instance.get('image_ref') or '',
            ports=ports,
        )
    )


def volume_of(device: block_device.BlockDevice) -> model.Device:
    """Return the driver's definition of a volume. device: its block device"""
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


def share_of(share: conductor_rpc.Share) -> model.Device:
    """Return the driver's definition of a share."""
    data = {
        'tag': share['tag'],
        'share_proto': share['share_proto'],
        'export_location': share['export_location'],
    }
    return model.Device(model.DeviceKind.SHARE, share['share_id'], data)


def interface_of(vif: model.Json) -> model.Device:
    """Return the driver's definition of an interface. vif: entry of network information"""
    return model.Device(model.DeviceKind.INTERFACE, vif['id'], {'mac_address': vif.get('address')})


def power_state(driver: protocol.Driver, node: str, uuid: str) -> states.PowerState:
    """Return the power state of a guest. Raise GuestNotFound."""
    return driver.get_guest(node, uuid).power_state


def require_running(driver: protocol.Driver, node: str, uuid: str, *, action: str) -> None:
    """Raise InstanceInvalidState unless the guest runs. action: the requested action"""
    found = power_state(driver, node, uuid)
    if found is not states.PowerState.RUNNING:
        raise exception.InstanceInvalidState(
            action=action, instance_id=uuid, attr='power_state', state=found.name.lower()
        )
