"""[upgrade_levels]: RPC versions to use with daemons of an earlier release."""

from oslo_config import cfg

GROUP = 'upgrade_levels'
AUTO = 'auto'
HELP = 'RPC version, or release with that RPC version, to use with %s. '
WHO = {
    'scheduler': 'schedulers',
    'super_conductor': 'super-conductors',
    'conductor': "cells' conductors",
}


def _option(
    name: str, who: str, default: str | None = None, more: str = 'Unset: that of this process.'
) -> cfg.Opt:
    return cfg.StrOpt(name, default=default, help=HELP % who + more)


OPTS = [
    _option(
        'compute',
        'computes',
        AUTO,
        'auto: the version that the oldest compute service of each cell understands, read again '
        'every 30 seconds.',
    ),
    *(_option(name, who) for name, who in WHO.items()),
]
