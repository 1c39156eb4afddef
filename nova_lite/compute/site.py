"""Site: what the parts of a compute daemon work with, put together once."""

import collections.abc
import dataclasses
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.virt import driver as protocol


class Allocations(typing.Protocol):
    """Allocations of servers and moves, as a compute changes them."""

    def release(
        self,
        ctxt: typing.Any,
        consumer: str,
        provider_uuids: collections.abc.Collection[str],
        *,
        unless: typing.Callable[[], bool] | None = None,
    ) -> bool:
        """Give up what a consumer holds on some providers; False when that was nothing."""

    def delete_allocations(
        self,
        ctxt: typing.Any,
        consumer: str,
        *,
        force: bool = False,
        keep: collections.abc.Collection[str] = (),
    ) -> bool:
        """Give up all that a consumer holds; False when that was nothing."""


class Providers(typing.Protocol):
    """Resource providers, as a compute reads them."""

    def inventories(
        self, ctxt: typing.Any, uuid: str
    ) -> tuple[dict[str, dict[str, typing.Any]], int]:
        """Return ({resource class: inventory}, generation) of a provider."""


class Placement(Allocations, typing.Protocol):
    """Placement, as a compute uses it itself; clients.registration needs more of it."""

    @property
    def providers(self) -> Providers:
        """The resource providers."""


@dataclasses.dataclass
class Site:
    """Everything a compute process reaches, by name.

    hosts: names of the service hosts; nodes: {host: [hypervisor node, ...]}
    began: when the process began, in the seconds of runtime.boottime
    """

    conf: typing.Any
    hosts: tuple[str, ...]
    nodes: dict[str, list[str]]
    driver: protocol.Driver
    conductor: typing.Any
    placement: Placement
    network: typing.Any
    volume: typing.Any
    image: typing.Any
    began: float = dataclasses.field(default_factory=runtime.boottime)
    jobs: typing.Any = None
    claims: typing.Any = None
    inventory: typing.Any = None

    def up_hosts(self):
        """The hosts whose hypervisors answer; the others are as if this process were not."""
        return [
            host for host in self.hosts if any(self.driver.is_up(node) for node in self.nodes[host])
        ]

    def node_of(self, host, instance):
        """The node on which a host has, or would look for, a server's guest."""
        nodes = self.nodes[host]
        return instance.node if instance.node in nodes else nodes[0]

    def node_with(self, host, guest):
        """The node of a host that has a guest; raises GuestNotFound."""
        for node in self.nodes[host]:
            try:
                return self.driver.get_guest(node, guest).node
            except exception.GuestNotFound as error:
                missing = error
        raise missing


def nodes_of(hosts, names):
    """{host: [node, ...]} of one host with all the nodes, or of hosts with a like-named node."""
    if len(hosts) == 1:
        return {hosts[0]: list(names)}
    known = set(names)
    missing = [host for host in hosts if host not in known]
    if missing:
        raise ValueError(f'the driver has no nodes for the hosts {missing}')
    return {host: [host] for host in hosts}
