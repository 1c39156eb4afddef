"""What a filter is: one rule that a host fulfils or not."""

import abc


class Filter(abc.ABC):
    """Base of all filters, which are known by their class names.

    once: its answer about a host is the same for every server of a batch
    on_rebuild: also asked when a server is rebuilt with another image
    """

    once = False
    on_rebuild = False

    def __init__(self, conf):
        self.options = conf.filter_scheduler
        self.conf = conf

    @property
    def name(self):
        return type(self).__name__

    @abc.abstractmethod
    def rule(self, request):
        """A function from HostState to the reason of a refusal, or None if it passes.

        None in place of the function: the rule does not concern this request.
        """


def aggregate_values(host, key):
    """What the host's aggregates say under `key`, with comma lists taken apart."""
    return {part.strip() for value in host.metadata.get(key, ()) for part in value.split(',')}


def aggregate_number(host, key, default):
    """The smallest number among what the host's aggregates say, or `default`."""
    values = host.metadata.get(key)
    if not values:
        return default
    numbers = [int(value) for value in values if value.strip().isdecimal()]
    return min(numbers) if numbers else default
