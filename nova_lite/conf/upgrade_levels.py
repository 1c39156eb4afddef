"""[upgrade_levels]: what daemons of the release before are talked to as."""

from oslo_config import cfg

GROUP = 'upgrade_levels'
AUTO = 'auto'
HELP = (
    'Talk to %s as to those of this release, or of this version of RPC when no release '
    'is called so. '
)
WHO = {
    'scheduler': 'schedulers',
    'super_conductor': 'super-conductors',
    'conductor': "cells' conductors",
}


def _option(name, who, default=None, more='Unset: as to those of the newest.'):
    return cfg.StrOpt(name, default=default, help=HELP % who + more)


OPTS = [
    _option(
        'compute',
        'computes',
        AUTO,
        '`auto`: as the oldest compute service of each cell needs it; that is read again '
        'every half a minute.',
    ),
    *(_option(name, who) for name, who in WHO.items()),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
