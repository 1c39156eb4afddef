"""Behaviour profiles from YAML: by bundled name, from a file, from text.

doc/source/admin/simulated-hosts.rst describes the document. It adds to the bundled
profile that it extends. `rules` is what becomes of it, `strict_yaml` the strictness.
"""

from collections.abc import Callable
import dataclasses
import difflib
import fnmatch
import functools
import hashlib
import importlib.resources
import os
import re
from typing import TypeVar

import os_resource_classes as orc

from nova_lite.virt import model
from nova_lite.virt.sim import agents
from nova_lite.virt.sim import delay
from nova_lite.virt.sim import nodes
from nova_lite.virt.sim import pci_devices
from nova_lite.virt.sim import port_rules
from nova_lite.virt.sim import rules
from nova_lite.virt.sim import strict_yaml
from nova_lite.virt.sim import usage

ProfileError = strict_yaml.ProfileError

ROOT = 'default'
VERBS = rules.VERBS
Rule = TypeVar('Rule')
SECTIONS = ('hosts', 'guests', 'failures', 'ports')
# The name of a host is part of names of queues and of files.
NAME = re.compile(r'[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?')
WHEN = ('before', 'during', 'after')
ARCHITECTURES = ('x86_64', 'aarch64', 'ppc64le', 's390x', 'riscv64')
CRASH_DUMP = ('ignore', 'reboot', 'crash')
RESOURCES = ('vcpus', 'memory_mb', 'disk_gb')
LIVE_MIGRATION = (
    'bandwidth_mb_s',
    'dirty_rate_mb_s',
    'max_downtime_ms',
    'disk_fill',
    'auto_converge',
    'post_copy',
    'abort',
    'converges',
)
# The classes that `capacity` and `numa` give.
CAPACITY_CLASSES = (orc.VCPU, orc.PCPU, orc.MEMORY_MB, orc.DISK_GB)
OWN_CLASS = re.compile('CUSTOM_[A-Z0-9_]{1,248}')
HOST_KEYS = (
    'capacity',
    'reserved',
    'allocation_ratios',
    'architecture',
    'hypervisor',
    'address_bits',
    'numa_nodes',
    'numa',
    'pci',
    'inventory',
    'traits',
    'without_traits',
    'volume_types',
    'snapshot_bytes',
    'passwords',
    'crash_dump',
    'network_agent',
    'live_migration',
    'delays',
)

GUEST_KEYS = ('live_migration', 'usage')


# ---- loading --------------------------------------------------------------


@functools.cache
def bundled() -> tuple[str, ...]:
    """Return the names of the profiles that come with the package."""
    folder = importlib.resources.files('nova_lite.virt.sim').joinpath('profiles')
    return tuple(
        sorted(
            entry.name.removesuffix('.yaml')
            for entry in folder.iterdir()
            if entry.name.endswith('.yaml')
        )
    )


@functools.cache
def _bundled(name: str) -> rules.Profile:
    folder = importlib.resources.files('nova_lite.virt.sim').joinpath('profiles')
    return parse(folder.joinpath(f'{name}.yaml').read_text(), name)


class NoProfile(ProfileError):
    msg = '%(source)s is %(reason)s'


def load(source: str) -> rules.Profile:
    """Return the profile of that name, or in that file. Raise ProfileError, OSError."""
    if source in bundled():
        return _bundled(source)
    if not os.path.exists(source):
        near = difflib.get_close_matches(source, bundled(), n=1)
        proposed = f'. Did you mean {near[0]!r}?' if near else ''
        reason = f'neither a file nor one of: {", ".join(bundled())}{proposed}'
        raise NoProfile(source=source, path='(name)', reason=reason)
    with open(source, 'rb') as stream:
        return parse(stream.read(), source)


def port_rules_of(source: str, speed: float) -> port_rules.PortRules | None:
    """Return how ports are plugged, or None if the profile has no rules for ports."""
    found = load(source).ports
    return port_rules.PortRules(found, speed=speed) if found else None


