"""Devices in meta_data.json: those that the user has tagged, and ports with a VLAN."""

from collections.abc import Iterator

from oslo_utils import strutils

from nova_lite.metadata import instance_metadata
from nova_lite.objects import base
from nova_lite.objects import port_devices

# The devices of simulated guests have no addresses.
NO_ADDRESS = {'bus': 'none', 'address': 'none'}
# {key of a port: the version that added it}
VLAN, TRUSTED = 'vlan', 'vf_trusted'
SINCE = {VLAN: '2017-02-22', TRUSTED: '2018-08-27'}


def of(facts: instance_metadata.Facts, version: str) -> list[base.Data]:
    """Return the devices as a version of the document shows them."""
    return [*_interfaces(facts, version), *_disks(facts)]


def _interfaces(facts: instance_metadata.Facts, version: str) -> Iterator[base.Data]:
    for vif in facts.network_info:
        of_device = {key: value for key, value in _of_device(vif).items() if version >= SINCE[key]}
        tags = [vif['tag']] if vif.get('tag') else []
        if tags or VLAN in of_device:
            yield {'type': 'nic', **NO_ADDRESS, 'mac': vif['address'], 'tags': tags, **of_device}


def _of_device(vif: base.Data) -> base.Data:
    """Return the description of the PCI device of a port, for its guest."""
    if vif.get('vnic_type') not in port_devices.TYPES:
        return {}
    vlan = int((vif.get('details') or {}).get('vlan') or 0)
    trusted = (vif.get('profile') or {}).get('trusted')
    found: base.Data = {VLAN: vlan} if vlan else {}
    return found if trusted is None else {**found, TRUSTED: strutils.bool_from_string(trusted)}


def _disks(facts: instance_metadata.Facts) -> Iterator[base.Data]:
    for device in facts.block_devices:
        if device.get('tag'):
            yield {
                'type': 'disk',
                **NO_ADDRESS,
                **({'serial': device.volume_id} if device.get('volume_id') else {}),
                'path': device.get('device_name'),
                'tags': [device.get('tag')],
            }
