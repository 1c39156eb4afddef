"""NUMA nodes of a guest."""

import re

from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import images
from nova_lite.lifecycle.guests import memory
from nova_lite.lifecycle.guests import refusals
from nova_lite.objects import guest_numa
from nova_lite.objects import masks


def count(guest: asked.Asked) -> int | None:
    """Return the number of nodes that flavor or image asks for, or None."""
    flavor, image = guest.spec('numa_nodes') or None, guest.prop('numa_nodes')
    if flavor is not None and image is not None and images.number(image):
        raise refusals.ImageNUMATopologyForbidden(name='hw_numa_nodes')
    if flavor is not None:
        number = int(flavor) if re.fullmatch('[0-9]+', flavor) else 0
    elif image is not None:
        number = images.number(image)
    else:
        return None
    if number < 1:
        raise refusals.InvalidNUMANodesNumber(nodes=flavor or image)
    return number


def of(guest: asked.Asked, number: int) -> tuple[guest_numa.Node, ...]:
    """Return the nodes of a guest that has `number` of them."""
    cpus = [masks.cpus(text) for text in images.indexed(guest.specs, 'hw:numa_cpus')]
    sizes = memory.node_sizes(guest)
    image_cpus, image_sizes = (
        images.node_cpus(guest.properties),
        images.node_memory(guest.properties),
    )
    for name, flavor, image in (
        ('hw_numa_cpus', cpus, image_cpus),
        ('hw_numa_mem', sizes, image_sizes),
    ):
        if flavor and image:
            raise refusals.ImageNUMATopologyForbidden(name=name)
    cpus, sizes = cpus or image_cpus, sizes or image_sizes
    if not cpus and not sizes:
        return _alike(guest, number)
    if len(cpus) != number or len(sizes) != number:
        raise refusals.ImageNUMATopologyIncomplete()
    _check_cpus(guest.vcpus, cpus)
    if sum(sizes) != guest.memory_mb:
        raise refusals.ImageNUMATopologyMemoryOutOfRange(
            assigned=sum(sizes), expected=guest.memory_mb
        )
    return tuple(
        guest_numa.Node(tuple(sorted(each)), size) for each, size in zip(cpus, sizes, strict=True)
    )


def _alike(guest: asked.Asked, number: int) -> tuple[guest_numa.Node, ...]:
    if guest.vcpus % number or guest.memory_mb % number:
        raise refusals.ImageNUMATopologyAsymmetric()
    share = guest.vcpus // number
    return tuple(
        guest_numa.Node(tuple(range(first, first + share)), guest.memory_mb // number)
        for first in range(0, guest.vcpus, share)
    )


def _check_cpus(vcpus: int, cpus: list[frozenset[int]]) -> None:
    left = set(range(vcpus))
    for each in cpus:
        for cpu in sorted(each):
            if cpu >= vcpus:
                raise refusals.ImageNUMATopologyCPUOutOfRange(number=cpu, maximum=vcpus - 1)
            if cpu not in left:
                raise refusals.ImageNUMATopologyCPUDuplicates(number=cpu)
            left.remove(cpu)
    if left:
        raise refusals.ImageNUMATopologyCPUsUnassigned(cpus=left)
