"""Weighers: each compares hosts by one property, in a small class.

`load` finds them by class name, `weigh` applies them. Source: reference/nova/scheduling 7.
"""

from oslo_config import cfg

from nova_lite.scheduler import plugins
from nova_lite.scheduler.weighers import base
from nova_lite.scheduler.weighers import capacity
from nova_lite.scheduler.weighers import relations

GROUP = 'nova_lite.scheduler.weighers'
FAMILY = plugins.Family(
    base.Weigher,  # type: ignore[type-abstract]  # only classes derived from it are made
    (capacity, relations),
    group=GROUP,
    option='weight_classes',
)

known = FAMILY.known
weigh = base.weigh


def load(conf: cfg.ConfigOpts) -> list[base.Weigher]:
    """Return the weighers of [filter_scheduler]weight_classes, in that order. Raise ValueError."""
    return FAMILY.load(conf, allow_all=True)
