"""Twins of larger clouds: decisions are those of the cloud, drains take what is predicted."""

import json

import yaml

from nova_lite import runtime
from tests.functional import test_twin

SERVERS, DECISIONS = 200, 100
# Guests whose copies take seconds, so that they are most of the time of a drain.
DRAINED = """
cells: [{hosts: [full, other, third]}]
profile:
  extends: instant
  hosts: [{live_migration: {bandwidth_mb_s: 1000, dirty_rate_mb_s: 100, disk_fill: 0.1}}]
defaults: false
projects: [{name: demo, quotas: {compute: {ram: -1}}}]
flavors:
  - {name: big, id: '1', vcpus: 1, ram: 16384, disk: 1}
  - {name: wide, id: '2', vcpus: 1, ram: 1024, disk: 100}
images: [{name: only}]
servers:
  - {name: guest, count: 4, flavor: big, image: only, host: full}
  - {name: halted, count: 2, flavor: wide, image: only, host: full, status: SHUTOFF}
"""
UNLIMITED = {'compute': dict.fromkeys(('instances', 'cores', 'ram'), -1)}
ALIAS = {'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330'}
PINNED = {'hw:cpu_policy': 'dedicated'}
OPTIONS = {
    'pci.alias': json.dumps(ALIAS),
    'filter_scheduler.enabled_filters': 'ComputeFilter,AggregateMultiTenancyIsolation,'
    'PciPassthroughFilter,NUMATopologyFilter',
}
# Pages of each node of hosts of the profile nfv. No API shows them.
PAGES = {'2M': 16384, '1G': {'count': 32, 'reserved': 2}}
# The dedicated CPUs of a host that servers of a test have at most. The others are for decisions.
MOST_PINNED = 36
SIZES = {'four': 4, 'six': 6, 'twelve': 12, 'wide': 8, 'pages': 2}


