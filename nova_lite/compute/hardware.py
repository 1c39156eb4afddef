"""Hardware: the CPUs of the nodes, as the driver and the configuration divide them, and devices.

Nova's options for the sets of CPUs take the place of those that the driver knows.
"""

from collections.abc import Mapping
import dataclasses
import functools

import os_resource_classes as orc
from oslo_config import cfg
from oslo_log import log

from nova_lite import exception
from nova_lite.compute import device_spec
from nova_lite.compute import mdev_types
from nova_lite.compute import provider_configs
from nova_lite.lifecycle.guests import memory
from nova_lite.objects import masks
from nova_lite.virt import driver as protocol
from nova_lite.virt import model
from nova_lite.virt import pci
from nova_lite.virt import topology

LOG = log.getLogger(__name__)
OPTIONS = SHARED, DEDICATED = 'cpu_shared_set', 'cpu_dedicated_set'


class InvalidSet(exception.Invalid):
    msg = '[compute]%(option)s: %(reason)s'


class InvalidReservedMemoryPagesOption(exception.Invalid):
    msg = 'The format of the option reserved_huge_pages is invalid. (found %(conf)s)'


class InvalidDevice(exception.Invalid):
    msg = 'PCI device %(address)s of node %(node)s is on NUMA node %(numa)s, which does not exist'


class InvalidPlacement(exception.Invalid):
    msg = '[pci]report_in_placement: card %(address)s of node %(node)s: %(reason)s'


# The errors of options and profiles that do not fit.
INVALID = (
    InvalidSet,
    InvalidReservedMemoryPagesOption,
    InvalidDevice,
    InvalidPlacement,
    device_spec.PciConfigInvalidSpec,
    mdev_types.InvalidLibvirtMdevConfig,
    provider_configs.ProviderConfigException,
)


