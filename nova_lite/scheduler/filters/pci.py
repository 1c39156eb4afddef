"""The filter that looks for PCI devices of guests on hosts."""

from nova_lite.lifecycle import device_fitting
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base


class PciPassthroughFilter(base.Filter):
    """The host has the PCI devices that the guest wants, and other guests do not hold these.

    NUMATopologyFilter looks for devices that are near to the NUMA nodes of the guest.
    """

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        devices = request.guest.requested
        if not devices:
            return None

        def refuse(host: hosts.HostState) -> str | None:
            found = device_fitting.choose(host.rooms().devices, devices, None)
            return found if isinstance(found, str) else None

        return refuse
