"""The hosts of a real cloud as rules of a profile."""

import collections
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import json
import math
import typing

import os_resource_classes as orc

from nova_lite.lab.twin import allocations as allocations_
from nova_lite.lab.twin import devices
from nova_lite.lab.twin import numa
from nova_lite.lifecycle import fitting
from nova_lite.virt import topology
from nova_lite.virt.sim import profile

Json: typing.TypeAlias = dict[str, typing.Any]
# {resource class: key of a profile}
KEYS = {'VCPU': 'vcpus', 'MEMORY_MB': 'memory_mb', 'DISK_GB': 'disk_gb'}
# Traits that the simulated hosts have by what they can do.
OWN_TRAITS = ('COMPUTE_', 'OWNER_')
# Disk in GiB of a host without an inventory of disks: they are on shared storage.
SHARED_DISK_GB = 1 << 20
BASE = 'default'


@dataclasses.dataclass
class Host:
    """A host of the real cloud. uuid: of its provider; demand: of its servers in the twin

    inventories: {resource class: placement's}; allocations: on its own provider
    servers: ids of its servers in the twin; extra: resources of other consumers, which are reserved
    nodes: number of NUMA nodes; threads: of a core; providers: those of its devices
    held, lost: parts of its nodes that guests of the twin hold, and guests that the twin lacks
    pinned: dedicated CPUs of other consumers, on nodes that are not known
    address_bits: of physical addresses, None if the host does not report them
    """

    name: str
    uuid: str
    inventories: Json
    traits: list[str]
    demand: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    allocations: allocations_.Allocations = dataclasses.field(default_factory=dict)
    servers: set[str] = dataclasses.field(default_factory=set)
    extra: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    nodes: int = 1
    threads: int = 1
    providers: list[devices.Provider] = dataclasses.field(default_factory=list)
    held: list[numa.Part] = dataclasses.field(default_factory=list)
    lost: list[numa.Part] = dataclasses.field(default_factory=list)
    pinned: int = 0
    address_bits: int | None = None

    def consumers(self) -> set[str]:
        """Return the ids of all consumers of the host and of its devices."""
        return set(self.allocations).union(*(each.allocations for each in self.providers))

    def reserve(self) -> None:
        """Reserve what consumers hold that are not servers of the host in the twin."""
        self.extra = allocations_.besides(self.allocations, self.servers)
        on_nodes = sum(part.pinned for part in self.lost)
        self.pinned = max(0, self.extra[orc.PCPU] - on_nodes)
        for provider in self.providers:
            others = allocations_.besides(provider.allocations, self.servers)
            provider.taken = others[provider.resource_class]

    def is_over(self) -> list[str]:
        """Return the resource classes of which the servers have more than the host offers."""
        return [
            name
            for name in self.inventories
            if name != orc.PCPU and self.demand[name] > self._free(name)
        ]

    def _free(self, name: str) -> int:
        part = self.inventories[name]
        offered: int = part['total'] - self.reserved(name)
        return math.floor(offered * float(part['allocation_ratio']))

    def reserved(self, name: str) -> int:
        """Return the reserve, with what other consumers hold than servers of the twin."""
        part = self.inventories[name]
        more = math.ceil(self.extra[name] / float(part['allocation_ratio']))
        reserved: int = min(part['total'], part['reserved'] + more)
        return reserved

    @property
    def dedicated(self) -> int:
        """Return the number of CPUs that are for one guest each."""
        part = self.inventories.get(orc.PCPU)
        return max(0, int(part['total'] - part['reserved']) - self.pinned) if part else 0

    def classes(self) -> set[str]:
        """Return the resource classes that it offers in a twin."""
        found = {each.resource_class for each in self.providers if each.is_virtual}
        found |= {name for name in self.inventories if name != orc.PCPU or self.dedicated}
        # Without an inventory of disks they are on shared storage.
        return found | {orc.DISK_GB}

    def rule(self, pages: Sequence[int], kinds: devices.Kinds) -> Json:
        """Return the settings of the host in a profile. Servers beyond its offer are let in.

        pages: KiB of the large pages of all hosts; kinds: of the devices of all hosts
        """
        rule: Json = {'capacity': {}, 'reserved': {}, 'allocation_ratios': {}, 'inventory': {}}
        described = self._described(pages)
        for name, key in KEYS.items():
            part = self.inventories.get(name)
            if described is None or name == orc.DISK_GB:
                rule['capacity'][key] = part['total'] if part else self._total(name)
            rule['reserved'][key] = self.reserved(name) if part else 0
            if part is not None:
                rule['allocation_ratios'][key] = self._ratio(name)
        for name, part in self.inventories.items():
            if name not in KEYS and name != orc.PCPU:
                offered = (part['total'] - part['reserved']) * float(part['allocation_ratio'])
                left = math.floor(offered) - self.extra[name]
                rule['inventory'][name] = max(0, left, self.demand[name])
        if described is None:
            rule['numa_nodes'] = self.nodes
        else:
            rule['numa'] = described
        rule['pci'] = kinds.described(self.providers, self.nodes)
        rule['address_bits'] = self.address_bits
        usual = profile.load(BASE).behaviour(self.name).traits
        more = sorted(name for name in self.traits if not name.startswith(OWN_TRAITS))
        rule['traits'] = [name for name in more if name not in usual]
        lacking = [name for name in usual if name not in self.traits]
        rule['without_traits'] = [name for name in lacking if not name.startswith(OWN_TRAITS)]
        return {key: value for key, value in rule.items() if value}

    def _total(self, name: str) -> int:
        """Return the total of a resource class in a twin; without an inventory, a usual one."""
        part = self.inventories.get(name)
        return int(part['total']) if part else SHARED_DISK_GB * (name == orc.DISK_GB)

    def _described(self, pages: Sequence[int]) -> Json | None:
        """Return the NUMA nodes for a profile, or None if only their number matters."""
        if not self.dedicated and not any(part.page_kb for part in self.held):
            return None
        totals = numa.Totals(
            shared=self._total(orc.VCPU),
            dedicated=self.dedicated,
            memory_mb=self._total(orc.MEMORY_MB),
            nodes=self.nodes,
            threads=self.threads,
        )
        return numa.described(totals, pages, self.held, self.lost)

    def topology(self, rule: Json) -> topology.Host:
        """Return the NUMA nodes that the host has in a twin. rule: its settings"""
        wanted = {key: rule[key] for key in ('numa', 'pci') if key in rule}
        found = profile.parse(json.dumps({'hosts': [wanted]})).behaviour(self.name)
        described = found.numa
        if described is None:
            totals = (self._total(name) for name in (orc.VCPU, orc.MEMORY_MB))
            described = topology.even(self.nodes, *totals)
        return dataclasses.replace(described, devices=found.pci)

    @property
    def ratios(self) -> fitting.Ratios:
        """Return the allocation ratios in a twin."""
        cpu, ram = (
            self._ratio(name) if name in self.inventories else 1.0
            for name in (orc.VCPU, orc.MEMORY_MB)
        )
        return fitting.Ratios(cpu, ram)

    def _ratio(self, name: str) -> float:
        part = self.inventories[name]
        ratio, offered = float(part['allocation_ratio']), int(part['total']) - self.reserved(name)
        if self.demand[name] <= self._free(name) or offered <= 0:
            return ratio
        # Rounded up, so that the product is not below the demand.
        return math.ceil(self.demand[name] / offered * 10_000) / 10_000


