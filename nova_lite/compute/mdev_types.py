"""[devices]: the virtual GPUs (mediated devices) that physical GPUs of hosts offer.

A virtual GPU is a device of its own, whose parent is the physical GPU. A physical GPU that offers
virtual ones is not offered itself.
"""

from collections.abc import Iterator
import dataclasses

import os_resource_classes as orc
from oslo_config import cfg
from oslo_log import log

from nova_lite import exception
from nova_lite.conf import devices as options
from nova_lite.virt import pci

LOG = log.getLogger(__name__)


class InvalidLibvirtMdevConfig(exception.Invalid):
    msg = 'Invalid configuration for mdev-capable devices: %(reason)s'


@dataclasses.dataclass(frozen=True)
class Type:
    """An enabled type. most: number of virtual GPUs of a physical one, None: as many as it has"""

    name: str
    most: int | None = None
    resource_class: str = orc.VGPU


@dataclasses.dataclass(frozen=True)
class Types:
    """The enabled types, by the address of a physical GPU, and that of all other GPUs.

    is_set: whether the option is set; if not, each GPU offers its first type
    """

    by_address: dict[str, Type]
    other: Type | None
    is_set: bool = True

    def offered(self, devices: tuple[pci.Device, ...]) -> tuple[pci.Device, ...]:
        """Return the devices of a node with virtual GPUs in place of those that offer such."""
        if not any(device.mdev_types for device in devices):
            return devices
        return tuple(each for device in devices for each in self._offered(device))

    def _offered(self, device: pci.Device) -> Iterator[pci.Device]:
        found = {each.name: each for each in device.mdev_types}
        first = next(iter(found), '')
        wanted = self.by_address.get(device.address, self.other) if self.is_set else Type(first)
        plain = dataclasses.replace(device, mdev_types=())
        if wanted is None or wanted.name not in found:
            yield plain
            return
        has = found[wanted.name]
        for number in range(min(has.count, wanted.most or has.count)):
            yield dataclasses.replace(
                plain,
                address=f'{device.address}/{has.name}/{number}',
                kind=pci.MDEV,
                parent=device.address,
                resource_class=wanted.resource_class,
                traits=has.traits,
            )


def read(conf: cfg.ConfigOpts) -> Types:
    """Return the types that the options enable. Raise InvalidLibvirtMdevConfig."""
    names: list[str] | None = conf.devices.enabled_mdev_types
    by_address: dict[str, Type] = {}
    other: Type | None = None
    for name in dict.fromkeys(names or ()):
        values = options.of_type(conf, name)
        found = Type(name, values.max_instances, values.mdev_class)
        for address in values.device_addresses:
            if address in by_address:
                reason = f'duplicate types for PCI ID {address}'
                raise InvalidLibvirtMdevConfig(reason=reason)
            by_address[address] = found
        if not values.device_addresses:
            if other is None:
                other = found
            else:
                LOG.warning(
                    'Ignoring mdev type %s: it has no device_addresses, and GPUs that no type names '
                    'offer type %s',
                    name,
                    other.name,
                )
    return Types(by_address, other, names is not None)
