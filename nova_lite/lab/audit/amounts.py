"""Amounts that a server should hold in placement, from its flavor as nova stores it."""

from collections.abc import Mapping
import json
import math
import re
import typing

Json: typing.TypeAlias = Mapping[str, typing.Any]
# Extra specs that set or add amounts. Those of numbered groups add to them.
RESOURCE = re.compile(r'resources(?P<group>[\w-]*):(?P<name>[A-Z0-9_]+)')
# Extra specs with which nova asks for a CPU more than the flavor has.
ISOLATED = ('hw:emulator_threads_policy', 'isolate')
COMPARED = {'VCPU': 'VCPU', 'PCPU': 'VCPU', 'MEMORY_MB': 'MEMORY_MB', 'DISK_GB': 'DISK_GB'}
MIB_IN_GIB = 1024


def of_flavor(stored: str, *, from_volume: bool) -> dict[str, int] | None:
    """Return the amounts of CPUs (as VCPU), memory and disk; None if the flavor is unreadable.

    stored: the column instance_extra.flavor, JSON of the server's current flavor and, during a
        resize, of others; from_volume: whether the server boots from a volume
    """
    try:
        flavor = json.loads(stored)['cur']['nova_object.data']
        specs: Json = flavor.get('extra_specs') or {}
        root_gb = 0 if from_volume else flavor['root_gb']
        disk_gb = root_gb + flavor['ephemeral_gb'] + math.ceil(flavor['swap'] / MIB_IN_GIB)
        plain = {'VCPU': flavor['vcpus'], 'MEMORY_MB': flavor['memory_mb'], 'DISK_GB': disk_gb}
        return _with_specs(plain, specs)
    except (ValueError, KeyError, TypeError):
        return None


def _with_specs(plain: dict[str, int], specs: Json) -> dict[str, int]:
    """Return the amounts with those that extra specs replace or add."""
    replaced: dict[str, int] = {}
    added: dict[str, int] = {}
    for key, value in specs.items():
        found = RESOURCE.fullmatch(key)
        name = COMPARED.get(found['name']) if found else None
        if found and name:
            into = added if found['group'] else replaced
            into[name] = into.get(name, 0) + int(value)
    wanted = {**plain, **replaced}
    for name, amount in added.items():
        wanted[name] = wanted.get(name, 0) + amount
    if specs.get(ISOLATED[0]) == ISOLATED[1]:
        wanted['VCPU'] += 1
    return {name: amount for name, amount in wanted.items() if amount}
