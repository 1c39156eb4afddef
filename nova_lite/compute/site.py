"""Site: the objects that the parts of a compute daemon share."""

import collections.abc
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import typing

from oslo_config import cfg

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import client_set
from nova_lite.clients import image as images
from nova_lite.clients import network as networks
from nova_lite.clients import plugging
from nova_lite.clients import registration
from nova_lite.clients import release
from nova_lite.clients import requested
from nova_lite.clients import session
from nova_lite.clients import volume as volumes
from nova_lite.compute import claims
from nova_lite.compute import guest_work
from nova_lite.compute import plugs
from nova_lite.objects import instance as objects
from nova_lite.rpcapi import conductor as conductor_rpc
from nova_lite.virt import driver as protocol


class Providers(registration.Providers, typing.Protocol):
    """Resource providers, as a compute registers and reads them."""

    def inventories(
        self, ctxt: typing.Any, uuid: str
    ) -> tuple[dict[str, dict[str, typing.Any]], int]:
        """Return ({resource class: inventory}, generation) of a provider."""


class Placement(release.Placement, release.Allocations, typing.Protocol):
    """Placement, as a compute uses it."""

    @property
    def providers(self) -> Providers:
        """Return the resource providers."""


class Network(release.Network, plugging.Ports, typing.Protocol):
    """The network service, as a compute uses it."""

    def allocate(
        self,
        ctxt: session.Ctxt,
        server: networks.Owner,
        wanted: requested.Wanted | None,
        *,
        host: str,
        groups: collections.abc.Iterable[str] = (),
        again: bool = False,
    ) -> session.Jsons:
        """Create the ports of a server, bound to `host`. Return its network_info."""


class Volume(release.Volume, volumes.Attaching, typing.Protocol):
    """The volume service, as a compute uses it."""

    def create(
        self, ctxt: session.Ctxt, *, size: int, name: str = '', **options: typing.Any
    ) -> session.Json:
        """Start to create a volume of `size` GiB and return it."""

    def get_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> session.Json:
        """Return {'id', 'connection_info'}. Raise AttachmentNotFound."""

    def update_attachment(
        self,
        ctxt: session.Ctxt,
        attachment_id: str,
        connector: session.Json,
        *,
        mountpoint: str | None = None,
    ) -> session.Json:
        """Connect the volume to the host of `connector`; returns {'id', 'connection_info'}."""

    def complete_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> None:
        """Complete the attachment."""


class Image(release.Image, images.Reading, typing.Protocol):
    """The image service, as a compute uses it."""

    def update(
        self,
        ctxt: session.Ctxt,
        image_id: str,
        *,
        values: session.Json | None = None,
        remove: collections.abc.Iterable[str] = (),
    ) -> session.Json:
        """Set attributes and properties, remove properties; returns the image."""

    def upload(
        self, ctxt: session.Ctxt, image_id: str, data: bytes | collections.abc.Iterable[bytes]
    ) -> None:
        """Store the contents of the image and make it active."""


class Inventory(typing.Protocol):
    """The resources of the nodes, as far as parts of the compute daemon share it."""

    def limits(self, node: str) -> claims.Amounts:
        """Return {resource class: amount} that the node may promise to guests in all."""

    def reread_ratios(self, node: str) -> bool:
        """Read the ratios of operators from placement. Return whether they have changed."""


# The clients of all services that a compute uses.
Neighbours: typing.TypeAlias = client_set.Clients[Placement, Network, Volume, release.Share, Image]


@dataclasses.dataclass
class Site:
    """The clients, the driver and the hosts of a compute process.

    hosts: names of the service hosts; nodes: {host: [hypervisor node, ...]}
    began: start of the process, as runtime.boottime
    """

    conf: cfg.ConfigOpts
    hosts: tuple[str, ...]
    nodes: dict[str, list[str]]
    driver: protocol.Driver
    conductor: conductor_rpc.ConductorAPI
    placement: Placement
    network: Network
    volume: Volume
    share: release.Share
    image: Image
    jobs: guest_work.Jobs
    claims: claims.Claims
    plugs: plugs.Plugs
    inventory: Inventory = dataclasses.field(init=False)
    began: float = dataclasses.field(default_factory=runtime.boottime)

    def up_hosts(self) -> list[str]:
        """Return the hosts whose hypervisors answer. The process does nothing for other hosts."""
        up = self.driver.up_nodes()
        return [host for host in self.hosts if not up.isdisjoint(self.nodes[host])]

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
