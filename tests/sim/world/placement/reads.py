"""Answers of the double to requests that only read, as real placement shows them."""

from tests.sim.world.placement import tables

HELD = """
    SELECT rp.uuid, rp.generation, a.resource_class_id, a.used, c.generation, p.external_id,
        u.external_id
    FROM allocations a JOIN resource_providers rp ON rp.id = a.resource_provider_id
    JOIN consumers c ON c.uuid = a.consumer_id JOIN projects p ON p.id = c.project_id
    JOIN users u ON u.id = c.user_id WHERE a.consumer_id = ? ORDER BY a.id
"""
OF_PROJECT = """
    SELECT a.resource_class_id, SUM(a.used) FROM allocations a
    JOIN consumers c ON c.uuid = a.consumer_id JOIN projects p ON p.id = c.project_id
    WHERE p.external_id = ? GROUP BY a.resource_class_id
"""
FIELDS = ('total', 'reserved', 'min_unit', 'max_unit', 'step_size', 'allocation_ratio')
INVENTORIES = f"""
    SELECT resource_class_id, {', '.join(FIELDS)} FROM inventories WHERE resource_provider_id = ?
"""
TRAITS = 'SELECT trait_id FROM resource_provider_traits WHERE resource_provider_id = ?'
AGGREGATES = """
    SELECT g.uuid FROM resource_provider_aggregates m
    JOIN placement_aggregates g ON g.id = m.aggregate_id WHERE m.resource_provider_id = ?
"""
USAGES = """
    SELECT i.resource_class_id, COALESCE(SUM(a.used), 0) FROM inventories i
    LEFT JOIN allocations a ON a.resource_provider_id = i.resource_provider_id
        AND a.resource_class_id = i.resource_class_id
    WHERE i.resource_provider_id = ? GROUP BY i.resource_class_id
"""
ALLOCATIONS = """
    SELECT c.uuid, c.generation, a.resource_class_id, a.used FROM allocations a
    JOIN consumers c ON c.uuid = a.consumer_id WHERE a.resource_provider_id = ? ORDER BY a.id
"""
IN_TREE = """
    WHERE p.root_provider_id = (SELECT root_provider_id FROM resource_providers WHERE uuid = ?)
"""
FILTERS = {
    'in_tree': IN_TREE,
    'name': 'WHERE p.name = ?',
    'uuid': 'WHERE p.uuid = ?',
}
PARTS = ('inventories', 'usages', 'aggregates', 'traits', 'allocations')
GENERATION = 'resource_provider_generation'


def holding(found, request):
    """Return the allocations of a consumer."""
    held, owner = {}, {}
    for uuid, generation, number, used, of_consumer, project, user in found.rows(
        HELD, request.parts[1]
    ):
        part = held.setdefault(uuid, {'resources': {}, 'generation': generation})
        part['resources'][found.names.of_class(number)] = used
        owner = {
            'project_id': project,
            'user_id': user,
            'consumer_generation': of_consumer,
        }
    return {'allocations': held, **owner}


def project_usages(found, request):
    """Return the usages of a project."""
    if [name for name, _ in request.query] != ['project_id']:
        raise tables.LeftToReal
    rows = found.rows(OF_PROJECT, request.query[0][1])
    return {'usages': {found.names.of_class(number): used for number, used in rows}}


def providers(found, request):
    """Return all providers, or those that one filter matches."""
    where, given = '', ()
    if request.query:
        (name, value), *others = request.query
        # A uuid that is none is refused.
        if others or name not in FILTERS or not value:
            raise tables.LeftToReal
        where, given = FILTERS[name], (value,)
    rows = found.rows(f'{tables.PROVIDERS} {where}', *given)
    if not rows and given:
        raise tables.LeftToReal
    return {'resource_providers': [_shown(request.script, row) for row in rows]}


def provider(found, request):
    """Return one provider."""
    for row in found.rows(f'{tables.PROVIDERS} WHERE p.uuid = ?', request.parts[1]):
        return _shown(request.script, row)
    raise tables.LeftToReal


def _shown(script, row):
    _, uuid, name, generation, parent, root = row
    url = f'{script}/resource_providers/{uuid}'
    links = [('self', url), *((part, f'{url}/{part}') for part in PARTS)]
    return {
        'uuid': uuid,
        'name': name,
        'generation': generation,
        'links': [{'rel': rel, 'href': href} for rel, href in links],
        'parent_provider_uuid': parent,
        'root_provider_uuid': root,
    }


def inventories(found, request):
    """Return the inventories of a provider."""
    number, generation = found.provider(request.parts[1])
    shown = {
        found.names.of_class(kind): dict(zip(FIELDS, values, strict=True))
        for kind, *values in found.rows(INVENTORIES, number)
    }
    return {GENERATION: generation, 'inventories': shown}


def traits(found, request):
    """Return the traits of a provider."""
    number, generation = found.provider(request.parts[1])
    shown = [found.names.of_trait(trait) for (trait,) in found.rows(TRAITS, number)]
    return {'traits': shown, GENERATION: generation}


def aggregates(found, request):
    """Return the aggregates of a provider."""
    number, generation = found.provider(request.parts[1])
    shown = [uuid for (uuid,) in found.rows(AGGREGATES, number)]
    return {'aggregates': shown, GENERATION: generation}


def usages(found, request):
    """Return the usages of a provider."""
    number, generation = found.provider(request.parts[1])
    shown = {found.names.of_class(kind): used for kind, used in found.rows(USAGES, number)}
    return {GENERATION: generation, 'usages': shown}


def allocations(found, request):
    """Return the allocations on a provider, by consumer."""
    number, generation = found.provider(request.parts[1])
    shown = {}
    for consumer, of_consumer, kind, used in found.rows(ALLOCATIONS, number):
        part = shown.setdefault(consumer, {'resources': {}, 'consumer_generation': of_consumer})
        part['resources'][found.names.of_class(kind)] = used
    return {'allocations': shown, GENERATION: generation}
