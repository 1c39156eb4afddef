"""Base class of filters: one rule that a host passes or not."""

import abc
import collections.abc
import typing

from oslo_config import cfg

from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request

# Says of a host why it is refused, or None if it passes.
Refuse: typing.TypeAlias = collections.abc.Callable[[hosts.HostState], str | None]


class Filter(abc.ABC):
    """Base of all filters, which are known by their class names.

    once: its answer about a host is the same for every server of a batch
    on_rebuild: also asked when a server is rebuilt with another image
    """

    once = False
    on_rebuild = False

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.options = conf.filter_scheduler
        self.conf = conf

    @property
    def name(self) -> str:
        return type(self).__name__

    @abc.abstractmethod
    def rule(self, request: scheduling_request.Request) -> Refuse | None:
        """Return a function from HostState to the reason of a refusal, or None if it passes.

        None in place of the function: the rule does not concern this request.
        """


def aggregate_values(host: hosts.HostState, key: str) -> set[str]:
    """Return the values of `key` in the host's aggregates, with comma lists split."""
    return {part.strip() for value in host.metadata.get(key, ()) for part in value.split(',')}


def aggregate_number(host: hosts.HostState, key: str, default: int) -> int:
    """Return the smallest number among the values in the host's aggregates, or `default`."""
    values = host.metadata.get(key)
    if not values:
        return default
    numbers = [int(value) for value in values if value.strip().isdecimal()]
    return min(numbers) if numbers else default
