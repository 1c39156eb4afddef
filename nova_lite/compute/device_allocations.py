"""Devices in placement: the providers of a host, and the allocations of its guests."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping

import os_traits
from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import holdings
from nova_lite.clients import nested
from nova_lite.clients import placement as placements
from nova_lite.clients import providers
from nova_lite.compute import site
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import instance as objects
from nova_lite.virt import model
from nova_lite.virt import pci

LOG = log.getLogger(__name__)
TRAITS = (os_traits.COMPUTE_MANAGED_PCI_DEVICE,)


def nested_providers(
    devices: Iterable[pci.Device], of_types: Mapping[str, frozenset[str]] | None = None
) -> list[nested.Nested]:
    """Return the providers of devices that placement knows: one for each card or device.

    of_types: as of `hardware.Hardware.traits_of_types`. Traits of types that a physical GPU does
        not offer go
    """
    found = []
    for name, own in sorted(pci.by_provider(devices).items()):
        inventories: providers.Inventories = {
            own[0].resource_class or '': {'total': len(own), 'max_unit': len(own)}
        }
        # As in Nova, operators give traits to the providers of physical GPUs.
        virtual = own[0].kind == pci.MDEV
        once = own[0].one_time_use
        ours = () if virtual else (*TRAITS, *((os_traits.HW_PCI_ONE_TIME_USE,) if once else ()))
        found.append(
            nested.Nested(
                name,
                inventories,
                frozenset((*ours, *own[0].traits)),
                separator='_',
                keeps_reserved=once,
                keeps_traits=virtual,
                not_traits=(of_types or {}).get(name, frozenset()) - {*own[0].traits},
            )
        )
    return found


def given(site: site.Site, node: str, guest: str) -> placed_devices.Given | None:
    """Return the allocations by which a guest gets devices of a node; None if it has none.

    A scheduler without [filter_scheduler] pci_in_placement does not allocate devices.
    """
    provider, devices = site.inventory.provider(node), site.hardware.placed(node)
    if provider is None or not devices:
        return None
    known = placed_devices.providers(provider, devices)
    held = site.placement.holding(context.admin(), guest).of(known)
    return placed_devices.Given.of(provider, devices, held) if held else None


def mdev_types(site: site.Site, node: str, guest: str) -> set[str]:
    """Return the types of virtual GPUs of a node that a guest may get by its allocations."""
    return placed_devices.mdev_types(site.hardware.placed(node), given(site, node, guest))


def heal(
    site: site.Site,
    node: str,
    instance: objects.Instance,
    guest: constraints.Constraints,
    *,
    given: placed_devices.Given | None,
) -> None:
    """Allocate the devices that a guest has claimed and that its allocations did not decide.

    given: its allocations. Raise NoCapacity if placement refuses
    """
    provider, devices = site.inventory.provider(node), site.hardware.placed(node)
    if provider is None or not devices:
        return
    addresses = site.claims.devices(node, instance.uuid, guest.request)
    if given is not None:
        devices = tuple(device for device in devices if not given.decides(device))
    missing = placed_devices.allocations(provider, devices, addresses)
    if not missing:
        return
    consumer = placements.Consumer(instance.uuid, instance.project_id, instance.user_id)
    if not _allocate(site, consumer, missing):
        site.claims.settle(node, instance.uuid)
        raise exception.NoCapacity(reason=f'placement does not offer the devices of {node}')


def use_up(
    site: site.Site, node: str, instance: objects.Instance, guest: constraints.Constraints
) -> None:
    """Reserve the devices for one use that a guest has claimed. No other guest gets them."""
    if any(device.one_time_use for device in site.hardware.placed(node)):
        _use_up(site, node, site.claims.devices(node, instance.uuid, guest.request))


def _use_up(site: site.Site, node: str, addresses: Collection[str]) -> None:
    provider = site.inventory.provider(node)
    for device in site.hardware.placed(node):
        if provider and device.one_time_use and device.address in addresses:
            inventory: providers.Inventory = {'total': 1, 'max_unit': 1, 'reserved': 1}
            site.placement.providers.set_inventories(
                context.admin(),
                runtime.uuid_of(provider, device.provider),
                {device.resource_class or '': inventory},
            )


def heal_guests(site: site.Site, node: str) -> None:
    """Allocate the devices of guests that got them before placement knew the devices of a node.

    A server that moves is healed by its next move. A failure is logged, and the next start of
    the compute will try again.
    """
    provider = site.inventory.provider(node)
    # A guest never had a virtual GPU without its allocation.
    devices = [device for device in site.hardware.placed(node) if device.kind != pci.MDEV]
    if provider is None or not devices:
        return
    try:
        guests = site.driver.list_guests(node)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot allocate the PCI devices of guests of node %s: %s', node, error)
        return
    known = placed_devices.providers(provider, devices)
    for guest in guests:
        numa = guest.spec.numa
        if guest.role is model.Role.RESIDENT and numa is not None:
            addresses = {address for _name, address in numa.devices}
            _use_up_again(site, node, addresses)
            missing = placed_devices.allocations(provider, devices, addresses)
            if missing:
                _heal_guest(site, guest.uuid, node=provider, known=known, missing=missing)


def _use_up_again(site: site.Site, node: str, addresses: Collection[str]) -> None:
    try:
        _use_up(site, node, addresses)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot reserve the PCI devices for one use of node %s: %s', node, error)


def _heal_guest(
    site: site.Site,
    guest: str,
    *,
    node: str,
    known: Collection[str],
    missing: holdings.Allocations,
) -> None:
    """Add missing allocations of a guest that has some of a node, but none of its devices."""
    try:
        held = site.placement.holding(context.admin(), guest)
        if node not in held.allocations or held.of(known):
            return
        consumer = placements.Consumer(guest, held.project_id, held.user_id)
        if _allocate(site, consumer, missing):
            LOG.info('Allocated the PCI devices that server %s holds', guest)
        else:
            LOG.warning('Other servers have allocated PCI devices that server %s holds', guest)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot allocate the PCI devices of server %s: %s', guest, error)


def _allocate(
    site: site.Site, consumer: placements.Consumer, missing: holdings.Allocations
) -> bool:
    """Add allocations to those of a guest. Return whether placement offers them."""
    wanted = holdings.as_request(missing)
    return site.placement.claim(context.admin(), consumer, {'allocations': wanted})
