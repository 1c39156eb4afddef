"""Base class of weighers, and the sum of their weights.

Source: reference/nova/scheduling 7, "Weighing subset".
"""

import abc
import collections.abc
import dataclasses
import logging
import typing

from oslo_config import cfg

from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request

LOG = logging.getLogger(__name__)


# The type of a measure: a function of a host; more is better.
Measure: typing.TypeAlias = collections.abc.Callable[[hosts.HostState], float]


class Weigher(abc.ABC):
    """Base of all weighers, which are known by their class names.

    option: name of the option with the multiplier; key: the multiplier's key in the metadata of
        aggregates, if it differs from the option
    minimum, maximum: ends of the scale, if they do not follow from the hosts
    negated: whether less is better, so that the measure counts with the other sign
    """

    group = 'filter_scheduler'
    option: str
    key: str = ''
    minimum: float | None = None
    maximum: float | None = None
    negated = False

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf
        self.options = conf.filter_scheduler
        self.configured: float = conf[self.group][self.option]
        self.key = self.key or self.option

    @property
    def name(self) -> str:
        return type(self).__name__

    @abc.abstractmethod
    def measure(self, request: scheduling_request.Request) -> Measure | None:
        """Return a function that takes a HostState and returns a number; see `negated`.

        Return None in place of the function if the weigher prefers nothing in this request.
        """

    def multiplier(self, host: hosts.HostState) -> float:
        """Return the multiplier of a host: the smallest of its aggregates, or the option's."""
        values = host.metadata.get(self.key)
        if not values:
            return self.configured
        numbers = [number for number in map(_number, values) if number is not None]
        return min(numbers) if numbers else self.configured


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        LOG.warning('Ignoring multiplier %s in the metadata of an aggregate: not a number', text)
        return None


@dataclasses.dataclass
class Weights:
    """The weights of a list of hosts, in its order.

    sums: [weight of each host]; parts: [(name of a weigher, [its weight of each host])], without
        weighers that preferred nothing
    """

    sums: list[float]
    parts: list[tuple[str, list[float]]] = dataclasses.field(default_factory=list)

    def add(self, weigher: Weigher, weights: list[float]) -> None:
        """Add the weights that a weigher gives the hosts."""
        if self.parts:
            self.sums = [old + new for old, new in zip(self.sums, weights, strict=True)]
        else:
            self.sums = weights
        self.parts.append((weigher.name, weights))

    def of(self, index: int) -> dict[str, float]:
        """Return {weigher: weight} of the host at `index`."""
        return {name: weights[index] for name, weights in self.parts}


def weigh(
    hosts: collections.abc.Sequence[hosts.HostState],
    weighers: collections.abc.Iterable[Weigher],
    request: scheduling_request.Request,
) -> Weights:
    """Return the weights of hosts: each weigher gives 0 to 1, times its multiplier.

    A single host is compared with no other, so its weight is 0.
    """
    found = Weights([0.0] * len(hosts))
    if len(hosts) < 2:
        return found
    # Hosts in the same aggregates share one object.
    keys = set().union(*{id(host.metadata): host.metadata for host in hosts}.values())
    for weigher in weighers:
        own = weigher.key in keys
        if not own and not weigher.configured:
            continue
        measure = weigher.measure(request)
        if measure is None:
            continue
        scores = _normalise(list(map(measure, hosts)), weigher)
        if scores is None:
            continue
        if own:
            factors = [weigher.multiplier(host) for host in hosts]
            scores = [score * factor for score, factor in zip(scores, factors, strict=True)]
        elif weigher.configured != 1:
            factor = weigher.configured
            scores = [score * factor for score in scores]
        found.add(weigher, scores)
    return found


def _normalise(values: list[float], weigher: Weigher) -> list[float] | None:
    """Return the values on a scale from 0 to 1; None if all are equal."""
    least, most = min(values), max(values)
    low, high = weigher.minimum, weigher.maximum
    if least == most and low is None and high is None:
        return None
    if weigher.negated:
        values = [-value for value in values]
        least, most = -most, -least
    if low is not None and least < low:
        values = [value if value > low else low for value in values]
        most = max(most, low)
    if high is not None and most > high:
        values = [value if value < high else high for value in values]
        least = min(least, high)
    low = least if low is None else low
    high = most if high is None else high
    if low == high:
        return None
    scale = 1.0 / (high - low)
    return [(value - low) * scale for value in values]
