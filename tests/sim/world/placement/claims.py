"""Changes of allocations that succeed, with the transactions that real placement makes of them.

A new consumer is one transaction, and its allocations are another: a placement that is killed
between them leaves a consumer without allocations, as the real one does.
"""

import collections
import typing

from tests.sim.world.placement import tables

CONSUMER = """
    SELECT c.id, c.generation, p.external_id, u.external_id FROM consumers c
    JOIN projects p ON p.id = c.project_id JOIN users u ON u.id = c.user_id WHERE c.uuid = ?
"""
HELD = 'SELECT resource_provider_id, resource_class_id, used FROM allocations WHERE consumer_id = ?'
INVENTORIES = """
    SELECT resource_provider_id, resource_class_id, total, reserved, allocation_ratio, min_unit,
        max_unit, step_size
    FROM inventories WHERE resource_provider_id IN
"""
USED = """
    SELECT resource_provider_id, resource_class_id, SUM(used) FROM allocations
    WHERE resource_provider_id IN (%s) GROUP BY resource_provider_id, resource_class_id
"""
FIELDS = {'allocations', 'consumer_generation', 'project_id', 'user_id', 'mappings'}
OWNERS = {'projects': 'project_id', 'users': 'user_id'}
NEW_CONSUMER = """
    INSERT INTO consumers (created_at, uuid, project_id, user_id, generation)
    VALUES (?, ?, (SELECT id FROM projects WHERE external_id = ?),
        (SELECT id FROM users WHERE external_id = ?), 0)
"""
NEW_ALLOCATION = """
    INSERT INTO allocations (created_at, resource_provider_id, consumer_id, resource_class_id, used)
    VALUES (?, ?, ?, ?, ?)
"""
RAISE_PROVIDER = """
    UPDATE resource_providers SET generation = generation + 1, updated_at = ? WHERE id = ?
"""
RAISE_CONSUMER = 'UPDATE consumers SET generation = generation + 1, updated_at = ? WHERE uuid = ?'


class Part(typing.NamedTuple):
    """An allocation that a consumer is to have; one of 0 is given up."""

    consumer: str
    provider: int
    kind: int
    used: int


def replace(found, request):
    """Replace the allocations of one consumer."""
    return _write(found, {request.parts[1]: request.read()})


def replace_all(found, request):
    """Replace the allocations of several consumers."""
    return _write(found, request.read())


def delete(found, request):
    """Delete all allocations of a consumer, and the consumer."""
    consumer = request.parts[1]
    if not found.rows(HELD, consumer):
        raise tables.LeftToReal
    with found.writing():
        found.execute('DELETE FROM allocations WHERE consumer_id = ?', consumer)
        found.execute('DELETE FROM consumers WHERE uuid = ?', consumer)


def _write(found, entries):
    if not entries or not all(_is_plain(entry) for entry in entries.values()):
        raise tables.LeftToReal
    held = {uuid: found.rows(HELD, uuid) for uuid in entries}
    new = [uuid for uuid, entry in entries.items() if _is_new(found, uuid, entry, held[uuid])]
    parts = [
        part for uuid, entry in entries.items() for part in _parts(found, uuid, entry, held[uuid])
    ]
    _check(found, parts, [row for rows in held.values() for row in rows])
    for uuid in new:
        _create(found, uuid, entries[uuid])
    with found.writing():
        _store(found, parts)


def _is_plain(entry):
    """Return whether an entry has what the compute service writes."""
    if type(entry) is not dict or not FIELDS.issuperset(entry):
        return False
    if len(entry) < len(FIELDS) - 1 or not (entry['project_id'] and entry['user_id']):
        return False
    amounts = [
        amount
        for part in entry['allocations'].values()
        for amount in (*part['resources'].values(), *([] if part['resources'] else [0]))
    ]
    return all(type(amount) is int and amount > 0 for amount in amounts)


def _is_new(found, uuid, entry, held):
    """Return whether a consumer does not exist. Raise LeftToReal if it is not as expected."""
    for _, generation, *owner in found.rows(CONSUMER, uuid):
        if entry['consumer_generation'] != generation:
            raise tables.LeftToReal
        if owner != [entry['project_id'], entry['user_id']] or not (entry['allocations'] or held):
            raise tables.LeftToReal
        return False
    if entry['consumer_generation'] is not None or not entry['allocations']:
        raise tables.LeftToReal
    return True


def _parts(found, uuid, entry, held):
    if not entry['allocations']:
        return [Part(uuid, provider, kind, 0) for provider, kind, _ in held]
    return [
        Part(uuid, provider, found.names.class_of(name), amount)
        for provider, resources in [
            (found.provider(provider)[0], part['resources'])
            for provider, part in entry['allocations'].items()
        ]
        for name, amount in resources.items()
    ]


def _check(found, parts, held):
    """Raise LeftToReal if something does not fit. held: what the consumers give up"""
    providers, kinds = sorted({part.provider for part in parts}), {part.kind for part in parts}
    marks = tables.marks(providers)
    inventories = {
        (provider, kind): values
        for provider, kind, *values in found.rows(f'{INVENTORIES} ({marks})', *providers)
        if kind in kinds
    }
    before = {
        (provider, kind): used for provider, kind, used in found.rows(USED % marks, *providers)
    }
    if not {provider for provider, _ in inventories}.issuperset(providers):
        raise tables.LeftToReal
    used, wanted = collections.Counter(before), collections.Counter()
    for provider, kind, amount in held:
        used[provider, kind] -= amount
    for part in parts:
        key = part.provider, part.kind
        wanted[key] += part.used
        if part.used and not (
            key in inventories
            and _fits(inventories[key], part.used, used[key] + wanted[key], before.get(key))
        ):
            raise tables.LeftToReal


def _fits(inventory, amount, after, before):
    """Return whether an amount may be taken. A use that becomes no larger may be too large."""
    total, reserved, ratio, least, most, step = inventory
    if amount < least or amount > most or amount % step:
        return False
    return after <= (total - reserved) * ratio or (before is not None and after <= before)


def _create(found, uuid, entry):
    for table, field in OWNERS.items():
        if not found.rows(f'SELECT 1 FROM {table} WHERE external_id = ?', entry[field]):
            with found.writing():
                statement = f'INSERT INTO {table} (created_at, external_id) VALUES (?, ?)'
                found.execute(statement, tables.now(), entry[field])
    with found.writing():
        found.execute(NEW_CONSUMER, tables.now(), uuid, entry['project_id'], entry['user_id'])


def _store(found, parts):
    for consumer in dict.fromkeys(part.consumer for part in parts):
        found.execute('DELETE FROM allocations WHERE consumer_id = ?', consumer)
    now = tables.now()
    for consumer, provider, kind, used in parts:
        if used:
            found.execute(NEW_ALLOCATION, now, provider, consumer, kind, used)
    for provider in dict.fromkeys(part.provider for part in parts):
        found.execute(RAISE_PROVIDER, now, provider)
    kept = {part.consumer for part in parts if part.used}
    for consumer in dict.fromkeys(part.consumer for part in parts):
        if consumer in kept:
            found.execute(RAISE_CONSUMER, now, consumer)
        else:
            found.execute('DELETE FROM consumers WHERE uuid = ?', consumer)
