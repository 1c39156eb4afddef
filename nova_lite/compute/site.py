"""Site: the objects that the parts of a compute daemon share."""

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import typing

from oslo_config import cfg

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import image as images
from nova_lite.clients import network as networks
from nova_lite.clients import placement as placements
from nova_lite.clients import share as shares
from nova_lite.clients import volume as volumes
from nova_lite.compute import build_turns
from nova_lite.compute import claims
from nova_lite.compute import guest_work
from nova_lite.compute import hardware
from nova_lite.compute import joined_releases
from nova_lite.compute import joined_reports
from nova_lite.compute import plugs
from nova_lite.lifecycle import fitting
from nova_lite.metadata import vendor_services
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import driver as protocol


class Inventory(typing.Protocol):
    """The resources of the nodes, as far as parts of the compute daemon share it."""

    def provider(self, node: str) -> str | None:
        """Return the uuid of a node, which is that of its resource provider; None if unknown."""

    def limits(self, node: str) -> claims.Amounts:
        """Return {resource class: amount} that the node may promise to guests in all."""

    def ratios(self, node: str) -> fitting.Ratios:
        """Return the allocation ratios of the node's shared CPUs and of its memory."""

    def reread_ratios(self, node: str) -> bool:
        """Read the ratios of operators from placement. Return whether they have changed."""


@dataclasses.dataclass
class Site:
    """The clients, the driver and the hosts of a compute process.

    hosts: names of the service hosts; nodes: {host: [hypervisor node, ...]}
    began: start of the process, as runtime.boottime
    reports, releases: calls to the conductor, and to placement and the network service, that many
        servers make together
    """

    conf: cfg.ConfigOpts
    hosts: tuple[str, ...]
    nodes: dict[str, list[str]]
    driver: protocol.Driver
    conductor: conductor_rpc.ConductorAPI
    placement: placements.Placement
    network: networks.Network
    volume: volumes.Volume
    share: shares.Share
    image: images.Image
    vendor_services: vendor_services.Services
    jobs: guest_work.Jobs
    hardware: hardware.Hardware
    claims: claims.Claims
    plugs: plugs.Plugs
    build_turns: build_turns.BuildTurns
    reports: joined_reports.JoinedReports = dataclasses.field(init=False)
    releases: joined_releases.JoinedReleases = dataclasses.field(init=False)
    inventory: Inventory = dataclasses.field(init=False)
    began: float = dataclasses.field(default_factory=runtime.boottime)

    def __post_init__(self) -> None:
        self.reports = joined_reports.JoinedReports(self.conductor)
        self.releases = joined_releases.JoinedReleases(self.placement, self.network)

    def up_hosts(self) -> list[str]:
        """Return the hosts whose hypervisors answer. The process does nothing for other hosts."""
        up = self.driver.up_nodes()
        return [host for host in self.hosts if not up.isdisjoint(self.nodes[host])]

    def host_of(self, node: str) -> str:
        """Return the host of a node."""
        return next(host for host, nodes in self.nodes.items() if node in nodes)

    def node_of(self, host: str, instance: objects.Instance) -> str:
        """Return the node on which a host has, or would look for, a server's guest."""
        nodes = self.nodes[host]
        return instance.node if instance.node in nodes else nodes[0]

    def node_with(self, host: str, guest: str) -> str:
        """Return the node of a host that has a guest. Raise GuestNotFound."""
        for node in self.nodes[host]:
            try:
                return self.driver.get_guest(node, guest).node
            except exception.GuestNotFound as error:
                missing = error
        raise missing


def nodes_of(hosts: Sequence[str], names: Iterable[str]) -> dict[str, list[str]]:
    """Return {host: [node, ...]}. A single host has all nodes, other hosts those of their names."""
    if len(hosts) == 1:
        return {hosts[0]: list(names)}
    known = set(names)
    missing = [host for host in hosts if host not in known]
    if missing:
        raise ValueError(f'the driver has no nodes for the hosts {missing}')
    return {host: [host] for host in hosts}
