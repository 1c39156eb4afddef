"""An aggregate that is isolated for a trait, and the flavor that may enter it."""

TRAIT = 'CUSTOM_LICENSED'
FLAVOR = 'licensed'
HOST = 'cell1-host1'
# Seconds in which the scheduler may go by what it has read before.
REUSE_S = 10


def prepare(caller):
    """Make them, as an operator. All hosts have the trait: only the aggregate differs."""
    code, found = caller.placement('GET', '/resource_providers')
    _require(code, 200)
    code, _found = caller.placement('PUT', f'/traits/{TRAIT}')
    _require(code, 201)
    for provider in found['resource_providers']:
        path = f'/resource_providers/{provider["uuid"]}/traits'
        code, held = caller.placement('GET', path)
        _require(code, 200)
        traits = [*held['traits'], TRAIT]
        body = {
            'traits': traits,
            'resource_provider_generation': held['resource_provider_generation'],
        }
        code, _found = caller.placement('PUT', path, body)
        _require(code, 200)
    flavor = {'id': FLAVOR, 'name': FLAVOR, 'vcpus': 1, 'ram': 64, 'disk': 1}
    specs = {'extra_specs': {f'trait:{TRAIT}': 'required'}}
    _ask(caller, '/flavors', {'flavor': flavor})
    _ask(caller, f'/flavors/{FLAVOR}/os-extra_specs', specs)
    made = _ask(caller, '/os-aggregates', {'aggregate': {'name': 'licensed'}})
    path = f'/os-aggregates/{made["aggregate"]["id"]}/action'
    _ask(caller, path, {'add_host': {'host': HOST}})
    _ask(caller, path, {'set_metadata': {'metadata': {f'trait:{TRAIT}': 'required'}}})


def _ask(caller, path, body):
    code, found = caller.send('prepare', 'POST', path, body)
    _require(code, 200)
    return found


def _require(code, wanted):
    if code != wanted:
        raise RuntimeError(f'answered {code}')
