"""The facts of a simulated hypervisor and of its guests.

All of it follows from the profile, the guest's row and the clock, so equal
questions get equal answers before and after a restart.
"""

from collections.abc import Callable
from collections.abc import Iterator
import functools
import hashlib
import typing

import os_resource_classes as orc

from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import rules
from nova_lite.virt.sim import usage

CHUNK = 65536
VM_MODE = 'hvm'
# The bytes of a request to a disk, and of a packet.
REQUEST_BYTES, PACKET_BYTES = 4096, 100
_STATES = {states.PowerState.NOSTATE: 'pending'}


T = typing.TypeVar('T')


def _once(function: Callable[[rules.Behaviour], T]) -> Callable[[rules.Behaviour], T]:
    """Compute a value once for all hosts with equal behaviour. Nobody may change the value."""

    @functools.wraps(function)
    def known(behaviour: rules.Behaviour) -> T:
        found: T | None = behaviour.derived.get(function.__name__)
        if found is None:
            found = behaviour.derived[function.__name__] = function(behaviour)
        return found

    return known


def node_facts(node: str, behaviour: rules.Behaviour, booted_at: float) -> model.NodeFacts:
    """Return the model.NodeFacts of a node that behaves so."""
    architecture = behaviour.architecture
    kind = behaviour.hypervisor['type']
    return model.NodeFacts(
        hypervisor_hostname=node,
        hypervisor_type=kind,
        hypervisor_version=behaviour.hypervisor['version'],
        architecture=architecture,
        host_ip=host_ip(node),
        booted_at=booted_at,
        cpu_info=_cpu_info(behaviour),
        supported_instances=((architecture, kind.lower(), VM_MODE),),
        traits=_traits(behaviour),
    )


