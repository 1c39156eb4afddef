"""PCI devices that the ports of a guest request."""

from collections.abc import Iterable
import dataclasses

from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.objects import port_devices
from nova_lite.virt import pci

# Kinds of devices of types of ports. Other types are virtual functions, or devices without such.
KINDS = {'direct-physical': pci.PF, 'vdpa': pci.VDPA}
REMOTE_MANAGED = 'remote-managed'


@dataclasses.dataclass(frozen=True)
class PortRequest(guest_pci.Request):
    """The request of a port for a device. name: the id of the port; kind: None if any will do"""

    kind: str | None = None
    physical_network: str | None = None
    trusted: bool = False
    remote_managed: bool = False

    @property
    def of(self) -> str:
        network = (
            f'physical network {self.physical_network}' if self.physical_network else 'tunnels'
        )
        return f'of {network} for port {self.name}'

    def fits(self, device: pci.Device) -> bool:
        return (
            device.for_ports
            and device.physical_network == self.physical_network
            and device.remote_managed == self.remote_managed
            and guest_pci.is_of(self.kind, device)
            and (device.trusted or not self.trusted)
        )


def requests(
    ports: Iterable[port_devices.Fields], policy: str | None = None
) -> tuple[PortRequest, ...]:
    """Return the requests of ports.

    ports: requested networks, or entries of network_info
    policy: NUMA affinity that flavor and image ask for, for ports without one of their own
    """
    found = []
    for port in ports:
        kind, wanted = port.get(port_devices.TYPE), port.get(port_devices.KEY)
        if kind not in port_devices.TYPES or wanted is None:
            continue
        found.append(
            PortRequest(
                name=port.get('port_id') or port['id'],
                count=1,
                specs=(),
                policy=wanted['numa_policy'] or policy or guest_pci.LEGACY,
                kind=KINDS.get(kind),
                physical_network=wanted['physical_network'],
                trusted=wanted['trusted'],
                remote_managed=kind == REMOTE_MANAGED,
            )
        )
    return tuple(found)
