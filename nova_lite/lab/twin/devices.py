"""PCI devices and virtual GPUs of hosts, from their resource providers, for the profile of a twin.

Visible are the address, the resource class, the number and the traits of devices, if the hosts
report them to placement. The NUMA node of a device is assumed, and so are the vendor and the
product of a device with a resource class of its own.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import json
import re
import typing

import os_resource_classes as orc
import os_traits

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.twin import allocations as allocations_
from nova_lite.lifecycle.guests import pci as aliases_
from nova_lite.virt import pci
from nova_lite.virt.sim import pci_devices

Json: typing.TypeAlias = dict[str, typing.Any]
Options: typing.TypeAlias = dict[str, dict[str, str]]
# The ends of names of providers: of a device or a card, and of a physical GPU with virtual ones.
DEVICE = re.compile(f'_({pci_devices.ADDRESSES})$')
GPU = re.compile('_pci_([0-9a-f]{4})_([0-9a-f]{2})_([01][0-9a-f])_([0-7])$')
IDS = re.compile('CUSTOM_PCI_([0-9A-F]{4})_([0-9A-F]{4})')
# The type of all virtual GPUs of a twin.
TYPE = 'twin'
# The vendor of devices of which it is not known, and the product of cards and physical GPUs.
UNKNOWN = 'ffff'
OURS = (os_traits.COMPUTE_MANAGED_PCI_DEVICE, os_traits.HW_PCI_ONE_TIME_USE)


@dataclasses.dataclass
class Provider:
    """The provider of a device, of the functions of a card, or of virtual GPUs.

    total: number of devices; taken: number of those that the twin does not offer
    """

    uuid: str
    address: str
    resource_class: str
    total: int
    traits: tuple[str, ...]
    one_time_use: bool = False
    allocations: allocations_.Allocations = dataclasses.field(default_factory=dict)
    taken: int = 0

    @property
    def is_virtual(self) -> bool:
        """Return whether it has virtual GPUs."""
        return self.resource_class == str(orc.VGPU)

    @property
    def offered(self) -> int:
        """Return the number of devices that the twin offers."""
        return self.total - self.taken

    @property
    def kind(self) -> tuple[str, tuple[str, ...]]:
        """Return what devices of one kind have in common."""
        return self.resource_class, self.traits


def read(api: apis.Api, root: str) -> tuple[list[Provider], dict[str, set[str]]]:
    """Return (providers of devices of a host by address, {name of another: its classes}).

    root: uuid of the host's own provider
    """
    found, others = [], dict[str, set[str]]()
    path = f'/resource_providers?in_tree={root}'
    for row in api.call('placement', 'GET', path)['resource_providers']:
        if row['uuid'] == root:
            continue
        own = f'/resource_providers/{row["uuid"]}'
        inventories = api.call('placement', 'GET', f'{own}/inventories')['inventories']
        name = row['name'].lower()
        device, gpu = DEVICE.search(name), GPU.search(name)
        is_gpu = gpu is not None and set(inventories) == {orc.VGPU}
        if len(inventories) != 1 or not (device or is_gpu):
            if inventories:
                others[str(row['name'])] = set(inventories)
            continue
        ((resource_class, inventory),) = inventories.items()
        traits = api.call('placement', 'GET', f'{own}/traits')['traits']
        found.append(
            Provider(
                row['uuid'],
                device[1] if device else '{}:{}:{}.{}'.format(*gpu.groups()) if gpu else '',
                resource_class,
                inventory['total'],
                tuple(sorted(each for each in traits if each not in OURS)),
                one_time_use=os_traits.HW_PCI_ONE_TIME_USE in traits,
                allocations=allocations_.read(api, own),
            )
        )
    return sorted(found, key=lambda each: each.address), others


class Kinds:
    """The vendors and products of the kinds of devices of all hosts.

    aliases: {name: definition}, see `lifecycle.guests.pci`
    """

    def __init__(
        self, providers: Iterable[Provider], aliases: Mapping[str, aliases_.Plain]
    ) -> None:
        self._providers = [each for each in providers if not each.is_virtual]
        self._ids: dict[tuple[str, tuple[str, ...]], tuple[str, str]] = {}
        for kind in sorted({each.kind for each in self._providers}):
            named = IDS.fullmatch(kind[0])
            ids = (named[1].lower(), named[2].lower()) if named else (UNKNOWN, '')
            if not named or ids in self._ids.values():
                ids = UNKNOWN, f'{len(self._ids):04x}'
            self._ids[kind] = ids
        specs = [spec for alias in aliases.values() for spec in alias['specs']]
        self._physical = {
            (spec.get('vendor_id'), spec.get('product_id'))
            for spec in specs
            if spec.get('kind') == pci.PF
        }

    def notes(self) -> list[str]:
        """Return notes on kinds of devices whose vendor and product are not known."""
        return [
            f'vendor and product of devices of the class {name}: aliases find them by their class'
            for name in sorted({kind[0] for kind, ids in self._ids.items() if ids[0] == UNKNOWN})
        ]

    def options(self) -> Options:
        """Return the options by which the hosts of a twin report such devices."""
        if not self._ids:
            return {}
        once = {each.kind for each in self._providers if each.one_time_use}
        specs = []
        for kind, (vendor_id, product_id) in self._ids.items():
            spec = {'vendor_id': vendor_id, 'product_id': product_id, 'resource_class': kind[0]}
            if kind[1]:
                spec['traits'] = ','.join(kind[1])
            if kind in once:
                spec['one_time_use'] = 'true'
            specs.append(spec)
        return {
            'pci': {'report_in_placement': 'true', 'device_spec': json.dumps(specs)},
            'filter_scheduler': {'pci_in_placement': 'true'},
        }

    def described(self, providers: Collection[Provider], nodes: int) -> list[Json]:
        """Return the devices of a host for a profile.

        nodes: number of NUMA nodes. The devices of a class are divided among them by addresses.
        """
        found = []
        for name in dict.fromkeys(each.resource_class for each in providers):
            own = [each for each in providers if each.resource_class == name]
            for index, each in enumerate(own):
                if each.offered > 0:
                    node = index * nodes // len(own)
                    found.append({**self._device(each), pci_devices.NODE: node})
        return sorted(found, key=lambda each: str(each[pci_devices.ADDRESS]))

    def _device(self, provider: Provider) -> Json:
        address = {pci_devices.ADDRESS: provider.address}
        if provider.is_virtual:
            ids = {pci_devices.VENDOR: UNKNOWN, pci_devices.PRODUCT: UNKNOWN}
            of_type: Json = {pci_devices.NAME: TYPE, pci_devices.COUNT: provider.offered}
            if provider.traits:
                of_type[pci_devices.TRAITS] = list(provider.traits)
            return {**ids, **address, pci_devices.TYPES: [of_type]}
        vendor_id, product_id = self._ids[provider.kind]
        is_physical = (vendor_id, product_id) in self._physical
        functions = {pci_devices.COUNT: provider.offered, pci_devices.PRODUCT: product_id}
        if is_physical:
            functions = {pci_devices.COUNT: 1, pci_devices.PRODUCT: UNKNOWN}
        own = {pci_devices.VENDOR: vendor_id, pci_devices.PRODUCT: product_id, **address}
        if provider.total == 1 and not is_physical:
            return own
        if not is_physical:
            own[pci_devices.PRODUCT] = UNKNOWN
        return {**own, pci_devices.KIND: pci.PF, pci_devices.FUNCTIONS: functions}