def cloud_of(count):
    """Return the text of a file of a cloud with `count` servers on 40 hosts of several sizes."""
    hosts = [f'node-{number}' for number in range(40)]
    rules = [
        {'match': name, 'capacity': {'vcpus': 16 + 8 * (number % 5), 'memory_mb': 65536}}
        for number, name in enumerate(hosts)
    ]
    return yaml.safe_dump(
        {
            'cells': [{'hosts': hosts}],
            'profile': {'extends': 'instant', 'hosts': rules},
            'defaults': False,
            'projects': [{'name': 'demo', 'quotas': UNLIMITED}],
            'flavors': [
                {'name': f'f{number}', 'id': str(number), 'vcpus': number, 'ram': 512 * number}
                for number in range(1, 5)
            ],
            'images': [{'name': 'only'}],
            'servers': [
                {'name': f's{number}', 'count': count // 4, 'flavor': f'f{number}', 'image': 'only'}
                for number in range(1, 5)
            ],
        }
    )


def servers_on(hosts, count, with_gpus, plain, *, gpus):
    """Return the entries of servers that are drawn, and of some with GPUs.

    with_gpus: hosts on which `gpus` servers have two GPUs each; plain: hosts without dedicated CPUs
    """
    rng, free, servers = runtime.seeded_random(1), dict.fromkeys(hosts, MOST_PINNED), []
    for host in with_gpus:
        # Two requests at the same time may choose the same devices of a host.
        servers += [{'flavor': 'gpus', 'host': host, 'turn': turn} for turn in range(gpus)]
    for number in range(count - len(servers)):
        host = hosts[number % len(hosts)]
        flavor = 'small' if host in plain or host in with_gpus else rng.choice([*SIZES, 'small'])
        if SIZES.get(flavor, 0) > free[host]:
            flavor = 'small'
        free[host] -= SIZES.get(flavor, 0)
        servers.append({'flavor': flavor, 'host': host})
    for number, entry in enumerate(servers):
        project = 'telco' if entry['host'] in ('node-1', 'node-3') else 'demo'
        entry = {**entry, 'name': f's{number}', 'image': 'only', 'project': project}
        servers[number] = entry
    return servers


def pinned_cloud(profile, gpus, count):
    """Return the document of a cloud of 20 hosts of a bundled profile with `count` servers.

    gpus: number of servers with two GPUs each that a host with GPUs holds, which are all GPUs
    The hosts 1 and 3, and their servers, belong to the project telco.
    """
    hosts = [f'node-{number}' for number in range(20)]
    with_gpus = {'gpu': hosts[::2], 'mixed': [h for h in hosts if h[-1] in '05']}.get(profile, [])
    plain = [h for h in hosts if h[-1] not in '0357'] if profile == 'mixed' else []
    extra = {
        'small': {},
        **dict.fromkeys(('four', 'six', 'twelve'), PINNED),
        'wide': {**PINNED, 'hw:numa_nodes': '2'},
        'pages': {**PINNED, 'hw:mem_page_size': '1GB'},
        'gpus': {**PINNED, 'pci_passthrough:alias': 'gpu:2'},
    }
    options = {'pci': {'report_in_placement': True}, 'filter_scheduler': {'pci_in_placement': True}}
    for name, value in OPTIONS.items():
        group, option = name.split('.')
        options[group][option] = value
    return {
        'cells': [{'hosts': hosts}],
        'profile': {'extends': profile, 'hosts': [{'delays': {'*': 0}}]},
        'options': options,
        'defaults': False,
        'projects': [{'name': name, 'quotas': UNLIMITED} for name in ('demo', 'telco')],
        'flavors': [
            {
                'name': name,
                'vcpus': SIZES.get(name, 2),
                'ram': 2048,
                **({'properties': specs} if specs else {}),
            }
            for name, specs in extra.items()
        ],
        'images': [{'name': 'only'}],
        'aggregates': [
            {
                'name': 'theirs',
                'hosts': ['node-1', 'node-3'],
                'metadata': {'filter_tenant_id': '{telco}'},
            }
        ],
        'servers': servers_on(hosts, count, with_gpus, plain, gpus=gpus),
    }


class TwinsTest(test_twin.Base):
    def test_decisions(self):
        path = self.top / 'cloud.yaml'
        path.write_text(cloud_of(SERVERS))
        cloud = self.up(path, 'cloud')
        found, lacking = self.imported(cloud)
        self.assertEqual(('', SERVERS), (lacking, len(found['servers'])))
        path = self.top / 'twin.yaml'
        path.write_text(yaml.safe_dump(found))
        twin = self.up(path, 'twin')
        for flavor in ('f1', 'f3'):
            words = ('fit', flavor, '--count', str(DECISIONS // 2))
            self.assertEqual(self.twin(cloud, *words), self.twin(twin, *words))
        self.verify(twin)

    def check_pinned(self, profile, gpus):
        """Check decisions in a cloud of a bundled profile and in its twin, and nodes of guests."""
        path = self.top / 'cloud.yaml'
        path.write_text(yaml.safe_dump(pinned_cloud(profile, gpus, SERVERS)))
        cloud = self.up(path, 'cloud')
        options = [word for item in OPTIONS.items() for word in ('--set', '='.join(item))]
        found, notes = self.imported(cloud, *options)
        self.assertNotIn('Not in the twin', notes)
        self.assertEqual(SERVERS, len(found['servers']))
        for rule in found['profile']['hosts']:
            for node in rule.get('numa', {}).get('nodes', ()):
                node['pages'] = PAGES
        path = self.top / 'twin.yaml'
        path.write_text(yaml.safe_dump(found))
        twin = self.up(path, 'twin')
        with_devices = {each['name'] for each in found['servers'] if each['flavor'] == 'gpus'}
        self.assertEqual(bool(gpus), bool(with_devices))
        before, after = (
            {name: where for name, where in self.nodes(place).items() if name not in with_devices}
            for place in (cloud, twin)
        )
        self.assertEqual(before, after)
        theirs = next(each['project'] for each in found['servers'] if each['host'] == 'node-1')
        # After one server with GPUs, decisions about others depend on the devices that it got.
        for flavor, project, count in (
            ('small', 'demo', 25),
            ('four', 'demo', 25),
            ('wide', 'telco', 25),
            ('pages', 'telco', 24),
            ('gpus' if gpus else 'twelve', 'demo', 1),
        ):
            results = []
            for place, name in ((cloud, project), (twin, theirs)):
                words = ('fit', flavor, '--count', str(count))
                more = ('--project', name) if project == 'telco' else ()
                results.append(self.twin(place, *words, *more))
            self.assertEqual(*results)
        self.verify(twin)

    def test_decisions_about_pinned_cpus(self):
        self.check_pinned('nfv', 0)

    def test_decisions_about_gpus(self):
        self.check_pinned('gpu', 4)

    def test_decisions_about_mixed_hosts(self):
        self.check_pinned('mixed', 2)

    def test_the_time_of_a_drain(self):
        path = self.top / 'cloud.yaml'
        path.write_text(DRAINED)
        cloud = self.up(path, 'cloud')
        _code, plan = self.twin(cloud, 'drain', 'full', '--parallel', '2')
        began = runtime.monotonic()
        code, _out, errors = test_twin.run(
            *('drain-host', 'full', '--yes', '--confirm', '--max', '2', '--state-dir', cloud)
        )
        self.assertEqual(0, code, errors)
        taken = runtime.monotonic() - began
        self.assertLess(abs(taken - plan['seconds']), 0.2 * taken, (taken, plan['seconds']))
        self.verify(cloud)
