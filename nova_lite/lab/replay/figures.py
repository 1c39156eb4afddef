"""Figures of a cloud at one moment, from the states of its hosts."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import math

from nova_lite.lab.replay import trace


@dataclasses.dataclass(frozen=True)
class Sample:
    """The cloud at one moment of the trace's time.

    accepted, rejected: numbers of arrivals so far; servers: number of servers at this moment
    vcpus, memory: allocated share (0 to 1) of the capacity with allocation ratios applied
    empty_hosts: hosts without a server
    fit: number of servers of the reference flavor that fit; fit_whole: the number that would fit if
        all free resources were in one place
    jain: Jain's index of the allocated shares of vCPUs; 1 if the shares of all hosts are equal
    variation: coefficient of variation of these shares
    """

    at_s: float
    accepted: int
    rejected: int
    servers: int
    vcpus: float
    memory: float
    empty_hosts: int
    fit: int
    fit_whole: int
    jain: float
    variation: float

    @property
    def acceptance(self) -> float:
        """Return the share of the arrivals so far that got a host; 1 before the first arrival."""
        arrived = self.accepted + self.rejected
        return self.accepted / arrived if arrived else 1.0

    @property
    def stranded(self) -> float:
        """Return the share of the reference servers that fragments prevent."""
        return 1 - self.fit / self.fit_whole if self.fit_whole else 0.0


# The resource classes of a server's size, in the order of trace.Size.
RESOURCES = ('VCPU', 'MEMORY_MB', 'DISK_GB')
Amounts = Mapping[str, int]
Room = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Host:
    """The resources of a host as placement counts them, by class. servers: number of its servers

    capacity: with reserves and allocation ratios applied
    """

    capacity: Amounts
    used: Amounts
    servers: int

    @property
    def free(self) -> Room:
        """Return the free vCPUs, MiB and GiB."""
        return tuple(self.capacity.get(name, 0) - self.used.get(name, 0) for name in RESOURCES)

    @property
    def share(self) -> float:
        """Return the share of the vCPUs that is allocated."""
        capacity = self.capacity.get('VCPU', 0)
        return self.used.get('VCPU', 0) / capacity if capacity else 0.0


def fit(free: Room, size: trace.Size) -> int:
    """Return the number of servers of a size that fit into free resources."""
    vcpus, memory_mb, disk_gb = free
    found = min(vcpus // size.vcpus, memory_mb // size.memory_mb)
    if size.disk_gb:
        found = min(found, disk_gb // size.disk_gb)
    return max(0, found)


def sample(
    at_s: float,
    hosts: Sequence[Host],
    reference: trace.Size,
    *,
    accepted: int,
    rejected: int,
) -> Sample:
    """Return the figures of the hosts, of which there may be none.

    reference: the size whose room is counted
    """
    rooms = [host.free for host in hosts]
    whole = tuple(sum(room[index] for room in rooms) for index in range(len(RESOURCES)))
    vcpus, memory = (
        sum(host.capacity.get(name, 0) for host in hosts) for name in ('VCPU', 'MEMORY_MB')
    )
    shares = [host.share for host in hosts] or [0.0]
    mean = sum(shares) / len(shares)
    squares = sum(share * share for share in shares)
    deviation = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    return Sample(
        at_s=at_s,
        accepted=accepted,
        rejected=rejected,
        servers=sum(host.servers for host in hosts),
        vcpus=1 - whole[0] / vcpus if vcpus else 0.0,
        memory=1 - whole[1] / memory if memory else 0.0,
        empty_hosts=sum(1 for host in hosts if not host.servers),
        fit=sum(fit(room, reference) for room in rooms),
        fit_whole=fit(whole, reference),
        jain=sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0,
        variation=deviation / mean if mean else 0.0,
    )
