"""Base of request filters, and the data that they use."""

import collections.abc
import dataclasses
import typing

from nova_lite.objects import request_spec
from nova_lite.scheduler import hosts

# A function of a network's id and a port's id, either of which may be None.
SegmentAggregates: typing.TypeAlias = collections.abc.Callable[
    [str | None, str | None], set[str] | None
]


def _not_routed(network_id: str | None, port_id: str | None) -> None:
    """Require nothing: no network has segments."""


@dataclasses.dataclass(frozen=True)
class Deployment:
    """The deployment, as request filters see it.

    options: [scheduler]; oldest_compute: lowest version of a compute service
    segment_aggregates: function of (network id or None, port id or None) that returns the uuids of
        the aggregates of the network's segments, or None if the network is not routed
    """

    options: typing.Any
    aggregates: hosts.Aggregates = dataclasses.field(default_factory=hosts.Aggregates)
    oldest_compute: int = 0
    segment_aggregates: SegmentAggregates = _not_routed


RequestFilter: typing.TypeAlias = collections.abc.Callable[
    [request_spec.RequestSpec, Deployment], str | None
]
