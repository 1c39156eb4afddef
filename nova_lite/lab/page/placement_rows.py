"""Allocations of each provider, read from placement's database in two statements.

Asked by REST, placement answers for one provider at a time.
"""

import typing

import sqlalchemy as sa

# Of the classes that each host has: their ids, which are part of placement's interface.
CLASSES = {0: 'VCPU', 1: 'MEMORY_MB', 2: 'DISK_GB'}
# {class: (allocated, most that may be)}
Load: typing.TypeAlias = dict[str, tuple[int, int]]

_PROVIDERS = sa.table('resource_providers', sa.column('id'), sa.column('name'))
_INVENTORIES = sa.table(
    'inventories',
    *map(
        sa.column,
        ('resource_provider_id', 'resource_class_id', 'total', 'reserved', 'allocation_ratio'),
    ),
)
_ALLOCATIONS = sa.table(
    'allocations', *map(sa.column, ('resource_provider_id', 'resource_class_id', 'used'))
)
_CAPACITIES = (
    sa.select(
        _PROVIDERS.c.id,
        _PROVIDERS.c.name,
        _INVENTORIES.c.resource_class_id,
        (_INVENTORIES.c.total - _INVENTORIES.c.reserved) * _INVENTORIES.c.allocation_ratio,
    )
    .join_from(_PROVIDERS, _INVENTORIES, _INVENTORIES.c.resource_provider_id == _PROVIDERS.c.id)
    .where(_INVENTORIES.c.resource_class_id.in_(CLASSES))
)
_USED = (
    sa.select(
        _ALLOCATIONS.c.resource_provider_id,
        _ALLOCATIONS.c.resource_class_id,
        sa.func.sum(_ALLOCATIONS.c.used),
    )
    .where(_ALLOCATIONS.c.resource_class_id.in_(CLASSES))
    .group_by(_ALLOCATIONS.c.resource_provider_id, _ALLOCATIONS.c.resource_class_id)
)


def loads(connection: sa.Connection) -> dict[str, Load]:
    """Return {name of a provider: Load}. memory in MiB, disk in GiB"""
    used = {(provider, number): int(sum_) for provider, number, sum_ in connection.execute(_USED)}
    found: dict[str, Load] = {}
    for provider, name, number, most in connection.execute(_CAPACITIES):
        load = found.setdefault(name, {})
        load[CLASSES[number]] = used.get((provider, number), 0), int(most)
    return found
