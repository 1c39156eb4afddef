"""The shapes of placement's responses and requests."""

import typing

# A query string as pairs of key and value.
Pairs: typing.TypeAlias = tuple[tuple[str, str], ...]
# Query strings that are sent together.
Queries: typing.TypeAlias = tuple[Pairs, ...]


class Part(typing.TypedDict):
    """The resources allocated from one provider. resources: {class: amount}"""

    resources: dict[str, int]


# By the uuids of providers.
Wanted: typing.TypeAlias = dict[str, Part]


class AllocationRequest(typing.TypedDict):
    """One way to allocate the requested resources. mappings: {suffix of a group: providers}"""

    allocations: Wanted
    mappings: typing.NotRequired[dict[str, list[str]]]


class Amounts(typing.TypedDict):
    """The capacity of a resource class of a provider, with ratio and reserve applied."""

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
