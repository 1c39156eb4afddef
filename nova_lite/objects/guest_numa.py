"""A NUMA node of a guest, and masks of its CPUs."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Node:
    """A NUMA node of a guest. cpus: numbers of the guest's CPUs on the node, in order"""

    cpus: tuple[int, ...]
    memory_mb: int


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
