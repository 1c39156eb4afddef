"""Age limits: how old unfinished work or a difference may be before it is a finding."""

import dataclasses
import math
import typing


@dataclasses.dataclass(frozen=True)
class AgeLimits:
    """Limits in seconds, and switches of optional findings.

    work: limit of a task state, a saga, its cleanup, a build or an open event
    audit: limit of a difference that a periodic audit repairs, with the default intervals
    power: limit of a difference between the power state of a guest and the recorded one
    limits: whether usage above a quota's limit is a finding; it is allowed if the limit was
        lowered below the usage
    journal: whether a saga's note of a failed cleanup is a finding, although an audit may have
        cleaned up since
    """

    work: float = 300.0
    audit: float = 180.0
    power: float = 180.0
    limits: bool = False
    journal: bool = False

    def of_stopped(self) -> typing.Self:
        """Return the bounds of a stopped cloud, in which work in progress is not stuck."""
        return dataclasses.replace(self, work=math.inf, audit=math.inf, power=math.inf)
