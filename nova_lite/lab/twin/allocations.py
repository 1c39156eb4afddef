"""Allocations in placement on the providers of a host, and their sum for some consumers."""

import collections
from collections.abc import Collection
from collections.abc import Mapping
import typing

from nova_lite.lab.launcher.cloud_file import api as apis

# {id of a consumer: {resource class: amount}} of a provider. Consumers are servers and, while an
# old host keeps the resources of a move, migrations.
Allocations: typing.TypeAlias = Mapping[str, Mapping[str, int]]


def read(api: apis.Api, provider: str) -> Allocations:
    """Return the allocations on a provider. provider: its path. Raise Refused."""
    answer = api.call('placement', 'GET', f'{provider}/allocations')
    return {
        consumer: held['resources']
        for consumer, held in typing.cast(dict[str, typing.Any], answer['allocations']).items()
    }


def besides(allocations: Allocations, known: Collection[str]) -> collections.Counter[str]:
    """Return {resource class: amount} of the allocations of consumers that are not known."""
    found: collections.Counter[str] = collections.Counter()
    for consumer, held in allocations.items():
        if consumer not in known:
            found.update(held)
    return found
