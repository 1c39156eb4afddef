"""The filter that fits NUMA nodes, pinned CPUs and memory pages of guests into hosts."""

from nova_lite.lifecycle import fitting
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base


class NUMATopologyFilter(base.Filter):
    """The host has room for the guest's NUMA nodes beside those of other guests.

    A rebuild keeps the guest's nodes with their CPUs and pages.
    """

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        guest, contradiction = request.guest, request.contradiction
        if contradiction is not None:
            return lambda host: contradiction
        if not guest.nodes:
            return None

        def refuse(host: hosts.HostState) -> str | None:
            found = fitting.fit(host.rooms(), guest, host.ratios)
            return found.reason if isinstance(found, fitting.Misfit) else None

        return refuse
