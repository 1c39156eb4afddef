"""The hosts of a real cloud as rules of a profile: capacity, reserves, ratios and traits.

Source: placement's inventories and traits of the providers of compute nodes.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import http
import json
import math
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
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

    inventories: {resource class: placement's}; extra: resources of servers that the twin lacks
    """

    name: str
    uuid: str
    inventories: Json
    traits: list[str]
    demand: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(KEYS, 0))
    extra: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(KEYS, 0))

    def is_over(self) -> list[str]:
        """Return the resource classes of which the servers have more than the host offers."""
        return [
            name
            for name in KEYS
            if name in self.inventories and self.demand[name] > self._free(name)
        ]

    def _free(self, name: str) -> int:
        part = self.inventories[name]
        offered: int = part['total'] - self.reserved(name)
        return math.floor(offered * float(part['allocation_ratio']))

    def reserved(self, name: str) -> int:
        """Return the reserve, with what servers hold that the twin lacks."""
        part = self.inventories[name]
        more = math.ceil(self.extra[name] / float(part['allocation_ratio']))
        reserved: int = min(part['total'], part['reserved'] + more)
        return reserved

    def rule(self) -> Json:
        """Return the settings of the host in a profile. Servers beyond its offer are let in."""
        rule: Json = {'capacity': {}, 'reserved': {}, 'allocation_ratios': {}}
        for name, key in KEYS.items():
            part = self.inventories.get(name)
            if part is None:
                rule['capacity'][key] = SHARED_DISK_GB if name == 'DISK_GB' else 0
                continue
            rule['capacity'][key] = part['total']
            rule['reserved'][key] = self.reserved(name)
            rule['allocation_ratios'][key] = self._ratio(name)
        usual = profile.load(BASE).behaviour(self.name).traits
        more = sorted(name for name in self.traits if not name.startswith(OWN_TRAITS))
        rule['traits'] = [name for name in more if name not in usual]
        lacking = [name for name in usual if name not in self.traits]
        rule['without_traits'] = [name for name in lacking if not name.startswith(OWN_TRAITS)]
        return {key: value for key, value in rule.items() if value}

    def _ratio(self, name: str) -> float:
        part = self.inventories[name]
        ratio, offered = float(part['allocation_ratio']), int(part['total']) - self.reserved(name)
        if self.demand[name] <= self._free(name) or offered <= 0:
            return ratio
        # Rounded up, so that the product is not below the demand.
        return math.ceil(self.demand[name] / offered * 10_000) / 10_000


def read(api: apis.Api) -> tuple[dict[str, Host], list[str]]:
    """Return ({name: host}, notes). A host with several nodes is left out."""
    found: dict[str, Host] = {}
    several: set[str] = set()
    notes: list[str] = []
    for row in api.list('compute', '/os-hypervisors/detail', 'hypervisors', limit=1000):
        name = row['service']['host']
        if name in found:
            several.add(name)
            continue
        path = f'/resource_providers/{row["id"]}'
        try:
            inventories = api.call('placement', 'GET', f'{path}/inventories')['inventories']
            traits = api.call('placement', 'GET', f'{path}/traits')['traits']
        except apis.Refused as error:
            if error.kwargs['status'] != http.HTTPStatus.NOT_FOUND:
                raise
            notes.append(f'host {name}: placement does not know it')
            continue
        found[name] = Host(name, row['id'], inventories, traits)
    notes += [f'host {name}: it has several nodes' for name in sorted(several)]
    for name in several:
        del found[name]
    for host in found.values():
        others = sorted(host.inventories.keys() - KEYS.keys())
        if others:
            notes.append(f'{", ".join(others)} of host {host.name}')
    return found, notes


def profile_of(hosts: Iterable[Host]) -> Json:
    """Return a profile: the most frequent settings for all hosts, and those of each other host."""
    rules = {host.name: host.rule() for host in hosts}
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
    return {key: value for key, value in found.items() if value}
