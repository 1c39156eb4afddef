"""[devices]: virtual GPUs, which are mediated devices of physical GPUs.

A type of mediated devices has a group of its own, [mdev_TYPE], with the options of `type_options`.
"""

import typing

from oslo_config import cfg

GROUP = 'devices'
OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'enabled_mdev_types',
        deprecated_opts=[cfg.DeprecatedOpt('enabled_vgpu_types', group='devices')],
        help='Types of mediated devices (virtual GPUs) that the physical GPUs of the hosts offer. The '
        'group [mdev_TYPE] of a type may have device_addresses, max_instances and mdev_class. A '
        'physical GPU offers one type: the one whose device_addresses name it, or else the first '
        'type without device_addresses. Unset: each physical GPU offers the first type that the '
        'profile of its host names. Empty: there are no virtual GPUs.',
    ),
]
# Beginnings of the names of the groups of types. Nova has deprecated the second one.
MDEV, VGPU = 'mdev_', 'vgpu_'


def type_options(name: str) -> list[cfg.Opt]:
    """Return the options of the group [mdev_NAME] of a type of mediated devices."""

    def former(option: str) -> list[cfg.DeprecatedOpt]:
        return [cfg.DeprecatedOpt(option, group=VGPU + name)]

    return [
        cfg.ListOpt(
            'device_addresses',
            default=[],
            deprecated_opts=former('device_addresses'),
            help='Addresses (DOMAIN:BUS:SLOT.FUNCTION) of the physical GPUs that offer this type.',
        ),
        cfg.IntOpt(
            'max_instances',
            min=1,
            deprecated_opts=former('max_instances'),
            help='Maximum number of virtual GPUs of this type that a physical GPU offers. Unset, or '
            'greater than the number in the profile of the host: that number.',
        ),
        cfg.StrOpt(
            'mdev_class',
            default='VGPU',
            regex='^(VGPU|CUSTOM_[A-Z0-9_]+)$',
            deprecated_opts=former('mdev_class'),
            help='Resource class of these virtual GPUs in placement: VGPU, or CUSTOM_ with A-Z, 0-9 and _.',
        ),
    ]


def of_type(conf: cfg.ConfigOpts, name: str) -> typing.Any:
    """Return the values of the options of a type of mediated devices."""
    conf.register_opts(type_options(name), group=MDEV + name)
    return conf[MDEV + name]
