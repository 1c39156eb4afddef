"""Filters: rules that a host must fulfil, one small class each.

`load` finds them by class name. Source: reference/nova/scheduling 6.
"""

from oslo_config import cfg

from nova_lite.scheduler import plugins
from nova_lite.scheduler.filters import base
from nova_lite.scheduler.filters import capabilities
from nova_lite.scheduler.filters import hints
from nova_lite.scheduler.filters import host_load
from nova_lite.scheduler.filters import numa
from nova_lite.scheduler.filters import pci
from nova_lite.scheduler.filters import server_groups
from nova_lite.scheduler.filters import tenancy

GROUP = 'nova_lite.scheduler.filters'
FAMILY = plugins.Family(
    base.Filter,  # type: ignore[type-abstract]  # only classes derived from it are made
    (host_load, capabilities, numa, pci, tenancy, server_groups, hints),
    group=GROUP,
    option='enabled_filters',
)

known = FAMILY.known


def load(conf: cfg.ConfigOpts) -> list[base.Filter]:
    """Return the filters of [filter_scheduler]enabled_filters, in that order. Raise ValueError."""
    return FAMILY.load(conf)
