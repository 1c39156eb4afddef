"""[pci]: PCI devices of hosts that servers can have."""

from oslo_config import cfg

GROUP = 'pci'
OPTS: list[cfg.Opt] = [
    cfg.MultiStrOpt(
        'alias',
        default=[],
        deprecated_opts=[cfg.DeprecatedOpt('pci_alias', group='DEFAULT')],
        help='Name for PCI devices, to which the extra spec pci_passthrough:alias of a flavor refers, '
        'as a JSON object with the keys name, vendor_id, product_id, device_type (type-PCI, type-PF, '
        'type-VF or vdpa), numa_policy (required, legacy, preferred or socket), live_migratable (yes '
        'or no), resource_class (in place of vendor_id and product_id) and traits (names with commas) of '
        'device_spec, or as a list of such objects. It may be given several times; definitions with '
        'the same name are alternatives. Read by the compute API only.',
    ),
    cfg.MultiStrOpt(
        'device_spec',
        default=[],
        deprecated_opts=[
            cfg.DeprecatedOpt('passthrough_whitelist', group='pci'),
            cfg.DeprecatedOpt('pci_passthrough_whitelist', group='DEFAULT'),
        ],
        help='PCI devices of the hosts that servers can have, as a JSON object with the keys vendor_id, '
        'product_id, address ([[[DOMAIN:]BUS:]SLOT][.FUNCTION] with "*", or an object of regular '
        'expressions for domain, bus, slot and function) or devname (a network interface of the host), '
        'physical_network (a name, or null for networks without a physical one: ports '
        'of these networks can have the devices), trusted, remote_managed, live_migratable, one_time_use and '
        'managed (each yes or no; managed has no effect), resource_class and traits (names with commas, for placement and for aliases), or a '
        'list of such objects. It may be given several times. Unset: all devices of the profile. An '
        'empty list: none.',
    ),
    cfg.BoolOpt(
        'report_in_placement',
        default=False,
        help='Report the PCI devices of the hosts to placement, each device or card as a resource '
        'provider below that of its host. Devices with physical_network are not reported.',
    ),
]
