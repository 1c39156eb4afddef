"""Inventory: report the resources of the hosts of this process to the cell and placement.

One report has all hosts of the process, and only changes. Allocation ratios are the configured
ones, otherwise those in placement, otherwise the initial ones (reference/nova/scheduling 4).
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import typing

import os_resource_classes as orc
import os_traits
from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import nested
from nova_lite.clients import providers
from nova_lite.clients import registration
from nova_lite.compute import claims
from nova_lite.compute import comparison
from nova_lite.compute import device_allocations
from nova_lite.compute import monitors
from nova_lite.compute import site
from nova_lite.lifecycle import fitting
from nova_lite.virt import model

LOG = log.getLogger(__name__)

BATCH = 500
MIB_PER_GIB = 1024
RATIO_OPTIONS = {orc.VCPU: 'cpu', orc.MEMORY_MB: 'ram', orc.DISK_GB: 'disk'}
DISABLED = os_traits.COMPUTE_STATUS_DISABLED
# Traits that a driver may report and later no longer report. Further traits are not removed.
OURS = frozenset((*os_traits.get_traits('COMPUTE_'), os_traits.OWNER_NOVA))


# A pair of a host and a node.
Facts: typing.TypeAlias = dict[tuple[str, str], model.NodeFacts]


class Inventory:
    """The nodes of a site: their records, providers and limits."""

    def __init__(self, site: site.Site) -> None:
        self._site = site
        self._registration = registration.Registration(
            site.placement.providers, threads=site.conf.placement.register_threads
        )
        self._comparison = comparison.Comparison(site.conf.compute, self._registration)
        self._monitors = monitors.Monitors(site.conf, site.driver)
        self._lock = runtime.Lock()
        # The last reports about nodes, by host and node, and by uuid.
        self._reported: dict[tuple[str, str], tuple[object, ...]] = {}
        self._registered: dict[str, tuple[object, ...]] = {}
        self._uuids: dict[str, str] = {}
        # {node: its uuid before the cell forgot the host}
        self._former: dict[str, str] = {}
        self._ratios: dict[str, dict[str, float]] = {}
        self._disabled: frozenset[str] = frozenset()
        # Nodes whose guests hold other parts than the last report has.
        self._held_news: set[str] = set()

    # ---- reports ----

    def report(self) -> None:
        """Report metrics, and changes since the last report, to the cell and then to placement.

        The next report repeats changes that placement refuses.
        """
        with self._lock:
            facts = self._facts(self._site.hosts)
            self._report_nodes(facts, self._monitors.metrics(node for _host, node in facts))
            for uuid in self._comparison.due(context.admin(), self._registered):
                del self._registered[uuid]
            self._register(facts)
        self._report_held()

    def note_held(self, node: str) -> None:
        """Report at once that guests of a node hold other parts of it.

        A report that the conductor does not answer is left to the next one of all nodes.
        """
        self._held_news.add(node)
        try:
            self._report_held()
        except exception.NovaLiteError as error:
            LOG.warning(
                'Cannot report the parts that guests of node %s hold: %s. The next report of all '
                'nodes has them.',
                node,
                error,
            )

    def _report_held(self) -> None:
        # A thread that has the lock looks at the news again after it has released the lock.
        while self._held_news and self._lock.acquire(blocking=False):
            try:
                nodes = {self._held_news.pop() for _node in tuple(self._held_news)}
                facts = self._facts(self._site.hosts, nodes)
                self._report_nodes(facts)
            finally:
                self._lock.release()

    def forget(self, hosts: Iterable[str]) -> None:
        """Forget the reports about hosts, so that the next report has them completely."""
        with self._lock:
            for host in hosts:
                self._former.update(self._forget(host))

    def withdraw(self, hosts: Iterable[str]) -> None:
        """Delete the providers of hosts whose services are gone.

        A report may have registered them again while an administrator deleted the service.
        """
        with self._lock:
            for host in hosts:
                for uuid in self._forget(host).values():
                    self._registration.withdraw(context.admin(), uuid)

    def _forget(self, host: str) -> dict[str, str]:
        """Forget the reports about a host. Return {node: uuid} of its nodes."""
        uuids = {}
        for node in self._site.nodes[host]:
            self._reported.pop((host, node), None)
            if node in self._uuids:
                uuids[node] = self._uuids.pop(node)
                self._registered.pop(uuids[node], None)
        return uuids

    def note_disabled(self, hosts: Iterable[str]) -> bool:
        """Store which hosts are disabled for the next report. Return whether that has changed."""
        hosts = frozenset(hosts) & self._site.nodes.keys()
        before, self._disabled = self._disabled, hosts
        return hosts != before

    def set_enabled(self, host: str, enabled: bool) -> None:
        """Set or remove the trait of disabled hosts."""
        self._disabled = self._disabled - {host} if enabled else self._disabled | {host}
        with self._lock:
            failed = self._register(self._facts([host]))
        for error in failed.values():
            raise error

    def _facts(self, hosts: Iterable[str], nodes: Collection[str] | None = None) -> Facts:
        """Return the facts of all nodes of the hosts, or of those in `nodes`."""
        return {
            (host, node): self._site.driver.get_facts(node)
            for host in hosts
            for node in self._site.nodes[host]
            if nodes is None or node in nodes
        }

    def _report_nodes(
        self, facts: Facts, metrics: Mapping[str, list[model.Json]] | None = None
    ) -> None:
        """Report nodes of which something has changed, and those that have metrics.

        metrics: {node: its metrics}; None: they stay as they were reported
        """
        news, configured = {}, self._configured()
        occupied = self._site.driver.occupied_nodes()
        for (host, node), found in facts.items():
            said = (
                *(found.hypervisor_type, found.hypervisor_version, found.host_ip),
                *(found.cpu_info, found.supported_instances),
                *(self._site.hardware.inventory(node), configured),
                self._numa(node, occupied=node in occupied),
            )
            measured = {} if metrics is None else {'metrics': metrics.get(node, [])}
            if self._reported.get((host, node)) != said or measured.get('metrics'):
                # Without an answer of the conductor, the contents of the record are unknown.
                self._reported.pop((host, node), None)
                columns = {**self._columns(host, found), 'numa': said[-1], **measured}
                news[host, node] = said, columns
        pending = list(news)
        for start in range(0, len(pending), BATCH):
            batch = pending[start : start + BATCH]
            uuids = self._site.conductor.report_nodes(
                context.admin(), nodes=[news[key][1] for key in batch]
            )
            for host, node in batch:
                if host in uuids:  # the other hosts have no service
                    self._replace(node, uuids[host][node])
                    self._reported[host, node] = news[host, node][0]

    def _replace(self, node: str, uuid: str) -> None:
        """Set the uuid of a node. Delete the provider of a former uuid, which has the node's name.

        The comparison with placement may have registered it while the cell had no service of the
        host.
        """
        former = self._former.get(node, uuid)
        if former != uuid:
            self._registration.withdraw(context.admin(), former)
        self._former.pop(node, None)
        self._uuids[node] = uuid

    def _register(self, facts: Facts) -> dict[str, exception.NovaLiteError]:
        """Register nodes in placement. Return {node uuid: error} of failures."""
        news, wanted, configured = {}, [], self._configured()
        for (host, node), found in facts.items():
            if node in self._uuids:
                traits = _traits(tuple(found.traits), host in self._disabled)
                said = (
                    node,
                    traits,
                    self._site.hardware.inventory(node),
                    self._site.driver.get_nested_providers(node),
                    self._site.hardware.placed(node),
                    configured,
                )
                if self._registered.get(self._uuids[node]) != said:
                    news[self._uuids[node]] = said
                    wanted.append(self._provider(node, traits))
        if not news:
            return {}
        failed = self._registration.register(context.admin(), wanted)
        for uuid, said in news.items():
            if uuid not in failed:
                self._registered[uuid] = said
        for each in wanted:
            if each.children and each.uuid not in failed:
                device_allocations.heal_guests(self._site, each.name)
        LOG.info('%s compute nodes registered in placement', len(news) - len(failed))
        return failed

    def _numa(self, node: str, *, occupied: bool) -> model.Json | None:
        """Return the nodes, devices and the parts that guests hold.

        Return None if only the number of NUMA nodes is known.
        """
        described = self._site.hardware.is_described(node)
        held = self._site.claims.numa(node, occupied=occupied)
        if not described and not held:
            return None
        host = self._site.hardware.nodes(node).to_dict() if described else None
        return {'host': host, 'guests': held}

    def _columns(self, host: str, facts: model.NodeFacts) -> model.Json:
        node = facts.hypervisor_hostname
        inventory = self._site.hardware.inventory(node)
        ratios = {name: self._ratio(name, inventory[name]) for name in RATIO_OPTIONS}
        return {
            'host': host,
            'hypervisor_hostname': node,
            'hypervisor_type': facts.hypervisor_type,
            'hypervisor_version': facts.hypervisor_version,
            'host_ip': facts.host_ip,
            'vcpus': inventory[orc.VCPU].total,
            'memory_mb': inventory[orc.MEMORY_MB].total,
            'local_gb': inventory[orc.DISK_GB].total,
            'cpu_allocation_ratio': ratios[orc.VCPU],
            'ram_allocation_ratio': ratios[orc.MEMORY_MB],
            'disk_allocation_ratio': ratios[orc.DISK_GB],
            'reserved_memory_mb': self._reserved(orc.MEMORY_MB, inventory[orc.MEMORY_MB]),
            'cpu_info': facts.cpu_info,
            'supported_instances': [list(entry) for entry in facts.supported_instances],
        }

    def _provider(self, node: str, traits: frozenset[str]) -> registration.Node:
        inventory = self._site.hardware.inventory(node)
        found = registration.Node(
            uuid=self._uuids[node],
            name=node,
            inventories={
                name: {
                    'total': part.total,
                    'reserved': self._reserved(name, part),
                    'max_unit': part.total,
                    'allocation_ratio': self._ratio(name, part),
                }
                for name, part in inventory.items()
                if part.total
            },
            traits=traits,
            not_traits=OURS - traits,
            keep_ratios=frozenset(
                name for name in RATIO_OPTIONS if not self._configured_ratio(name)
            ),
            children=(
                *map(_nested, self._site.driver.get_nested_providers(node)),
                *device_allocations.nested_providers(
                    self._site.hardware.placed(node), self._site.hardware.traits_of_types(node)
                ),
            ),
        )
        return self._site.hardware.provider_configs.add_to(found)

    # ---- ratios and limits ----

    def limits(self, node: str) -> claims.Amounts:
        """Return {resource class: amount} that all guests of the node together may have."""
        return {
            name: (part.total - self._reserved(name, part)) * self._known_ratio(node, name, part)
            for name, part in self._site.hardware.inventory(node).items()
        }

    def provider(self, node: str) -> str | None:
        return self._uuids.get(node)

    def ratios(self, node: str) -> fitting.Ratios:
        """Return the allocation ratios of the node's shared CPUs and of its memory."""
        inventory = self._site.hardware.inventory(node)
        cpu, ram = (
            self._known_ratio(node, name, inventory[name]) for name in (orc.VCPU, orc.MEMORY_MB)
        )
        return fitting.Ratios(
            cpu,
            ram,
            packs=self._site.conf.compute.packing_host_numa_cells_allocation_strategy,
        )

    def reread_ratios(self, node: str) -> bool:
        """Read the ratios of operators from placement. Return whether they have changed."""
        if node not in self._uuids or all(map(self._configured_ratio, RATIO_OPTIONS)):
            return False
        try:
            found, _generation = self._site.placement.providers.inventories(
                context.admin(), self._uuids[node]
            )
        except exception.NovaLiteError as error:
            LOG.warning('Cannot read the allocation ratios of node %s: %s', node, error)
            return False
        ratios = {
            name: part['allocation_ratio']
            for name, part in found.items()
            if name in RATIO_OPTIONS and not self._configured_ratio(name)
        }
        changed = self._ratios.get(node) != ratios
        self._ratios[node] = ratios
        return changed

    def _configured_ratio(self, name: str) -> float | None:
        ratio: float | None = self._site.conf.compute[f'{RATIO_OPTIONS[name]}_allocation_ratio']
        return ratio

    def _known_ratio(self, node: str, name: str, part: model.Inventory) -> float:
        """Return the ratio that operators gave placement, or else the configured one."""
        return self._ratios.get(node, {}).get(name, self._ratio(name, part))

    def _ratio(self, name: str, part: model.Inventory) -> float:
        if name not in RATIO_OPTIONS:
            return 1.0
        initial: float = self._site.conf.compute[f'initial_{RATIO_OPTIONS[name]}_allocation_ratio']
        return self._configured_ratio(name) or part.initial_ratio or initial

    def _configured(self) -> tuple[float | None, ...]:
        """Return the configured ratios. They may change when the configuration is reloaded."""
        options = self._site.conf.compute
        return (
            *map(self._configured_ratio, RATIO_OPTIONS),
            *(options[f'initial_{name}_allocation_ratio'] for name in RATIO_OPTIONS.values()),
            *(options.reserved_host_cpus, options.reserved_host_memory_mb),
            options.reserved_host_disk_mb,
        )

    def _reserved(self, name: str, part: model.Inventory) -> int:
        if part.reserved is not None:
            return part.reserved
        options = self._site.conf.compute
        reserved: dict[str, int] = {
            orc.VCPU: options.reserved_host_cpus,
            orc.MEMORY_MB: options.reserved_host_memory_mb,
            orc.DISK_GB: -(-options.reserved_host_disk_mb // MIB_PER_GIB),
        }
        return reserved.get(name, 0)


@functools.lru_cache
def _traits(found: tuple[str, ...], is_disabled: bool) -> frozenset[str]:
    """Return the traits of a node, which nodes of the same kind share."""
    return frozenset((*found, os_traits.OWNER_NOVA, *((DISABLED,) if is_disabled else ())))


def _nested(found: model.NestedProvider) -> nested.Nested:
    inventories: providers.Inventories = {
        name: {'total': total, 'max_unit': total} for name, total in found.totals.items()
    }
    return nested.Nested(found.name, inventories, frozenset(found.traits), found.parent)
