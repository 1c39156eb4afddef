"""Ports of guests that are PCI devices: report the claimed devices to Neutron."""

from collections.abc import Mapping

from nova_lite import context
from nova_lite.compute import site
from nova_lite.objects import port_devices
from nova_lite.rpc.methods.compute import arguments
from nova_lite.virt import model
from nova_lite.virt import pci
from nova_lite.virt import topology


def profiles(site: site.Site, node: str, guest: str) -> dict[str, model.Json]:
    """Return {port id: values of the profile of its binding} of the devices claimed for a guest."""
    claimed = site.claims.port_devices(node, guest)
    if not claimed:
        return {}
    host = site.hardware.nodes(node)
    return {port: _profile(node, host, address) for port, address in claimed.items()}


def _profile(node: str, host: topology.Host, address: str) -> model.Json:
    devices = {device.address: device for device in host.devices}
    found: model.Json = {port_devices.SLOT: address}
    device = devices.get(address)
    if device is None:
        return found
    found['pci_vendor_info'] = f'{device.vendor_id}:{device.product_id}'
    found['physical_network'] = device.physical_network
    if device.kind == pci.PF:
        # The network service gives the port this address.
        found['device_mac_address'] = pci.mac_address(node, address)
    if device.card_serial_number:
        found['card_serial_number'] = device.card_serial_number
        if device.parent:
            found['vf_num'] = _number(devices, device)
            found['pf_mac_address'] = pci.mac_address(node, device.parent)
    return found


def _number(devices: Mapping[str, pci.Device], device: pci.Device) -> int:
    """Return the number of a virtual function on its card."""
    siblings = sorted(each.address for each in devices.values() if each.parent == device.parent)
    return siblings.index(device.address)


def named(
    site: site.Site, node: str, guest: str, networks: arguments.Networks | None
) -> arguments.Networks | None:
    """Return requested networks, with the devices that are claimed for their ports."""
    if not isinstance(networks, list):
        return networks
    found = profiles(site, node, guest)
    return [
        {**each, port_devices.PROFILE: found[each['port_id']]}
        if each.get('port_id') in found
        else each
        for each in networks
    ]


def put(site: site.Site, ctxt: context.RequestContext, node: str, guest: str) -> None:
    """Name the claimed devices in the bindings of a guest's ports to the host of a node."""
    found = profiles(site, node, guest)
    if found:
        site.network.bindings.put_devices(ctxt, guest, found, site.host_of(node))
