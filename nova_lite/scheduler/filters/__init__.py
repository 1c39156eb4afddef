"""Filters: rules that a host must fulfil, one small class each.

`load` finds them by class name. Source: reference/nova/scheduling 6.
"""

import inspect

from nova_lite.scheduler.filters import base
from nova_lite.scheduler.filters import capabilities
from nova_lite.scheduler.filters import groups
from nova_lite.scheduler.filters import hints
from nova_lite.scheduler.filters import service
from nova_lite.scheduler.filters import tenancy

MODULES = (service, capabilities, tenancy, groups, hints)


def known():
    """{class name: class} of every filter."""
    return {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base.Filter)
    }


def load(conf):
    """The filters of [filter_scheduler]enabled_filters, in that order.

    Raises ValueError for a name that is none.
    """
    classes = known()
    names = list(dict.fromkeys(conf.filter_scheduler.enabled_filters))
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise ValueError(
            f'[filter_scheduler]enabled_filters: unknown {", ".join(unknown)}; '
            f'known are {", ".join(sorted(classes))}'
        )
    return [classes[name](conf) for name in names]