class Hardware:
    """The CPUs, NUMA nodes and PCI devices of a driver's nodes.

    provider_configs: what operators add to the providers in placement
    """

    def __init__(self, driver: protocol.Driver, conf: cfg.ConfigOpts) -> None:
        self._driver = driver
        self._placed = conf.pci.report_in_placement
        self._specs = device_spec.parse(conf.pci.device_spec, placed=self._placed)
        self._types = mdev_types.read(conf)
        options = conf.compute
        self.provider_configs = provider_configs.read(options.provider_config_location)
        self._shared, self._dedicated = (_set(options, name) for name in OPTIONS)
        self._has_sets = not (self._shared is None and self._dedicated is None)
        self._reserved = dict(map(_reserved, conf.reserved_huge_pages))
        if (self._shared or frozenset()) & (self._dedicated or frozenset()):
            raise InvalidSet(option=SHARED, reason=f'it has CPUs of {DEDICATED}')
        for name, numbers in zip(OPTIONS, (self._shared, self._dedicated), strict=True):
            if numbers is not None and options.reserved_host_cpus:
                reason = 'reserved_host_cpus is set. CPUs in neither set are reserved'
                raise InvalidSet(option=name, reason=reason)
        self._divided = functools.cache(self._divide)
        self._offered = functools.cache(self._offer)
        self._joined = functools.cache(_join)

    def nodes(self, node: str) -> topology.Host:
        """Return the NUMA nodes of a node, and its PCI devices.

        The NUMA nodes are of equal size if the driver knows only their number.
        """
        found = self._described(node)
        if found is None:
            inventory = self._driver.get_inventory(node)
            cells = self._driver.get_facts(node).cpu_info.get('topology', {}).get('cells') or 0
            memory_mb = inventory[orc.MEMORY_MB].total
            found = topology.even(cells, inventory[orc.VCPU].total, memory_mb)
        devices = self._devices(node)
        return self._joined(found, devices) if devices else found

    def is_described(self, node: str) -> bool:
        """Return whether the driver knows more of a node than its number of NUMA nodes."""
        return bool(self._driver.get_topology(node) or self._devices(node))

    def _devices(self, node: str) -> tuple[pci.Device, ...]:
        devices = self._driver.get_devices(node)
        return self._offered(devices) if devices else ()

    def inventory(self, node: str) -> dict[str, model.Inventory]:
        """Return {resource class: Inventory} of a node, with its dedicated CPUs as PCPU."""
        found = self._driver.get_inventory(node)
        described = self._described(node)
        if described is None:
            return found
        shared = dataclasses.replace(found[orc.VCPU], total=described.shared)
        return {**found, orc.VCPU: shared, orc.PCPU: model.Inventory(described.dedicated, 0)}

    def check(self, node: str) -> None:
        """Raise an error of INVALID if options do not fit the CPUs and devices of a node."""
        device_spec.check_present(self._driver.get_devices(node), self._specs)
        self._check_placed(node)
        self._check_virtual(node)
        known = {each.id for each in self.nodes(node).nodes}
        for device in self._devices(node):
            if device.node is not None and device.node not in known:
                raise InvalidDevice(address=device.address, node=node, numa=device.node)
        described = self._driver.get_topology(node)
        for name, numbers in zip(OPTIONS, (self._shared, self._dedicated), strict=True):
            if numbers is None:
                continue
            if described is None:
                raise InvalidSet(option=name, reason=f'the CPUs of node {node} have no numbers')
            if not numbers <= described.cpus:
                raise InvalidSet(option=name, reason=f'it has CPUs that node {node} lacks')

    def _check_placed(self, node: str) -> None:
        """Raise InvalidPlacement if placement cannot have the devices of a card."""
        for device in self._devices(node):
            if device.one_time_use and not (device.is_placed and device.kind in (pci.PCI, pci.PF)):
                reason = 'one_time_use needs a device of type-PCI or type-PF in placement'
                raise InvalidPlacement(address=device.address, node=node, reason=reason)
        for address, own in pci.by_provider(self.placed(node)).items():
            if len({device.parent for device in own}) > 1:
                reason = 'device_spec has both the card and its functions'
                raise InvalidPlacement(address=address, node=node, reason=reason)
            if len({(device.resource_class, device.traits) for device in own}) > 1:
                reason = 'its functions have different resource classes or traits'
                raise InvalidPlacement(address=address, node=node, reason=reason)

    def _check_virtual(self, node: str) -> None:
        """Raise InvalidLibvirtMdevConfig if a guest has a virtual GPU that is not offered any more.

        As in Nova, the compute does not start then: the guest could not be started again.
        """
        if not any(device.mdev_types for device in self._driver.get_devices(node)):
            return
        offered = {device.address for device in self._devices(node)}
        for guest in self._guests(node):
            for address in sorted(
                each for part in guest.spec.parts for _name, each in part.devices
            ):
                if pci.mdev_type(address) is not None and address not in offered:
                    raise mdev_types.InvalidLibvirtMdevConfig(
                        reason=f'server {guest.uuid} has virtual GPU {address} of node {node}, which '
                        'the options do not offer any more. Move or delete the server before you '
                        'change [devices]enabled_mdev_types'
                    )

    def _guests(self, node: str) -> list[model.Guest]:
        try:
            return self._driver.list_guests(node)
        except exception.NovaLiteError as error:
            LOG.warning('Cannot check the virtual GPUs of guests of node %s: %s', node, error)
            return []

    def traits_of_types(self, node: str) -> dict[str, frozenset[str]]:
        """Return {provider of a physical GPU: traits of all types that the GPU can offer}."""
        return {
            pci.gpu_provider(device.address): frozenset(
                trait for each in device.mdev_types for trait in each.traits
            )
            for device in self._driver.get_devices(node)
        }

    def placed(self, node: str) -> tuple[pci.Device, ...]:
        """Return the devices of a node that placement knows. It always knows virtual GPUs."""
        return tuple(each for each in self._devices(node) if each.is_placed)

    def _described(self, node: str) -> topology.Host | None:
        found = self._driver.get_topology(node)
        if found is None or not (self._reserved or self._has_sets):
            return found
        return self._divided(found)

    def _offer(self, devices: tuple[pci.Device, ...]) -> tuple[pci.Device, ...]:
        found = self._types.offered(devices)
        virtual = tuple(device for device in found if device.kind == pci.MDEV)
        others = tuple(device for device in found if device.kind != pci.MDEV)
        return (*device_spec.offered(others, self._specs, placed=self._placed), *virtual)

    def _divide(self, described: topology.Host) -> topology.Host:
        found = described.with_sets(self._shared, self._dedicated) if self._has_sets else described
        return found.with_reserved(self._reserved)


def _join(host: topology.Host, devices: tuple[pci.Device, ...]) -> topology.Host:
    return dataclasses.replace(host, devices=devices)


def _set(options: cfg.ConfigOpts, name: str) -> frozenset[int] | None:
    """Return the CPUs of an option, or None if it is unset or empty. Raise InvalidSet."""
    if not options[name]:
        return None
    try:
        return masks.cpus(options[name])
    except exception.Invalid as error:
        raise InvalidSet(option=name, reason=error.message) from None


def _reserved(entry: Mapping[str, str]) -> tuple[tuple[int, int], int]:
    """Return ((id of a NUMA node, KiB), number of pages) of an entry of reserved_huge_pages.

    Raise InvalidReservedMemoryPagesOption.
    """
    try:
        size, count, node = (entry[name] for name in ('size', 'count', 'node'))
        size_kb = memory.size_kb(size)
        if set(entry) != {'size', 'count', 'node'} or int(count) < 0:
            raise ValueError(entry)
        return (int(node), size_kb), int(count)
    except (KeyError, ValueError):
        raise InvalidReservedMemoryPagesOption(conf=dict(entry)) from None
