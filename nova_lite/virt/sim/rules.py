"""Behaviour profiles as values: rules for hosts, guests and failures.

`jobs` reads these values, which `profile` makes from YAML.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import fnmatch
import typing

from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt import pci as devices
from nova_lite.virt import topology
from nova_lite.virt.sim import delay
from nova_lite.virt.sim import port_rules
from nova_lite.virt.sim import usage

VERBS = tuple(str(verb) for verb in model.Verb)
# The capacity that NUMA nodes have.
BY_NODES = frozenset(('vcpus', 'memory_mb'))


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """Patterns that host, flavor, server name and metadata must all fit."""

    host: str = '*'
    flavor: str = '*'
    server: str = '*'
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def about_guest(self) -> bool:
        return self.flavor != '*' or self.server != '*' or bool(self.metadata)

    def fits(self, node: str, spec: model.GuestSpec | None) -> bool:
        """Return whether it applies. spec: the guest's, or None if there is none."""
        if not fnmatch.fnmatchcase(node, self.host):
            return False
        if not self.about_guest:
            return True
        if spec is None:
            return False
        return (
            fnmatch.fnmatchcase(spec.flavor, self.flavor)
            and fnmatch.fnmatchcase(spec.title, self.server)
            and all(
                fnmatch.fnmatchcase(str(spec.metadata.get(key, '')), pattern)
                and key in spec.metadata
                for key, pattern in self.metadata
            )
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Limit:
    """The matching cases that a fault strikes. At most one field is set; without any, all cases."""

    probability: float | None = None
    first: int | None = None
    nth: int | None = None

    def strikes(self, count: int, rng: Callable[[], runtime.Random]) -> bool:
        """Return whether the `count`-th case (from 1) that fits is struck.

        rng: makes the generator that a probability asks.
        """
        if self.probability is not None:
            return rng().random() < self.probability
        if self.first is not None:
            return count <= self.first
        if self.nth is not None:
            return count == self.nth
        return True


@dataclasses.dataclass(frozen=True, slots=True)
class FailureRule:
    """A rule for effects that fail: which, how and how often.

    identity: key of its counter; a changed rule starts at zero.
    """

    verbs: frozenset[str]
    match: Match
    when: str
    error: model.JobError
    identity: str
    limit: Limit = Limit()


@dataclasses.dataclass(frozen=True, slots=True)
class HostRule:
    match: str
    settings: model.Json


@dataclasses.dataclass(frozen=True, slots=True)
class GuestRule:
    match: Match
    live_migration: model.Json
    used: Mapping[str, usage.Curve] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Behaviour:
    """The settings of all rules for a host; hosts with the same rules share one.

    numa: the NUMA nodes with CPUs and memory; None: only their number is known
    pci: the PCI devices; inventory: {further resource class: amount}
    address_bits: of physical addresses of the CPUs; None: the host does not report them
    derived: what follows from the others, by name, once it was asked for
    """

    capacity: dict[str, int]
    reserved: dict[str, int]
    allocation_ratios: dict[str, float]
    architecture: str
    hypervisor: model.Json
    numa_nodes: int
    traits: tuple[str, ...]
    volume_types: tuple[str, ...]
    snapshot_bytes: int
    passwords: model.PasswordSupport
    crash_dump: str
    network_agent: model.Json
    live_migration: model.Json
    delays: dict[str, delay.Distribution]
    inventory: dict[str, int]
    numa: topology.Host | None = None
    pci: tuple[devices.Device, ...] = ()
    address_bits: int | None = None
    derived: dict[str, typing.Any] = dataclasses.field(default_factory=dict, compare=False)


@dataclasses.dataclass(eq=False, kw_only=True)
class Profile:
    """A whole profile. Immutable; `source`: where it was loaded from.

    names: {cell: names of its first hosts}, of cells whose hosts have names of their own
    """

    source: str
    seed: int
    hosts: tuple[HostRule, ...]
    guests: tuple[GuestRule, ...]
    all_failures: tuple[FailureRule, ...]
    ports: tuple[port_rules.Rule, ...] = ()
    names: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._failures_by_verb = {
            verb: tuple(rule for rule in self.all_failures if verb in rule.verbs) for verb in VERBS
        }
        self._by_rules: dict[tuple[int, ...], Behaviour] = {}
        self._by_node: dict[str, Behaviour] = {}

    def behaviour(self, node: str) -> Behaviour:
        """Return the Behaviour of a node."""
        found = self._by_node.get(node)
        if found is None:
            fitting = tuple(
                index
                for index, rule in enumerate(self.hosts)
                if fnmatch.fnmatchcase(node, rule.match)
            )
            found = self._by_rules.get(fitting)
            if found is None:
                found = _merge([self.hosts[index].settings for index in fitting])
                self._by_rules[fitting] = found
            self._by_node[node] = found
        return found

    def failures(self, verb: str) -> tuple[FailureRule, ...]:
        """Return the failure rules that concern the verb, in order."""
        return self._failures_by_verb[verb]

    def live_migration(self, node: str, spec: model.GuestSpec) -> model.Json:
        """Return the live migration parameters of a guest on a node."""
        found = dict(self.behaviour(node).live_migration)
        for rule in self.guests:
            if rule.match.fits(node, spec):
                found.update(rule.live_migration)
        return found

    def usage(self, node: str, spec: model.GuestSpec) -> usage.Usage:
        """Return what a guest on a node uses."""
        found: dict[str, usage.Curve] = {}
        for rule in self.guests:
            if rule.used and rule.match.fits(node, spec):
                found.update(rule.used)
        return usage.Usage(**found)


def _merge(layers: Iterable[model.Json]) -> Behaviour:
    """Return one Behaviour from the settings of all rules that fit; a later one prevails.

    A later number of CPUs, of MiB or of NUMA nodes takes the place of described nodes.
    """
    merged: model.Json = {
        key: {}
        for key in (
            'capacity',
            'reserved',
            'allocation_ratios',
            'hypervisor',
            'network_agent',
            'live_migration',
            'delays',
            'inventory',
        )
    }
    traits: dict[str, None] = {}
    for settings in layers:
        if 'numa_nodes' in settings or BY_NODES & settings.get('capacity', {}).keys():
            merged['numa'] = None
        for key, value in settings.items():
            if key == 'traits':
                traits.update(dict.fromkeys(value))
            elif key == 'without_traits':
                for name in value:
                    traits.pop(name, None)
            elif isinstance(value, dict):
                merged[key].update(value)
            else:
                merged[key] = value
    host = merged.get('numa')
    if host is not None:
        merged['capacity'] |= {'vcpus': len(host.cpus), 'memory_mb': host.memory_mb}
        merged['numa_nodes'] = len(host.nodes)
    return Behaviour(traits=tuple(traits), **merged)
