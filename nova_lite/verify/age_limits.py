"""Age limits: how old unfinished work or a difference may be before it is a finding."""

import dataclasses
import math
import typing


@dataclasses.dataclass(frozen=True)
class AgeLimits:
    """Limits in seconds, and which findings without an age are wanted.

    work: of a task state, a saga, its clean-up, a build or an event that has not ended
    audit: of a difference that a periodic audit repairs, by the default intervals
    power: the same of a difference between the power of a guest and that on record
    limits: whether a use above a quota's limit is a finding: it is none where a limit
        was lowered below what was used
    journal: whether a saga's note that it could not clean up, and has not since, is a
        finding: an audit may have cleaned up
    """

    work: float = 300.0
    audit: float = 180.0
    power: float = 180.0
    limits: bool = False
    journal: bool = False

    def of_stopped(self) -> typing.Self:
        """Return the bounds of a stopped cloud, in which work in progress is not stuck."""
        return dataclasses.replace(self, work=math.inf, audit=math.inf, power=math.inf)
