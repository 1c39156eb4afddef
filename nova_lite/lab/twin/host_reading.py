"""Read the hosts of a real cloud.

Source: placement's inventories and traits of the providers of compute nodes, and what nova shows of
their CPUs.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import http
import typing

from keystoneauth1 import discover

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.twin import allocations
from nova_lite.lab.twin import devices
from nova_lite.lab.twin import hosts as hosts_
from nova_lite.lab.twin import names as names_
from nova_lite.terminal import plurals
from nova_lite.virt.sim import nodes
from nova_lite.virt.sim import profile

Json: typing.TypeAlias = dict[str, typing.Any]
# The last microversion that shows the CPUs of a host.
WITH_CPUS = (2, 87)
THREADS = 'HW_CPU_HYPERTHREADING'
# What a profile can have.
ADDRESS_BITS = range(32, 65)
SEVERAL = 'with several nodes'
BAD_NAME = 'whose name no host of a twin can have'
NO_PROVIDER = 'that placement does not know'


@dataclasses.dataclass
class Reading:
    """The hosts of a cloud, and the names of objects that the twin lacks.

    hosts: {name: host}; left_out: {why: names of hosts}
    beyond: names of hosts with more NUMA nodes than a profile can have
    below: {resource classes: names of resource providers below hosts}
    orphans: names of resource providers of no host
    """

    hosts: dict[str, hosts_.Host] = dataclasses.field(default_factory=dict)
    left_out: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    beyond: list[str] = dataclasses.field(default_factory=list)
    below: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    orphans: list[str] = dataclasses.field(default_factory=list)

    def missing(self) -> set[str]:
        """Return the names of hosts that the twin lacks."""
        return {name for found in self.left_out.values() for name in found}

    def notes(self) -> list[str]:
        """Return notes on what the twin lacks."""
        found = [counted('host', each, why) for why, each in sorted(self.left_out.items())]
        if self.beyond:
            text = f'with more than {nodes.MOST_NODES} NUMA nodes, of which the others are missing'
            found.append(counted('host', self.beyond, text))
        for classes, each in sorted(self.below.items()):
            found.append(counted('resource provider', each, f'below hosts, with {classes}'))
        if self.orphans:
            found.append(counted('resource provider', self.orphans, 'of no host'))
        return found


def counted(noun: str, names: Sequence[str], text: str) -> str:
    """Return a text with the number of objects, what they have in common, and their names."""
    return f'{plurals.of(len(names), noun)} {text} ({names_.listed(names)})'


def read(api: apis.Api) -> Reading:
    """Return the hosts of a cloud. Raise Refused."""
    used = min(discover.normalize_version_number(api.microversions['compute']), WITH_CPUS)
    rows = api.list(
        'compute',
        '/os-hypervisors/detail',
        'hypervisors',
        microversion=discover.version_to_string(used),
        limit=1000,
    )
    of_host = collections.Counter(str(row['service']['host']) for row in rows)
    found = Reading(orphans=_orphans(api, {row['id'] for row in rows}))
    for name, count in sorted(of_host.items()):
        if count > 1:
            found.left_out.setdefault(SEVERAL, []).append(name)
        elif not profile.NAME.fullmatch(name):
            found.left_out.setdefault(BAD_NAME, []).append(name)
    missing = found.missing()
    for row in rows:
        if row['service']['host'] not in missing:
            _read_host(api, row, found)
    return found


def _orphans(api: apis.Api, known: Collection[str]) -> list[str]:
    """Return the names of root providers that are no hypervisors. known: ids of hypervisors"""
    rows = api.call('placement', 'GET', '/resource_providers')['resource_providers']
    return sorted(
        row['name']
        for row in rows
        if row['uuid'] == row['root_provider_uuid'] and row['uuid'] not in known
    )


def _read_host(api: apis.Api, row: Json, found: Reading) -> None:
    """Add the host of a hypervisor, unless placement does not know it."""
    name, path = str(row['service']['host']), f'/resource_providers/{row["id"]}'
    try:
        inventories = api.call('placement', 'GET', f'{path}/inventories')['inventories']
        traits = api.call('placement', 'GET', f'{path}/traits')['traits']
        held = allocations.read(api, path)
        providers, others = devices.read(api, row['id'])
    except apis.Refused as error:
        if error.kwargs['status'] != http.HTTPStatus.NOT_FOUND:
            raise
        found.left_out.setdefault(NO_PROVIDER, []).append(name)
        return
    for provider, classes in others.items():
        found.below.setdefault(', '.join(sorted(classes)), []).append(provider)
    cells, threads = _cpus(row, traits)
    if cells > nodes.MOST_NODES:
        found.beyond.append(name)
    found.hosts[name] = hosts_.Host(
        *(name, row['id'], inventories, traits),
        nodes=min(cells, nodes.MOST_NODES),
        threads=threads,
        providers=providers,
        allocations=held,
        address_bits=_address_bits(row),
    )


def _address_bits(row: Json) -> int | None:
    """Return the bits of physical addresses of a host; None if it does not report what can be."""
    info = row.get('cpu_info')
    shown = info.get('maxphysaddr') if isinstance(info, dict) else None
    bits = (shown or {}).get('bits')
    return bits if bits in ADDRESS_BITS else None


def _cpus(row: Json, traits: Iterable[str]) -> tuple[int, int]:
    """Return (number of NUMA nodes, threads of a core) of a host, 1 if nova does not show it."""
    info = row.get('cpu_info')
    shown = info.get('topology') if isinstance(info, dict) else None
    found = shown or {}
    threads = int(found.get('threads') or 1)
    if threads == 1 and THREADS in traits:
        threads = 2
    return max(1, int(found.get('cells') or 1)), min(threads, nodes.MOST_THREADS)
