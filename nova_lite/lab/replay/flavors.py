"""Flavors for the sizes of a trace: one for each size, or the smallest of a list that holds it."""

from collections.abc import Iterable
from collections.abc import Mapping

from nova_lite import exception
from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import lines
from nova_lite.objects import flavor

HEADER = ['name', 'vcpus', 'memory_mb', 'disk_gb']

Flavors = Mapping[trace.Size, flavor.Flavor]


class NoFlavor(exception.Invalid):
    msg = '%(path)s:%(line)s: no flavor of %(flavors)s holds machine %(name)s with %(size)s'


def exact(sizes: Iterable[trace.Size]) -> dict[trace.Size, flavor.Flavor]:
    """Return a separate flavor for each size."""
    return {
        size: _flavor(number, f'{size.vcpus}x{size.memory_mb}x{size.disk_gb}', size)
        for number, size in enumerate(sizes, start=1)
    }


def of_list(found: trace.Trace, path: str) -> dict[trace.Size, flavor.Flavor]:
    """Return the smallest flavor of a file for each size. Raise NoFlavor, TraceError."""
    listed = sorted(_read(path), key=lambda each: (each.vcpus, each.memory_mb, each.root_gb))
    chosen: dict[trace.Size, flavor.Flavor] = {}
    for size, machine in found.sizes().items():
        fitting = next((each for each in listed if _holds(each, size)), None)
        if fitting is None:
            raise NoFlavor(
                path=found.path, line=machine.line, flavors=path, name=machine.name, size=size
            )
        chosen[size] = fitting
    return chosen


def _read(path: str) -> list[flavor.Flavor]:
    rows = lines.read(path, len(HEADER))
    header = next(rows, None)
    if header is None or header.values != HEADER:
        number = 1 if header is None else header.number
        reason = f'the first line must be {",".join(HEADER)}'
        raise trace.TraceError(path=path, line=number, reason=reason)
    found: list[flavor.Flavor] = []
    for line in rows:
        numbers = [line.whole(index, name) for index, name in enumerate(HEADER) if index]
        if min(numbers[:2]) < 1 or numbers[2] < 0 or not line.values[0]:
            raise line.error('it is no flavor: it needs a name, vCPUs and memory')
        found.append(_flavor(len(found) + 1, line.values[0], trace.Size(*numbers)))
    return found


def size_of(made: flavor.Flavor) -> trace.Size:
    """Return the size of a flavor."""
    return trace.Size(made.vcpus, made.memory_mb, made.root_gb)


def _holds(made: flavor.Flavor, size: trace.Size) -> bool:
    return (
        made.vcpus >= size.vcpus
        and made.memory_mb >= size.memory_mb
        and made.root_gb >= size.disk_gb
    )


def _flavor(number: int, name: str, size: trace.Size) -> flavor.Flavor:
    return flavor.Flavor(
        id=number,
        flavorid=name,
        name=name,
        vcpus=size.vcpus,
        memory_mb=size.memory_mb,
        root_gb=size.disk_gb,
        ephemeral_gb=0,
        swap=0,
        rxtx_factor=1.0,
        disabled=False,
        is_public=True,
        description=None,
        extra_specs={},
    )
