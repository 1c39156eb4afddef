"""The type of machine to which the fractions in a trace refer."""

import dataclasses

from nova_lite.lab.replay import trace

# The capacity of the hosts of the profile `default`.
SIZE = trace.Size(64, 262144, 4096)


@dataclasses.dataclass(frozen=True)
class Type:
    """A type of machine. name: as in the trace, None for any; size: all of its resources"""

    name: str | None = None
    size: trace.Size = SIZE