@_once
def _cpu_info(behaviour: rules.Behaviour) -> model.Json:
    sockets, threads = _sockets_and_threads(behaviour)
    features = (
        sorted(
            name.removeprefix('HW_CPU_X86_').lower()
            for name in behaviour.traits
            if name.startswith('HW_CPU_X86_')
        )
        if behaviour.architecture == 'x86_64'
        else []
    )
    bits = behaviour.address_bits
    addresses = {'maxphysaddr': {'mode': 'emulate', 'bits': bits}} if bits else {}
    return {
        **addresses,
        'arch': behaviour.architecture,
        'model': 'simulated',
        'vendor': 'nova_lite',
        'topology': {
            'cells': behaviour.numa_nodes,
            'sockets': sockets,
            'threads': threads,
            'cores': max(1, behaviour.capacity['vcpus'] // (sockets * threads)),
        },
        'features': features,
    }


def _sockets_and_threads(behaviour: rules.Behaviour) -> tuple[int, int]:
    if behaviour.numa:
        nodes = behaviour.numa.nodes
        return len({node.socket for node in nodes}), len(nodes[0].cores[0])
    vcpus = behaviour.capacity['vcpus']
    return 2 if vcpus % 4 == 0 else 1, 2 if vcpus % 2 == 0 else 1


@_once
def _traits(behaviour: rules.Behaviour) -> tuple[str, ...]:
    """Return the profile's traits, and those that follow from its other settings."""
    found = [
        name
        for name in behaviour.traits
        if behaviour.architecture == 'x86_64' or not name.startswith('HW_CPU_X86_')
    ]
    found.append(f'COMPUTE_ARCH_{behaviour.architecture.upper()}')
    if behaviour.numa and behaviour.numa.has_threads:
        found.append('HW_CPU_HYPERTHREADING')
    if behaviour.pci:
        found.append('COMPUTE_SOCKET_PCI_NUMA_AFFINITY')
    if behaviour.live_migration['auto_converge']:
        found.append('COMPUTE_MIGRATE_AUTO_CONVERGE')
    if behaviour.live_migration['post_copy']:
        found.append('COMPUTE_MIGRATE_POST_COPY')
    return tuple(sorted(set(found)))


@_once
def inventory(behaviour: rules.Behaviour) -> dict[str, model.Inventory]:
    """Return {resource class: model.Inventory} of a node that behaves so."""
    found = {
        name: model.Inventory(
            behaviour.capacity[key],
            behaviour.reserved.get(key),
            behaviour.allocation_ratios.get(key),
        )
        for name, key in (
            (orc.VCPU, 'vcpus'),
            (orc.MEMORY_MB, 'memory_mb'),
            (orc.DISK_GB, 'disk_gb'),
        )
    }
    return {**found, **{name: model.Inventory(n, 0) for name, n in behaviour.inventory.items()}}


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def host_ip(node: str) -> str:
    """Return a private address that follows from the node's name."""
    first, second, third = _digest(node)[:3]
    return f'10.{first}.{second}.{1 + third % 254}'


def volume_connector(node: str, architecture: str) -> model.Json:
    """Return the connector of the node, which volume services need."""
    return {
        'platform': architecture,
        'os_type': 'linux',
        'ip': host_ip(node),
        'host': node,
        'multipath': False,
        'initiator': f'iqn.2004-10.org.nova-lite:{_digest(node).hex()[:12]}',
    }


def check_migration(source: model.NodeFacts, dest: model.NodeFacts) -> tuple[str, str] | None:
    """Return (error class, message) if a guest cannot migrate live between nodes, or None."""
    if source.hypervisor_hostname == dest.hypervisor_hostname:
        return 'UnableToMigrateToSelf', 'Source and destination are the same node.'
    if source.hypervisor_type != dest.hypervisor_type:
        return 'InvalidHypervisorType', 'The hypervisors are of different types.'
    if source.hypervisor_version > dest.hypervisor_version:
        return 'DestinationHypervisorTooOld', (
            f"The hypervisor of {dest.hypervisor_hostname} is older than the source's."
        )
    missing = sorted(set(source.cpu_info['features']) - set(dest.cpu_info['features']))
    if source.architecture != dest.architecture or missing:
        return 'InvalidCPUInfo', (
            f'The CPU of {dest.hypervisor_hostname} lacks: '
            f'{", ".join(missing) or source.architecture}.'
        )
    return None


# ---- a guest --------------------------------------------------------------


def console_output(guest: model.Guest, rescue_image: str | None, now: float) -> list[str]:
    """Return the serial console of a guest as a list of lines."""
    if guest.started_at is None:
        return []
    spec = guest.spec
    image = rescue_image if guest.rescued else spec.image_id
    lines = [
        f'[    0.000000] Simulated guest {spec.name} ({spec.uuid}) on {guest.node}',
        f'[    0.000000] Memory: {spec.memory_mb * 1024}K available',
        f'[    0.004000] smp: Brought up 1 node, {spec.vcpus} CPUs',
        f'[    0.120000] Booting from {"image " + image if image else "volume"}',
    ]
    for device in spec.devices:
        lines.append(f'[    0.200000] {device.kind} {device.id} found')
    if guest.rescued:
        lines.append('[    0.900000] Rescue mode')
    if now - guest.started_at >= 1:
        lines.append(f'{spec.name} login: ')
    return lines


def diagnostics(
    guest: model.Guest, hypervisor_type: str, now: float, used: usage.Usage = usage.DEFAULT
) -> model.Json:
    """Return the guest's counters, in the form the API shows since 2.48.

    That form admits a few drivers only; this one poses as the most common.
    """
    started = now if guest.started_at is None else min(guest.started_at, now)
    spec = guest.spec
    volumes = [device for device in spec.devices if device.kind is model.DeviceKind.VOLUME]
    nics = [device for device in spec.devices if device.kind is model.DeviceKind.INTERFACE]
    disks = [
        *([disk(used, started, now)] if spec.image_id else ()),
        *(disk(used, started, now, since=guest.since(device, now)) for device in volumes),
    ]
    running = guest.power_state is states.PowerState.RUNNING
    share = used.memory.at(started, now) if running else 0
    cpu_time = int(used.cpu.total(started, now) * 1e9)
    cpu_share = int(used.cpu.at(started, now) * 100) if running else 0
    return {
        'state': _STATES.get(guest.power_state, guest.power_state.name.lower()),
        'driver': 'libvirt',
        'hypervisor': hypervisor_type.lower(),
        'hypervisor_os': 'linux',
        'uptime': int(now - started),
        'config_drive': spec.config_drive,
        'num_cpus': spec.vcpus,
        'num_disks': len(disks),
        'num_nics': len(nics),
        'memory_details': {'maximum': spec.memory_mb, 'used': int(spec.memory_mb * share)},
        'cpu_details': [
            {'id': index, 'time': cpu_time, 'utilisation': cpu_share} for index in range(spec.vcpus)
        ],
        'disk_details': disks,
        'nic_details': [
            _nic(device, used, started, now, since=guest.since(device, now)) for device in nics
        ],
    }


def disk(
    used: usage.Usage, started: float, now: float, *, since: float | None = None
) -> model.Json:
    """Return the counters of a disk that has been in its guest since then, or since the boot."""
    read = int(used.read_bytes_s.total(started, now, since=since))
    written = int(used.write_bytes_s.total(started, now, since=since))
    return {
        'read_bytes': read,
        'read_requests': read // REQUEST_BYTES,
        'write_bytes': written,
        'write_requests': written // REQUEST_BYTES,
        'errors_count': 0,
    }


def _nic(
    device: model.Device, used: usage.Usage, started: float, now: float, *, since: float
) -> model.Json:
    received = int(used.rx_bytes_s.total(started, now, since=since))
    sent = int(used.tx_bytes_s.total(started, now, since=since))
    return {
        'mac_address': device.data.get('mac_address'),
        'rx_octets': received,
        'rx_packets': received // PACKET_BYTES,
        'tx_octets': sent,
        'tx_packets': sent // PACKET_BYTES,
        'rx_drop': 0,
        'rx_errors': 0,
        'rx_rate': None,
        'tx_drop': 0,
        'tx_errors': 0,
        'tx_rate': None,
    }


def snapshot_bytes(guest: str, size: int) -> Iterator[bytes]:
    """Yield `size` bytes that stand for a guest's disk, in chunks."""
    pattern = f'nova_lite simulated disk of guest {guest}\n'.encode()
    block = (pattern * (CHUNK // len(pattern) + 1))[:CHUNK]
    while size > 0:
        yield block[:size]
        size -= len(block)
