"""Checks of the options that name filters and weighers, before a scheduler starts."""

from oslo_config import cfg

from nova_lite.scheduler import filters
from nova_lite.scheduler import weighers


def require_names(conf: cfg.ConfigOpts, group: str, name: str) -> None:
    """Raise ValueError if an option names filters or weighers that do not exist."""
    if (group, name) == ('filter_scheduler', 'enabled_filters'):
        filters.load(conf)
    if (group, name) == ('filter_scheduler', 'weight_classes'):
        weighers.load(conf)
