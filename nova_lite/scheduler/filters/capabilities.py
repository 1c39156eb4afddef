"""Filters that compare a host's facts with flavor and image."""

import collections.abc
import json
import typing

from nova_lite.lifecycle.guests import former_names
from nova_lite.scheduler import hosts
from nova_lite.scheduler import operators
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base

CAPABILITIES = 'capabilities'
AGGREGATE = 'aggregate_instance_extra_specs'


ADDRESS_BITS = 'hw:maxphysaddr_bits'


class ComputeCapabilitiesFilter(base.Filter):
    """Extra specs `capabilities:path:to:fact`, or a fact's bare name, match the host.

    A bare name that is no fact of the host is meant for another filter, and passes. The host
    reports at least `hw:maxphysaddr_bits` address bits.
    """

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        wanted = []
        for key, requirement in request.extra_specs.items():
            scope, *path = key.split(':')
            if not path:
                wanted.append((key, [scope], True, requirement or ''))
            elif scope == CAPABILITIES:
                wanted.append((key, path, False, requirement or ''))

        bits = request.extra_specs.get(ADDRESS_BITS)

        def refuse(host: hosts.HostState) -> str | None:
            if bits is not None and not _has_bits(host, bits, default=False):
                return f'does not report {bits} address bits'
            for key, path, bare, requirement in wanted:
                found = _fact(host, path)
                if found is None:
                    if bare and not _knows(host, path[0]):
                        continue
                    return f'does not report {key}'
                if not operators.matches(found, requirement):
                    return f'{key} is {found}, not {requirement}'
            return None

        return refuse if wanted or bits is not None else None


def _knows(host: hosts.HostState, name: str) -> bool:
    return name in hosts.FACTS or name in host.stats


def _fact(host: hosts.HostState, path: list[str]) -> typing.Any:
    """Return a host's value at a path such as (cpu_info, topology, cores), or None."""
    name, *inner = path
    found = getattr(host, name) if name in hosts.FACTS else None
    if found is None:
        found = host.stats.get(name)
    for name in inner:
        found = _decoded(found)
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def _decoded(value: typing.Any) -> typing.Any:
    """Decode a fact that is JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


class ImagePropertiesFilter(base.Filter):
    """The host can run guests of the image's architecture, hypervisor and mode.

    An image without hw_architecture has [filter_scheduler]image_properties_default_architecture.
    """

    once = True
    on_rebuild = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        properties = former_names.replaced(request.image_properties)
        wanted = [
            properties.get(former_names.ARCHITECTURE)
            or self.options.image_properties_default_architecture,
            properties.get(former_names.HYPERVISOR),
            properties.get(former_names.MODE),
        ]
        version = properties.get(former_names.VERSION)
        bits = properties.get('hw_maxphysaddr_bits')
        if not any(wanted) and version is None and bits is None:
            return None

        def refuse(host: hosts.HostState) -> str | None:
            if not any(_supports(found, wanted) for found in host.supported_instances):
                kind = ', '.join(value for value in wanted if value)
                return f'does not support guests of {kind or "any kind"}'
            if version is not None and not _satisfies(host.hypervisor_version, version):
                return f'hypervisor version {host.hypervisor_version} is not {version}'
            if bits is not None and not _has_bits(host, bits, default=True):
                return f'has fewer than {bits} address bits'
            return None

        return refuse


def _supports(
    found: collections.abc.Iterable[str | None], wanted: collections.abc.Iterable[str | None]
) -> bool:
    return all(
        value is None or value.lower() == str(has).lower()
        for value, has in zip(wanted, found, strict=False)
    )


def _has_bits(host: hosts.HostState, wanted: object, *, default: bool) -> bool:
    """Return whether a host has a number of address bits; `default` if it does not report any."""
    has = _number(_fact(host, ['cpu_info', 'maxphysaddr', 'bits']))
    bits = _number(wanted)
    return default if has is None else bits is not None and bits <= has


def _number(value: object) -> int | None:
    text = str(value) if value is not None else ''
    return int(text) if text.isdecimal() else None


Version: typing.TypeAlias = tuple[int, ...]
COMPARISONS: dict[str, collections.abc.Callable[[Version, Version], bool]] = {
    '==': lambda has, wanted: has == wanted,
    '!=': lambda has, wanted: has != wanted,
    '>=': lambda has, wanted: has >= wanted,
    '<=': lambda has, wanted: has <= wanted,
    '>': lambda has, wanted: has > wanted,
    '<': lambda has, wanted: has < wanted,
}


def _satisfies(version: int, predicate: str) -> bool:
    """Return whether a version such as 8002002 fulfils all of '>=6.0, <9.0'."""
    has = _version(version)
    for part in predicate.split(','):
        sign = next((sign for sign in COMPARISONS if part.strip().startswith(sign)), None)
        wanted = _version(part.strip().removeprefix(sign or ''))
        if has is None or wanted is None or not COMPARISONS[sign or '=='](has, wanted):
            return False
    return True


def _version(value: object) -> Version | None:
    """Return (major, minor, micro) of the text '8.2.2' or of the number 8002002."""
    parts = str(value).strip().split('.')
    if not all(part.isdecimal() for part in parts):
        return None
    if isinstance(value, int) and value >= 1000:
        return value // 1_000_000, value // 1000 % 1000, value % 1000
    numbers = [int(part) for part in parts[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


class AggregateInstanceExtraSpecsFilter(base.Filter):
    """Each extra spec, bare or with the filter's scope, matches the metadata of an aggregate."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        wanted = []
        for key, requirement in request.extra_specs.items():
            scope, separator, name = key.partition(':')
            if not separator:
                wanted.append((key, requirement or ''))
            elif scope == AGGREGATE:
                wanted.append((name, requirement or ''))

        def refuse(host: hosts.HostState) -> str | None:
            for key, requirement in wanted:
                values = base.aggregate_values(host, key)
                if not any(operators.matches(value, requirement) for value in values):
                    return f'no aggregate has {key} {requirement}'
            return None

        return refuse if wanted else None
