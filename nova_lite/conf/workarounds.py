"""[workarounds]: switches for deployments that are being upgraded or are unusual."""

from oslo_config import cfg

GROUP = 'workarounds'
OPTS = [
    cfg.BoolOpt(
        'disable_fallback_pcpu_query',
        default=False,
        help='Servers with dedicated CPUs only go to hosts that report PCPU; otherwise hosts '
        'are asked for VCPU as well.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
