"""Allocation candidates of providers that are no trees, and share nothing."""

import collections

from tests.sim.world.placement import tables

NESTED = """
    SELECT EXISTS (SELECT 1 FROM resource_providers WHERE parent_provider_id IS NOT NULL)
        OR EXISTS (SELECT 1 FROM resource_provider_traits m JOIN traits t ON t.id = m.trait_id
            WHERE t.name = 'MISC_SHARES_VIA_AGGREGATE')
"""
PROVIDERS = 'SELECT id, uuid FROM resource_providers ORDER BY id'
INVENTORIES = """
    SELECT i.resource_provider_id, i.resource_class_id, (i.total - i.reserved) * i.allocation_ratio,
        i.min_unit, i.max_unit, i.step_size, COALESCE(SUM(a.used), 0)
    FROM inventories i LEFT JOIN allocations a
        ON a.resource_provider_id = i.resource_provider_id
        AND a.resource_class_id = i.resource_class_id
    GROUP BY i.id
"""
TRAITS = 'SELECT resource_provider_id, trait_id FROM resource_provider_traits'
AGGREGATES = """
    SELECT m.resource_provider_id, g.uuid FROM resource_provider_aggregates m
    JOIN placement_aggregates g ON g.id = m.aggregate_id
"""
ONCE = ('resources', 'required', 'root_required', 'in_tree', 'limit')
MEMBER_OF = 'member_of'


class Query:
    """The conditions of a query string. Raises LeftToReal for those of real placement alone."""

    def __init__(self, found, pairs):
        given = dict(pairs)
        repeated = len(given) != len([name for name, _ in pairs if name != MEMBER_OF]) + (
            MEMBER_OF in given
        )
        if repeated or not {*ONCE, MEMBER_OF}.issuperset(given) or 'resources' not in given:
            raise tables.LeftToReal
        self.amounts = {}
        for part in given['resources'].split(','):
            name, _, amount = part.partition(':')
            if not amount.isdecimal() or amount.startswith('0') or name in self.amounts:
                raise tables.LeftToReal
            self.amounts[name] = found.names.class_of(name), int(amount)
        self.required, self.forbidden = set(), set()
        for name in ('required', 'root_required'):
            for trait in given.get(name, '').split(',') if name in given else ():
                kind = self.forbidden if trait.startswith('!') else self.required
                kind.add(found.names.trait_of(trait.removeprefix('!')))
        self.member_of = [_aggregates(value) for name, value in pairs if name == MEMBER_OF]
        self.in_tree = given.get('in_tree')
        limit = given.get('limit', '')
        if 'limit' in given and not (limit.isdecimal() and int(limit)):
            raise tables.LeftToReal
        self.limit = int(limit) if limit else None

    def suits(self, uuid, traits, aggregates):
        """Return whether a provider meets the conditions."""
        return (
            self.in_tree in (None, uuid)
            and self.required <= traits
            and not self.forbidden & traits
            and all(bool(any_of & aggregates) is wanted for wanted, any_of in self.member_of)
        )

    def fits(self, inventories):
        """Return whether a provider has what is wanted."""
        return all(
            kind in inventories and _has(inventories[kind], amount)
            for kind, amount in self.amounts.values()
        )


def _aggregates(value):
    """Return whether a provider is to be in one of some aggregates, and these."""
    wanted = not value.startswith('!')
    return wanted, {*value.removeprefix('!').removeprefix('in:').split(',')}


def _has(inventory, amount):
    capacity, least, most, step, used = inventory
    return used + amount <= capacity and least <= amount <= most and not amount % step


def offer(found, request):
    """Return the candidates for a query, and all inventories of their providers."""
    query = Query(found, request.query)
    if found.rows(NESTED)[0][0]:
        raise tables.LeftToReal
    providers = found.rows(PROVIDERS)
    if query.in_tree is not None and query.in_tree not in {uuid for _, uuid in providers}:
        raise tables.LeftToReal
    inventories, traits = collections.defaultdict(dict), collections.defaultdict(set)
    aggregates = collections.defaultdict(set)
    for provider, kind, *values in found.rows(INVENTORIES):
        inventories[provider][kind] = values
    for provider, trait in found.rows(TRAITS):
        traits[provider].add(trait)
    for provider, aggregate in found.rows(AGGREGATES):
        aggregates[provider].add(aggregate)
    suitable = [
        (number, uuid)
        for number, uuid in providers
        if query.suits(uuid, traits[number], aggregates[number]) and query.fits(inventories[number])
    ]
    if query.limit is not None and len(suitable) > query.limit:
        # Which of them come first is up to the real placement.
        raise tables.LeftToReal
    amounts = {name: amount for name, (_, amount) in query.amounts.items()}
    return {
        'allocation_requests': [
            {'allocations': {uuid: {'resources': amounts}}, 'mappings': {'': [uuid]}}
            for _, uuid in suitable
        ],
        'provider_summaries': {
            uuid: {
                'resources': {
                    found.names.of_class(kind): {'capacity': int(values[0]), 'used': values[-1]}
                    for kind, values in inventories[number].items()
                },
                'traits': [found.names.of_trait(trait) for trait in sorted(traits[number])],
                'parent_provider_uuid': None,
                'root_provider_uuid': uuid,
            }
            for number, uuid in suitable
        },
    }
