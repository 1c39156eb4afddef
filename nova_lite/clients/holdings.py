"""Allocations of consumers in placement, as they are read and as they are written."""

from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from nova_lite.clients import offers
from nova_lite.clients import session

# {provider uuid: {resource class: amount}} of existing allocations
Allocations: typing.TypeAlias = dict[str, dict[str, int]]


@dataclasses.dataclass(frozen=True)
class Consumer:
    """The consumer of allocations: an instance or a migration, by its uuid."""

    uuid: str
    project_id: str | None
    user_id: str | None


Claim: typing.TypeAlias = tuple[Consumer, offers.AllocationRequest]


@dataclasses.dataclass(frozen=True)
class Holding:
    """The allocations of a consumer; false if there are none.

    allocations: {provider uuid: {resource class: amount}}
    generation:  None for a consumer that placement does not know
    """

    allocations: Allocations = dataclasses.field(default_factory=dict)
    generation: int | None = None
    project_id: str | None = None
    user_id: str | None = None

    def __bool__(self) -> bool:
        return bool(self.allocations)

    def of(self, providers: Container[str | None]) -> Allocations:
        """Return the allocations on `providers`."""
        return {uuid: held for uuid, held in self.allocations.items() if uuid in providers}

    def besides(self, providers: Container[str | None]) -> Allocations:
        """Return the allocations on all providers except `providers`."""
        return {uuid: held for uuid, held in self.allocations.items() if uuid not in providers}

    def covers(self, wanted: offers.Wanted) -> bool:
        """Return whether the allocations include `wanted` ({provider: {'resources': …}})."""
        return all(
            self.allocations.get(provider, {}).get(resource, 0) >= amount
            for provider, part in wanted.items()
            for resource, amount in part['resources'].items()
        )

    def plus(self, wanted: offers.Wanted) -> offers.Wanted:
        """Return the allocations together with `wanted`, in the form of a request."""
        total = {provider: dict(held) for provider, held in self.allocations.items()}
        add(total, {provider: part['resources'] for provider, part in wanted.items()})
        return as_request(total)


def add(total: Allocations, more: Mapping[str, Mapping[str, int]]) -> None:
    """Add amounts to others, by provider and resource class."""
    for provider, resources in more.items():
        held = total.setdefault(provider, {})
        for name, amount in resources.items():
            held[name] = held.get(name, 0) + amount


def as_request(allocations: Allocations) -> offers.Wanted:
    """Return allocations in the form of a request."""
    return {provider: {'resources': held} for provider, held in allocations.items()}


def entry(
    consumer: Consumer,
    allocations: offers.Wanted,
    generation: int | None,
    *,
    mappings: dict[str, list[str]] | None = None,
) -> session.Json:
    """Return a consumer's part of a request that changes allocations."""
    made: session.Json = {
        'allocations': allocations,
        'project_id': consumer.project_id,
        'user_id': consumer.user_id,
        'consumer_generation': generation,
    }
    if mappings and allocations:
        made['mappings'] = mappings
    return made


def claims(found: Iterable[Claim]) -> session.Json:
    """Return a request that claims for several consumers without allocations."""
    return {
        consumer.uuid: entry(
            consumer, request['allocations'], None, mappings=request.get('mappings')
        )
        for consumer, request in found
    }
