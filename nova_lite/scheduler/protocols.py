"""The parts of other services' clients that the scheduler uses."""

import collections.abc
import typing

from nova_lite import context
from nova_lite.clients import offers
from nova_lite.clients import placement as client
from nova_lite.clients import providers

# Query strings that are sent together.
Queries: typing.TypeAlias = tuple[offers.Pairs, ...]
# {'fixed_ips', ...} of a port
Body: typing.TypeAlias = dict[str, typing.Any]


class Providers(typing.Protocol):
    """Resource providers, as the scheduler reads them."""

    def inventories(
        self, ctxt: context.RequestContext, uuid: str
    ) -> tuple[providers.Inventories, int]:
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
        """Return the resource providers."""

    def candidates(self, ctxt: context.RequestContext, query: offers.Pairs) -> offers.Offer:
        """Return the allocation candidates. Raise Invalid for a query that contradicts itself."""

    def claim(
        self,
        ctxt: context.RequestContext,
        consumer: client.Consumer,
        request: offers.AllocationRequest,
        *,
        new: bool = False,
        free: bool = False,
        beside: collections.abc.Collection[str] | None = None,
    ) -> bool:
        """Claim an allocation request. Return False if the resources are not available."""

    def claim_all(
        self,
        ctxt: context.RequestContext,
        claims: collections.abc.Iterable[tuple[client.Consumer, offers.AllocationRequest]],
    ) -> bool:
        """Claim for several consumers that have no allocations yet, or for none of them."""

    def release(
        self,
        ctxt: context.RequestContext,
        consumer: str,
        provider_uuids: collections.abc.Collection[str],
    ) -> bool:
        """Release a consumer's allocations on `provider_uuids`. Return False if it had none."""


class Network(typing.Protocol):
    """The network service, for routed networks."""

    def get_port(self, ctxt: context.RequestContext, port_id: str) -> Body:
        """Return one port."""

    def get_subnet(self, ctxt: context.RequestContext, subnet_id: str) -> Body:
        """Return one subnet."""

    def list_subnets(self, ctxt: context.RequestContext, *, network_id: str) -> list[Body]:
        """Return the subnets of a network."""
