"""[pci]: PCI devices of hosts that servers can have."""

from oslo_config import cfg

GROUP = 'pci'
OPTS: list[cfg.Opt] = [
    cfg.MultiStrOpt(
        'alias',
        default=[],
        deprecated_opts=[cfg.DeprecatedOpt('pci_alias', group='DEFAULT')],
        help='Name for PCI devices, to which the extra spec pci_passthrough:alias of a flavor refers, '
        'as a JSON object with the keys name, vendor_id, product_id, device_type (type-PCI, type-PF '
        'or type-VF), numa_policy (required, legacy, preferred or socket) and live_migratable (yes '
        'or no), or as a list of such objects. It may be given several times; definitions with the same '
        'name are alternatives. Read by the compute API only.',
    ),
]