def parse(text: str | bytes, source: str = '(text)') -> rules.Profile:
    """Return the profile that `text` is. Raise ProfileError, which names the place."""
    document = strict_yaml.Reader.parse(source, text)
    if document.value is None:
        document.value = {}
    document.mapping(optional=('extends', 'seed', 'names', *SECTIONS))
    hosts: tuple[rules.HostRule, ...] = ()
    guests: tuple[rules.GuestRule, ...] = ()
    failures: tuple[rules.FailureRule, ...] = ()
    ports: tuple[port_rules.Rule, ...] = ()
    seed = 0
    if source != ROOT:
        base = document.at('extends').choice(bundled()) if document.has('extends') else ROOT
        document.expect(base != source, f'{base} cannot extend itself')
        below = load(base)
        hosts, guests, seed = below.hosts, below.guests, below.seed
        failures, ports = below.all_failures, below.ports
    return rules.Profile(
        source=source,
        seed=document.at('seed').integer() if document.has('seed') else seed,
        hosts=hosts + _each(document, 'hosts', _host_rule),
        guests=guests + _each(document, 'guests', _guest_rule),
        all_failures=failures + _each(document, 'failures', _failure_rule),
        ports=ports + _each(document, 'ports', port_rules.read),
        names=_names(document.at('names')) if document.has('names') else {},
    )


def parse_failure(values: model.Json, identity: str) -> rules.FailureRule:
    """Return the rule of one entry of `failures`, which counts by itself. Raise ProfileError."""
    rule = _failure_rule(strict_yaml.Reader('of the fault', values))
    return dataclasses.replace(rule, identity=identity)


def _names(item: strict_yaml.Reader) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    for cell, listed in item.items():
        listed.expect(re.fullmatch(r'cell[1-9][0-9]*', cell), 'cells are called cell1, cell2, ...')
        for entry in listed.sequence():
            name = entry.string()
            entry.expect(NAME.fullmatch(name), f'{name!r} is no name of a host')
            # Placement and nova compare names of hosts without regard to case.
            entry.expect(name.lower() not in taken, f'{name} is given twice')
            taken.add(name.lower())
        found[cell] = tuple(listed.value)
    return found


def _each(
    document: strict_yaml.Reader, key: str, read: Callable[[strict_yaml.Reader], Rule]
) -> tuple[Rule, ...]:
    if not document.has(key):
        return ()
    return tuple(read(item) for item in document.at(key).sequence())


def _host_rule(item: strict_yaml.Reader) -> rules.HostRule:
    item.mapping(optional=('match', *HOST_KEYS))
    settings = {key: _HOST_READERS[key](item.at(key)) for key in HOST_KEYS if item.has(key)}
    if 'numa' in settings:
        item.expect('numa_nodes' not in settings, 'numa and numa_nodes exclude each other')
        both = rules.BY_NODES & settings.get('capacity', {}).keys()
        item.expect(not both, 'CPUs and memory are given by numa and by capacity')
    return rules.HostRule(item.at('match').string() if item.has('match') else '*', settings)


def _guest_rule(item: strict_yaml.Reader) -> rules.GuestRule:
    item.mapping(required=('match',), optional=GUEST_KEYS)
    item.expect(any(map(item.has, GUEST_KEYS)), f'lacks one of: {", ".join(GUEST_KEYS)}')
    return rules.GuestRule(
        _match(item.at('match')),
        _live_migration(item.at('live_migration')) if item.has('live_migration') else {},
        usage.read(item.at('usage')) if item.has('usage') else {},
    )


def _failure_rule(item: strict_yaml.Reader) -> rules.FailureRule:
    item.mapping(
        required=('verb',),
        optional=('match', 'when', 'probability', 'first', 'nth', 'error', 'message', 'reschedule'),
    )
    limits = [key for key in ('probability', 'first', 'nth') if item.has(key)]
    item.expect(len(limits) <= 1, f'only one of {" and ".join(limits)} may be given')
    name = item.at('error').choice(model.ERRORS) if item.has('error') else 'DriverError'
    verbs = _verbs(item.at('verb'), item.at('verb').string())
    message = (
        item.at('message').string()
        if item.has('message')
        else (f'injected failure of {item.value["verb"]}')
    )
    return rules.FailureRule(
        verbs=frozenset(verbs),
        match=_match(item.at('match')) if item.has('match') else rules.Match(),
        when=item.at('when').choice(WHEN) if item.has('when') else 'before',
        error=model.JobError(
            name, message, item.at('reschedule').boolean() if item.has('reschedule') else False
        ),
        identity=hashlib.sha256(repr(sorted(item.value.items())).encode()).hexdigest()[:16],
        limit=rules.Limit(
            probability=item.at('probability').number(0, 1) if 'probability' in limits else None,
            first=item.at('first').integer(1) if 'first' in limits else None,
            nth=item.at('nth').integer(1) if 'nth' in limits else None,
        ),
    )


