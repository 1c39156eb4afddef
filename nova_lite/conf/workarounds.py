"""[workarounds]: switches for deployments that are being upgraded or are unusual."""

from oslo_config import cfg

GROUP = 'workarounds'
OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'disable_fallback_pcpu_query',
        default=False,
        help='Place servers with dedicated CPUs only on hosts that report PCPU. If false, hosts that '
        'report VCPU are considered as well.',
    ),
]
