"""Ports that are PCI devices of their host (SR-IOV): plain values about them.

`device` of a requested network, and of an entry of network_info, describes the device that the port
needs: {'physical_network', 'trusted', 'numa_policy'}. The profile of the port's binding names the
device that it has.
"""

import collections.abc
import typing

# A JSON object.
Json: typing.TypeAlias = dict[str, typing.Any]
Fields: typing.TypeAlias = collections.abc.Mapping[str, typing.Any]

KEY, TYPE, PROFILE = 'device', 'vnic_type', 'binding:profile'
# Types of ports (binding:vnic_type) that are a device of their host.
TYPES = frozenset((
    'direct', 'direct-physical', 'macvtap', 'vdpa', 'virtio-forwarder', 'remote-managed',
))  # fmt: skip
# Types of ports that are devices of an accelerator service. There is none.
ACCELERATORS = frozenset(('accelerator-direct', 'accelerator-direct-physical'))
# Keys of the profile of a binding.
SLOT = 'pci_slot'
KEYS = (
    SLOT, 'pci_vendor_info', 'physical_network', 'card_serial_number', 'vf_num', 'pf_mac_address',
    'device_mac_address',
)  # fmt: skip


def accelerator(networks: collections.abc.Iterable[Fields]) -> str | None:
    """Return the type of the first port that needs an accelerator service, or None.

    networks: as `RequestSpec.requested_networks`
    """
    return next((each[TYPE] for each in networks if each.get(TYPE) in ACCELERATORS), None)


def described(port: Fields, network: Fields) -> Json:
    """Return the description of the device that a port needs.

    port, network: as the network service shows them
    """
    segments = network.get('segments') or [network]
    physical = (segment.get('provider:physical_network') for segment in segments)
    return {
        'physical_network': next(filter(None, physical), None),
        'trusted': str((port.get(PROFILE) or {}).get('trusted')).lower() == 'true',
        'numa_policy': port.get('numa_affinity_policy'),
    }


def without(profile: Fields | None) -> Json:
    """Return the profile of a binding without the keys that describe a device."""
    return {name: value for name, value in (profile or {}).items() if name not in KEYS}
