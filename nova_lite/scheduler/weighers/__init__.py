"""Weighers: what makes one host better than another, one small class each.

`load` finds them by class name, `weigh` applies them. Source: reference/nova/scheduling 7.
"""

import inspect

from nova_lite.scheduler.weighers import base
from nova_lite.scheduler.weighers import relations
from nova_lite.scheduler.weighers import resources

ALL = 'all'
MODULES = (resources, relations)

weigh = base.weigh


def known():
    """{class name: class} of every weigher."""
    return {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base.Weigher)
    }


def load(conf):
    """Return the weighers of [filter_scheduler]weight_classes; unknown names raise ValueError."""
    classes = known()
    names = list(dict.fromkeys(conf.filter_scheduler.weight_classes))
    if ALL in names:
        names = list(classes)
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise ValueError(
            f'[filter_scheduler]weight_classes: unknown {", ".join(unknown)}; '
            f'known are {ALL}, {", ".join(sorted(classes))}'
        )
    return [classes[name](conf) for name in names]
