"""Fits: the further servers of a flavor that a cloud takes, and their hosts."""

import collections
import dataclasses

from nova_lite.lab.replay import decider
from nova_lite.lab.twin import model as models
from nova_lite.lab.twin import trials


@dataclasses.dataclass(frozen=True)
class Fit:
    """The result. asked: number of servers; hosts: {host: servers that it gets}

    refused: {filter or other stage: hosts that it refused to the first server without a host}
    """

    flavor: str
    asked: int
    hosts: dict[str, int]
    refused: dict[str, int]

    @property
    def placed(self) -> int:
        """Return the number of servers that get a host."""
        return sum(self.hosts.values())


def find(
    model: models.Model,
    flavor: str,
    count: int,
    *,
    project_id: str = trials.PROJECT,
    image: str | None = None,
    group: str | None = None,
) -> Fit:
    """Place servers of a project one after the other until one gets no host.

    flavor, image, group: names or ids
    Raise UnknownName, or Invalid for a flavor whose PCI alias is not defined.
    """
    wanted = model.wanted(flavor, project_id, image, group)
    hosts: collections.Counter[str] = collections.Counter()
    placing = decider.Placing(None)
    for number in range(count):
        placing = model.trials.add(wanted, number)
        if placing.host is None:
            break
        hosts[placing.host] += 1
    return Fit(flavor, count, dict(sorted(hosts.items())), placing.refused)