def profile_of(rules: Mapping[str, Json]) -> Json:
    """Return a profile: the most frequent settings for all hosts, and those of each other host.

    rules: {name of a host: its settings}
    """
    texts = [json.dumps(rule, sort_keys=True) for rule in rules.values()]
    most = json.loads(max(texts, key=texts.count)) if texts else {}
    listed = [{'match': '*', **most}]
    for name, rule in rules.items():
        if rule != most:
            listed.append({'match': name, **_over(most, rule)})
    return {'extends': BASE, 'hosts': listed}


def _over(most: Mapping[str, typing.Any], rule: Json) -> Json:
    """Return settings that make a host as `rule` says if `most` applies to it, too."""
    found = {key: value for key, value in rule.items() if value != most.get(key)}
    traits = set(rule.get('traits', ()))
    without = {*rule.get('without_traits', ()), *(set(most.get('traits', ())) - traits)}
    added = traits | (set(most.get('without_traits', ())) - set(rule.get('without_traits', ())))
    found['traits'], found['without_traits'] = sorted(added), sorted(without)
    found = {key: value for key, value in found.items() if value}
    lacking = most.get('inventory', {}).keys() - rule.get('inventory', {}).keys()
    if lacking:
        found['inventory'] = {**rule.get('inventory', {}), **dict.fromkeys(sorted(lacking), 0)}
    if 'pci' in most and 'pci' not in rule:
        found['pci'] = []
    return found
