"""Parts of hosts that a server asks for, in the form of request specs in notifications."""

import typing

from nova_lite import exception
from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import memory
from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import port_requests
from nova_lite.notify import spec_payloads as payloads

# Sizes of pages that are no number of KiB.
PAGES = {memory.SMALL: -1, memory.LARGE: -2, memory.ANY: -3}


class Record(typing.Protocol):
    """Record of a server."""

    uuid: str
    flavor: asked.Values
    new_flavor: asked.Values | None
    image_properties: asked.Values | None
    network_info: typing.Sequence[asked.Values]


def of_record(row: Record) -> payloads.Parts:
    """Return the NUMA nodes and the PCI devices that a recorded server asks for.

    Requests of ports are not part of a server whose ports were not created.
    """
    flavor = row.new_flavor or row.flavor
    devices = [each for each in flavor.get('devices') or () if not pci.is_virtual(each)]
    wanted = asked.Asked.of(
        {**flavor, 'devices': devices}, row.image_properties or {}, ports=row.network_info or ()
    )
    try:
        guest = constraints.of(wanted)
    except exception.Invalid:
        guest = constraints.NONE
    return of(row.uuid, guest)


def of(uuid: str, guest: constraints.Constraints) -> payloads.Parts:
    """Return the NUMA nodes and the PCI devices that a guest with these constraints asks for."""
    devices = [_request(each) for each in guest.requested]
    return payloads.Parts(
        numa_topology=_topology(uuid, guest) if guest.nodes else None,
        pci_requests=payloads.InstancePCIRequestsPayload(instance_uuid=uuid, requests=devices)
        if devices
        else None,
    )


def _topology(uuid: str, guest: constraints.Constraints) -> payloads.InstanceNUMATopologyPayload:
    pages = guest.page_size
    return payloads.InstanceNUMATopologyPayload(
        instance_uuid=uuid,
        emulator_threads_policy=guest.emulator_threads_policy,
        cells=[
            payloads.InstanceNUMACellPayload(
                id=number,
                cpuset=set(node.cpus) - guest.dedicated,
                pcpuset=set(node.cpus) & guest.dedicated,
                cpuset_reserved=None,
                memory=node.memory_mb,
                pagesize=PAGES[pages] if isinstance(pages, str) else pages,
                cpu_topology=None,
                cpu_pinning_raw=None,
                cpu_policy=guest.cpu_policy,
                cpu_thread_policy=guest.cpu_thread_policy,
            )
            for number, node in enumerate(guest.nodes)
        ],
    )


def _request(request: pci.Request) -> payloads.InstancePCIRequestPayload:
    port = request if isinstance(request, port_requests.PortRequest) else None
    return payloads.InstancePCIRequestPayload(
        count=request.count,
        spec=[_of_port(port)] if port else [_spec(each) for each in request.specs],
        alias_name=None if port else request.name,
        request_id=None,
        numa_policy=request.policy,
    )


def _spec(spec: pci.Spec) -> dict[str, str | None]:
    values = {
        'vendor_id': spec.vendor_id,
        'product_id': spec.product_id,
        'dev_type': spec.kind,
        'resource_class': spec.resource_class,
        'traits': ','.join(spec.traits) or None,
        'live_migratable': None if spec.live_migratable is None else _truth(spec.live_migratable),
    }
    return {name: value for name, value in values.items() if value is not None}


def _of_port(port: port_requests.PortRequest) -> dict[str, str | None]:
    found = {'physical_network': port.physical_network}
    if port.kind:
        found['dev_type'] = port.kind
    for name in ('trusted', 'remote_managed'):
        if getattr(port, name):
            found[name] = _truth(True)
    return found


def _truth(value: bool) -> str:
    return str(value).lower()
