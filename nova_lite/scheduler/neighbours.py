"""What the scheduler asks of other services, and the shapes of what they answer."""

import collections.abc
import typing

from nova_lite import context
from nova_lite.clients import placement as client

# A query string as pairs of key and value, and those that are asked together.
Pairs: typing.TypeAlias = tuple[tuple[str, str], ...]
Queries: typing.TypeAlias = tuple[Pairs, ...]
# {total, reserved, allocation_ratio, ...} of a resource class, and {'fixed_ips', ...} of a port
Body: typing.TypeAlias = dict[str, typing.Any]


class Part(typing.TypedDict):
    """What an allocation request takes of one provider. resources: {class: amount}"""

    resources: dict[str, int]


class AllocationRequest(typing.TypedDict):
    """One way to give a server what it asks for. allocations: {provider uuid: Part}"""

    allocations: dict[str, Part]
    mappings: typing.NotRequired[dict[str, list[str]]]


class Amounts(typing.TypedDict):
    """How much of a resource class a provider has, ratio and reserve applied."""

    capacity: int
    used: int


class Summary(typing.TypedDict):
    """A provider of a tree that has candidates."""

    resources: dict[str, Amounts]
    root_provider_uuid: typing.NotRequired[str | None]


class Offer(typing.TypedDict):
    """Placement's allocation candidates. provider_summaries: {provider uuid: Summary}"""

    allocation_requests: list[AllocationRequest]
    provider_summaries: dict[str, Summary]


class Providers(typing.Protocol):
    """Resource providers, as the scheduler reads them."""

    def inventories(self, ctxt: context.RequestContext, uuid: str) -> tuple[dict[str, Body], int]:
        """Return ({resource class: inventory}, generation) of a provider."""

    def usages(self, ctxt: context.RequestContext, uuid: str) -> dict[str, int]:
        """Return {resource class: amount in use} of a provider."""

    def traits(self, ctxt: context.RequestContext, uuid: str) -> tuple[set[str], int]:
        """Return (traits, generation) of a provider."""

    def aggregates(self, ctxt: context.RequestContext, uuid: str) -> tuple[set[str], int]:
        """Return (uuids of aggregates, generation) of a provider."""


class Placement(typing.Protocol):
    """Placement, as the scheduler uses it."""

    @property
    def providers(self) -> Providers:
        """The resource providers."""

    def candidates(self, ctxt: context.RequestContext, query: Pairs) -> Offer:
        """Ask for allocation candidates; raises Invalid for a query that contradicts itself."""

    def claim(
        self,
        ctxt: context.RequestContext,
        consumer: client.Consumer,
        request: AllocationRequest,
        *,
        new: bool = False,
        free: bool = False,
        beside: collections.abc.Collection[str] | None = None,
    ) -> bool:
        """Take what an allocation request says; False when it is no longer there."""

    def claim_all(
        self,
        ctxt: context.RequestContext,
        claims: collections.abc.Iterable[tuple[client.Consumer, AllocationRequest]],
    ) -> bool:
        """Take them for several consumers that hold nothing yet, or for none."""

    def release(
        self,
        ctxt: context.RequestContext,
        consumer: str,
        provider_uuids: collections.abc.Collection[str],
    ) -> bool:
        """Give up what a consumer holds on some providers; False when that was nothing."""


class Network(typing.Protocol):
    """The network service, as it is asked for routed networks."""

    def get_port(self, ctxt: context.RequestContext, port_id: str) -> Body:
        """One port."""

    def get_subnet(self, ctxt: context.RequestContext, subnet_id: str) -> Body:
        """One subnet."""

    def list_subnets(self, ctxt: context.RequestContext, *, network_id: str) -> list[Body]:
        """The subnets of a network."""
