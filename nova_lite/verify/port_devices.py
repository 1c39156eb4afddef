"""Ports that are PCI devices: of guests, of records, and of the network service."""

from collections.abc import Iterator

from nova_lite.lifecycle.guests import port_requests
from nova_lite.objects import port_devices
from nova_lite.verify import findings
from nova_lite.verify import numa
from nova_lite.verify import observed
from nova_lite.virt import topology

Finding = findings.Finding


def are_held(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I13: a port that is a device holds a fitting device, and its binding names that device."""
    hosts, there = numa.hosts(snapshot), numa.parts_of(snapshot)
    ports = {port['id']: port for port in snapshot.ports}
    for _cell, row in snapshot.resting():
        host = hosts.get(row.node)
        requests = port_requests.requests(row.network_info or ())
        if not requests or host is None or row.vm_state in numa.FAILED:
            continue
        claimed = topology.port_devices(there.get(row.node, {}).get(row.uuid, ()))
        devices = {device.address: device for device in host.devices}
        for request in requests:
            subject = f'port {request.name} of server {row.uuid}'
            address = claimed.get(request.name)
            if address is None:
                yield Finding('I13', subject, f'has no PCI device of {row.node}')
                continue
            device = devices.get(address)
            if device is not None and not request.fits(device):
                yield Finding('I13', subject, f'is PCI device {address}, which does not fit')
            profile = ports.get(request.name, {}).get(port_devices.PROFILE)
            named = (profile or {}).get(port_devices.SLOT)
            if request.name in ports and named != address:
                what = f'is PCI device {address} of {row.node}, its binding names {named}'
                yield Finding('I13', subject, what)
