"""Base class of filters: one rule that a host passes or not."""

import abc
import collections.abc
import typing

from oslo_config import cfg

from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request

# The type of a rule: it takes a host and returns the reason of its refusal, or None.
Refuse: typing.TypeAlias = collections.abc.Callable[[hosts.HostState], str | None]


class Filter(abc.ABC):
    """Base of all filters, which are known by their class names.

    once: the result for a host is the same for each server of a batch
    on_rebuild: whether the filter also applies when a server is rebuilt with another image
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
        """Return a function that takes a HostState and returns the reason of its refusal, or None.

        Return None in place of the function if the rule does not concern this request.
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
