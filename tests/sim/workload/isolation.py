"""Flavors for some hosts only: those of an isolated aggregate, of one cell, with NUMA nodes."""

import json

TRAIT = 'CUSTOM_LICENSED'
FLAVOR = 'licensed'
HOST = 'cell1-host1'
# {flavor: cell whose hosts have its trait}
DIVIDED = {'in-cell1': 'cell1', 'in-cell2': 'cell2'}
# {flavor: (CPUs, MiB, extra specs)} of servers with CPUs, pages and devices of their own.
PINNED = {
    'pinned': (2, 512, {'hw:cpu_policy': 'dedicated'}),
    'paged': (
        4,
        512,
        {'hw:cpu_policy': 'dedicated', 'hw:numa_nodes': '2', 'hw:mem_page_size': 'large'},
    ),
    'mixed': (3, 512, {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0-1'}),
    'gpu': (1, 512, {'pci_passthrough:alias': 'gpu:1'}),
    'near': (
        2,
        512,
        {
            'hw:numa_nodes': '1',
            'hw:pci_numa_affinity_policy': 'required',
            'pci_passthrough:alias': 'gpu:2,function:1',
        },
    ),
    'card': (1, 512, {'pci_passthrough:alias': 'card:1'}),
    'virtual': (1, 512, {'pci_passthrough:alias': 'gpu:1', 'resources:VGPU': '1'}),
}
_LIVE = {'live_migratable': 'yes'}
ALIASES = {
    'pci': {
        'alias': json.dumps(
            [
                {'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330', **_LIVE},
                {'name': 'function', 'vendor_id': '15b3', 'product_id': '101e', **_LIVE},
                {
                    'name': 'card',
                    'vendor_id': '15b3',
                    'product_id': '1021',
                    'device_type': 'type-PF',
                },
            ]
        ),
        # Hosts allocate the devices that they choose.
        'report_in_placement': True,
    }
}
# A host has room for some of them, as YAML of a profile's rule.
NODES = """
    numa:
      threads: 2
      shared: 0-1,7-8
      dedicated: 2-6,9-13
      nodes:
        - {cpus: '0-1,2-3,4-5', memory_mb: 8192, pages: {2M: 300}}
        - {cpus: '6-7,8-9,10-13', memory_mb: 8192, pages: {2M: 500}}
    pci:
      - {vendor_id: '10de', product_id: '2330', numa_node: 0, count: 2, live_migratable: true}
      - {vendor_id: '10de', product_id: '2330', numa_node: 1, count: 2, live_migratable: true}
      - vendor_id: '15b3'
        product_id: '1021'
        dev_type: type-PF
        numa_node: 1
        physical_network: null
        functions: {count: 2, product_id: '101e', live_migratable: true}
      - vendor_id: '10de'
        product_id: '25b6'
        count: 2
        mdev_types: [{name: nvidia-559, count: 2}]
"""
FILTERED = {
    'filter_scheduler': {
        'enabled_filters': ['ComputeFilter', 'ImagePropertiesFilter']
        + ['PciPassthroughFilter', 'NUMATopologyFilter']
    }
}
# Types of ports that may be devices of these hosts.
PORTS = 'direct', 'macvtap', 'direct-physical', 'normal'
# Seconds in which the scheduler may go by what it has read before.
REUSE_S = 10


def prepare(caller):
    """Isolate HOST for FLAVOR, as an operator. All hosts have the trait: only HOST is closed."""
    _give_trait(caller, TRAIT)
    _make_flavor(caller, FLAVOR, TRAIT)
    made = _ask(caller, '/os-aggregates', {'aggregate': {'name': 'licensed'}})
    path = f'/os-aggregates/{made["aggregate"]["id"]}/action'
    _ask(caller, path, {'add_host': {'host': HOST}})
    _ask(caller, path, {'set_metadata': {'metadata': {f'trait:{TRAIT}': 'required'}}})


def divide(caller):
    """Make a flavor for each cell, as an operator."""
    for flavor, cell in DIVIDED.items():
        trait = f'CUSTOM_{cell.upper()}'
        _give_trait(caller, trait, prefix=cell)
        _make_flavor(caller, flavor, trait)


def pin(caller, flavors):
    """Make the flavors of pinned servers, as an operator."""
    for flavor, (vcpus, ram, specs) in flavors.items():
        _make(caller, flavor, specs, vcpus=vcpus, ram=ram)


def _give_trait(caller, trait, prefix=''):
    """Give a trait to all hosts whose names begin so."""
    code, found = caller.placement('GET', '/resource_providers')
    _require(code, 200)
    code, _found = caller.placement('PUT', f'/traits/{trait}')
    _require(code, 201)
    for provider in found['resource_providers']:
        if not provider['name'].startswith(prefix):
            continue
        path = f'/resource_providers/{provider["uuid"]}/traits'
        code, held = caller.placement('GET', path)
        _require(code, 200)
        body = {
            'traits': [*held['traits'], trait],
            'resource_provider_generation': held['resource_provider_generation'],
        }
        code, _found = caller.placement('PUT', path, body)
        _require(code, 200)


def _make_flavor(caller, name, trait):
    _make(caller, name, {f'trait:{trait}': 'required'})


def _make(caller, name, specs, *, vcpus=1, ram=64):
    flavor = {'id': name, 'name': name, 'vcpus': vcpus, 'ram': ram, 'disk': 1}
    _ask(caller, '/flavors', {'flavor': flavor})
    _ask(caller, f'/flavors/{name}/os-extra_specs', {'extra_specs': specs})


def _ask(caller, path, body):
    code, found = caller.send('prepare', 'POST', path, body)
    _require(code, 200)
    return found


def _require(code, wanted):
    if code != wanted:
        raise RuntimeError(f'answered {code}')