def _match(item: strict_yaml.Reader) -> rules.Match:
    item.mapping(optional=('host', 'flavor', 'server', 'metadata'))
    patterns = {key: item.at(key).string() for key in ('host', 'flavor', 'server') if item.has(key)}
    metadata: tuple[tuple[str, str], ...] = ()
    if item.has('metadata'):
        metadata = tuple((key, value.string()) for key, value in item.at('metadata').items())
    return rules.Match(metadata=metadata, **patterns)


def _verbs(place: strict_yaml.Reader, pattern: str) -> list[str]:
    found = fnmatch.filter(VERBS, pattern)
    place.expect(found, f'{pattern!r} matches no verb; verbs: {", ".join(VERBS)}')
    return found


# ---- the settings of a host -----------------------------------------------


def _amounts(item: strict_yaml.Reader) -> dict[str, int]:
    item.mapping(optional=RESOURCES)
    return {key: value.integer() for key, value in item.items()}


def _inventory(item: strict_yaml.Reader) -> dict[str, int]:
    """Return {resource class: amount} of the node's provider besides CPUs, memory and disk."""
    found = {}
    for name, value in item.items():
        value.expect(
            (name in orc.STANDARDS or OWN_CLASS.fullmatch(name)) and name not in CAPACITY_CLASSES,
            'must be a resource class of os-resource-classes or CUSTOM_ and A-Z, 0-9, _, and none of '
            f'{", ".join(CAPACITY_CLASSES)}',
        )
        found[name] = value.integer()
    return found


def _ratios(item: strict_yaml.Reader) -> dict[str, float]:
    item.mapping(optional=RESOURCES)
    return {key: value.number(0.001, 10_000) for key, value in item.items()}


def _hypervisor(item: strict_yaml.Reader) -> dict[str, str | int]:
    item.mapping(optional=('type', 'version'))
    found: dict[str, str | int] = {}
    if item.has('type'):
        found['type'] = item.at('type').string()
    if item.has('version'):
        found['version'] = item.at('version').integer(1)
    return found


def _strings(item: strict_yaml.Reader) -> tuple[str, ...]:
    return tuple(entry.string() for entry in item.sequence())


def _live_migration(item: strict_yaml.Reader) -> model.Json:
    item.mapping(optional=LIVE_MIGRATION)
    found: model.Json = {}
    for key, value in item.items():
        if key in ('auto_converge', 'post_copy', 'abort'):
            found[key] = value.boolean()
        elif key == 'converges':
            found[key] = None if value.value is None else value.boolean()
        elif key == 'max_downtime_ms':
            found[key] = value.integer(1, 3_600_000)
        elif key == 'disk_fill':
            found[key] = value.number(0, 1)
        elif key == 'bandwidth_mb_s':
            found[key] = value.number(0.001)
        else:
            found[key] = value.number()
    return found


def _delays(item: strict_yaml.Reader) -> dict[str, delay.Distribution]:
    """Return {verb: distribution}; a verb's own entry goes before patterns that fit it."""
    patterns: dict[str, delay.Distribution] = {}
    own: dict[str, delay.Distribution] = {}
    for pattern, value in item.items():
        verbs = _verbs(value, pattern)
        distribution = delay.read(value)
        into = own if verbs == [pattern] else patterns
        into.update(dict.fromkeys(verbs, distribution))
    return patterns | own


_HOST_READERS = {
    'capacity': _amounts,
    'reserved': _amounts,
    'allocation_ratios': _ratios,
    'architecture': lambda item: item.choice(ARCHITECTURES),
    'hypervisor': _hypervisor,
    'address_bits': lambda item: item.integer(32, 64),
    'numa_nodes': lambda item: item.integer(1, nodes.MOST_NODES),
    'numa': nodes.read,
    'pci': pci_devices.read,
    'inventory': _inventory,
    'traits': strict_yaml.Reader.traits,
    'without_traits': strict_yaml.Reader.traits,
    'volume_types': _strings,
    'passwords': lambda item: model.PasswordSupport(item.choice(tuple(model.PasswordSupport))),
    'snapshot_bytes': lambda item: item.integer(1, 2**32),
    'crash_dump': lambda item: item.choice(CRASH_DUMP),
    'network_agent': agents.read,
    'live_migration': _live_migration,
    'delays': _delays,
}
