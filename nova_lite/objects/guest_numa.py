"""The NUMA nodes of a guest, as its flavor or its image requests them."""

import collections.abc
import dataclasses
import typing

from oslo_log import log

LOG = log.getLogger(__name__)

Said: typing.TypeAlias = collections.abc.Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Node:
    """A NUMA node of a guest. cpus: numbers of the guest's CPUs on the node, in order"""

    cpus: tuple[int, ...]
    memory_mb: int


class Requested:
    """A request for NUMA. specs: those of the flavor; properties: those of the image; or None"""

    def __init__(self, specs: Said | None, properties: Said | None) -> None:
        self._specs, self._properties = specs or {}, properties or {}

    def of(self, name: str) -> str | None:
        """Return the flavor's value of `hw:NAME`, or the image's of `hw_NAME`, or None."""
        found: str | None = self._specs.get(f'hw:{name}', self._properties.get(f'hw_{name}'))
        return found

    def count(self) -> int:
        """Return the number of nodes; 0 if neither nodes nor memory pages are requested."""
        paged = self.of('mem_page_size') is not None
        return _number(self.of('numa_nodes')) or int(paged)

    def nodes(self, vcpus: int, memory_mb: int) -> list[Node]:
        """Return the nodes of a guest of a size in MiB. A node without a CPU is left out."""
        count = min(self.count(), vcpus)
        return [
            Node(
                cpus=tuple(sorted(self._cpus(vcpus, count, index))),
                memory_mb=_number(self.of(f'numa_mem.{index}')) or _share(memory_mb, count, index),
            )
            for index in range(count)
        ]

    def _cpus(self, vcpus: int, count: int, index: int) -> collections.abc.Iterable[int]:
        """Return the numbers of a node's CPUs: those that are requested, or an equal share."""
        mask = self.of(f'numa_cpus.{index}')
        if mask:
            try:
                return masked_cpus(mask, vcpus)
            except ValueError as error:
                LOG.debug('hw:numa_cpus.%s is no CPU mask at "%s"', index, error)
        before = sum(_share(vcpus, count, other) for other in range(index))
        return range(before, before + _share(vcpus, count, index))


def masked_cpus(mask: str, count: int) -> set[int]:
    """Return the CPU numbers below `count` that a mask such as `0-3,^2` names.

    Raises ValueError with the invalid part of the mask.
    """
    named: set[int] = set()
    refused: set[int] = set()
    parts = [part.strip() for part in mask.split(',') if part.strip()]
    for part in parts:
        chosen = refused if part.startswith('^') else named
        first, _dash, last = part.removeprefix('^').partition('-')
        try:
            start, end = int(first), int(last or first)
        except ValueError:
            raise ValueError(part) from None
        # A range such as 0-99999999999 must not fill the memory.
        chosen.update(range(max(start, 0), min(end + 1, count)))
    if all(part.startswith('^') for part in parts):
        named = set(range(count))
    return named - refused


def _share(total: int, count: int, index: int) -> int:
    """Return a node's part of `total`, which is divided among `count` nodes."""
    return total // count + (index < total % count)


def _number(text: str | None) -> int:
    """Return the whole number in a text, or 0 for any other text."""
    return int(text) if text and text.isdecimal() else 0
