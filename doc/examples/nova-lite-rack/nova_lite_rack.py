"""Racks: aggregates name the rack of their hosts, scheduler hints ask for one.

The hint `rack` requires a rack, the hint `near_rack` prefers one.
"""

from oslo_config import cfg

from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base
from nova_lite.scheduler.weighers import base as weighing

GROUP = 'rack'
OPTIONS = (
    cfg.StrOpt(
        'key',
        default='rack',
        help='Key of aggregate metadata that names the rack of the hosts in the aggregate.',
    ),
    cfg.FloatOpt(
        'weight_multiplier',
        default=10.0,
        help='Multiplier of RackWeigher: positive values prefer hosts in the rack of the hint '
        'near_rack; 0 ignores the hint. The default outweighs the free resources of a host.',
    ),
)


class RackFilter(base.Filter):
    """Hint rack: an aggregate of the host names this rack."""

    once = True

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__(conf)
        conf.register_opts(OPTIONS, group=GROUP)
        self._key = conf[GROUP].key

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        wanted = request.hint('rack')
        if wanted is None:
            return None

        def refuse(host):
            found = base.aggregate_values(host, self._key)
            if wanted in found:
                return None
            return f'is in rack {", ".join(sorted(found)) or "(none)"}, not {wanted}'

        return refuse


class RackWeigher(weighing.Weigher):
    """Hint near_rack: hosts in this rack first."""

    group = GROUP
    option = 'weight_multiplier'
    minimum, maximum = 0, 1

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        conf.register_opts(OPTIONS, group=GROUP)
        super().__init__(conf)
        self._key = conf[GROUP].key

    def measure(self, request: scheduling_request.Request) -> weighing.Measure | None:
        wanted = request.hint('near_rack')
        if wanted is None:
            return None
        return lambda host: float(wanted in base.aggregate_values(host, self._key))
