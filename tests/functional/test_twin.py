"""Twins: a cloud that was imported decides as the cloud itself, and what may fail is found."""

import json
import os
import pathlib

import fixtures
from oslo_utils import uuidutils
import testtools
import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import running
from nova_lite.virt.sim import profile
from tests.fixtures import commands
from tools import sample

RUN_S, STOP_S = 300, 60
# The group has a member on each host of zone a. Host b-2 is disabled, and b-3 is down.
CLOUD = """
cells: [{hosts: [a-1, a-2, b-1, b-2, b-3]}]
profile:
  extends: instant
  hosts:
    - capacity: {vcpus: 8, memory_mb: 8192, disk_gb: 100}
      reserved: {memory_mb: 0}
      allocation_ratios: {vcpus: 1.0, memory_mb: 1.0}
    - {match: b-1, capacity: {vcpus: 16, memory_mb: 16384}, traits: [CUSTOM_WIDE]}
defaults: false
flavors:
  - {name: big, id: '1', vcpus: 2, ram: 2048, disk: 2}
  - {name: wide, id: '2', vcpus: 1, ram: 512, disk: 1, properties: {'trait:CUSTOM_WIDE': required}}
images:
  - {name: only, properties: {hw_disk_bus: virtio}}
zones:
  - {name: a, hosts: ['a-*']}
  - {name: b, hosts: ['b-*']}
aggregates:
  - {name: ssd, hosts: [a-1, b-1], metadata: {disk: ssd}}
server_groups:
  - {name: spread, policy: anti-affinity}
servers:
  - {name: first, flavor: big, image: only, host: a-1, group: spread}
  - {name: second, flavor: big, image: only, host: a-2, group: spread}
  - {name: full, count: 2, flavor: big, image: only, host: b-1, zone: b}
  - {name: asleep, flavor: wide, image: only, host: b-1, status: SHUTOFF}
  - {name: volume, flavor: big, image: only, volume: {size: 3}, host: b-1}
  - {name: lost, flavor: big, image: only, host: b-3}
disabled_hosts:
  - {hosts: [b-2], reason: a test}
down_hosts:
  - {hosts: [b-3]}
"""
# Host g-1 has two GPUs on each node. Host n-2 is for a project.
PINNED = """
cells: [{hosts: [n-1, n-2, g-1]}]
profile:
  extends: instant
  hosts:
    - numa:
        threads: 2
        shared: 0,8,16,24
        dedicated: 1-7,9-15,17-23,25-31
        nodes: [{cpus: '0-7,16-23', memory_mb: 65536}, {cpus: '8-15,24-31', memory_mb: 65536}]
    - match: g-1
      pci:
        - {vendor_id: '10de', product_id: '2330', count: 2, numa_node: 0}
        - {vendor_id: '10de', product_id: '2330', count: 2, numa_node: 1}
      inventory: {CUSTOM_LICENCE: 3}
options:
  pci: {report_in_placement: true, alias: '%(alias)s'}
  filter_scheduler: {pci_in_placement: true, enabled_filters: '%(filters)s'}
defaults: false
projects: [{name: telco}, {name: demo, quotas: {compute: {cores: -1}}}]
flavors:
  - {name: small, id: '1', vcpus: 2, ram: 1024}
  - {name: four, id: '2', vcpus: 4, ram: 2048, properties: {'hw:cpu_policy': dedicated}}
  - {name: six, id: '3', vcpus: 6, ram: 2048, properties: {'hw:cpu_policy': dedicated}}
  - name: wide
    id: '4'
    vcpus: 8
    ram: 4096
    properties: {'hw:cpu_policy': dedicated, 'hw:numa_nodes': '2'}
  - name: gpus
    id: '5'
    vcpus: 4
    ram: 2048
    properties: {'hw:cpu_policy': dedicated, 'pci_passthrough:alias': 'gpu:2'}
  - {name: licence, id: '6', vcpus: 1, ram: 512, properties: {'resources:CUSTOM_LICENCE': '1'}}
images: [{name: only}]
aggregates: [{name: telco, hosts: [n-2], metadata: {filter_tenant_id: '{telco}'}}]
servers:
  - {name: first, flavor: six, image: only, host: n-1}
  - {name: second, flavor: four, image: only, host: n-1}
  - {name: third, flavor: four, image: only, host: n-1}
  - {name: both, flavor: wide, image: only, host: n-1}
  - {name: plain, flavor: small, image: only, host: n-1}
  - {name: theirs, project: telco, flavor: six, image: only, host: n-2}
  - {name: computes, flavor: gpus, image: only, host: g-1}
  - {name: licensed, flavor: licence, image: only}
"""
OPTIONS = {
    'alias': '{"name": "gpu", "vendor_id": "10de", "product_id": "2330"}',
    'filters': 'ComputeFilter,AggregateMultiTenancyIsolation,NUMATopologyFilter',
}
SET = (
    *('--set', f'pci.alias={OPTIONS["alias"]}'),
    *('--set', f'filter_scheduler.enabled_filters={OPTIONS["filters"]}'),
)


def run(*argv):
    return commands.forked(argv, timeout_s=RUN_S)


class Base(testtools.TestCase):
    """Starts clouds from files, and asks them.

    top: directory of the files and of the clouds
    """

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def up(self, path, name):
        directory = str(self.top / name)
        self.addCleanup(running.stop, directory, STOP_S)
        argv = ('up', '-f', str(path), '--state-dir', directory, '--detach', '--port', '0')
        code, _out, errors = run(*argv)
        self.assertEqual(0, code, errors)
        return directory

    def imported(self, directory, *words):
        """Return (document of the twin of a cloud, what it lacks)."""
        code, out, errors = run('import', '--state-dir', directory, *words)
        self.assertEqual(0, code, errors)
        return yaml.safe_load(out), errors

    def twin(self, directory, *words):
        """Return (exit code, document) of an action."""
        code, out, errors = run('twin', *words, '--json', '--state-dir', directory)
        self.assertIn(code, (0, 1), errors)
        return code, json.loads(out)

    def nodes(self, directory):
        """Return {id of a server, which is its name in a twin: (host, nodes of the host)}."""
        cloud = client_connections.connect(os.path.join(directory, 'clouds.yaml'))
        found = {}
        for server in cloud.compute.servers(all_projects=True):
            path = f'/servers/{server.id}/topology'
            shown = cloud.compute.get(path, microversion='2.78').json()
            key = server.name if uuidutils.is_uuid_like(server.name) else server.id
            found[key] = server.compute_host, [each['host_node'] for each in shown['nodes']]
        return found

    def verify(self, directory):
        code, out, errors = commands.run('verify', '--settle', '30', '--state-dir', directory)
        self.assertEqual((0, 'No invariant is violated.\n'), (code, out), errors)


@sample.in_turns(2)
class TwinTest(Base):
    def setUp(self):
        super().setUp()
        path = self.top / 'cloud.yaml'
        path.write_text(CLOUD)
        self.cloud = self.up(path, 'cloud')

    def test_an_imported_cloud(self):
        """It has the same hosts, and equal requests get equal places. Its twin is equal again."""
        found, lacking = self.imported(self.cloud)
        self.assertNotIn('Not in the twin', lacking)
        self.assertIn('As in the cloud: 1 host (b-2) is disabled (add --names', lacking)
        self.assertIn('As in the cloud: 1 host (b-3) is down', lacking)
        self.assertEqual([{'hosts': ['a-1', 'a-2', 'b-1', 'b-2', 'b-3']}], found['cells'])
        self.assertEqual(2, sum(each.get('group') is not None for each in found['servers']))
        self.assertNotIn('first', json.dumps(found))
        path = self.top / 'twin.yaml'
        path.write_text(yaml.safe_dump(found))
        twin = self.up(path, 'twin')
        again, _lacking = self.imported(twin)
        states = 'disabled_hosts', 'down_hosts'
        for part in ('cells', 'profile', 'flavors', 'zones', 'aggregates', *states):
            self.assertEqual(found[part], again[part])
        for flavor in ('big', 'wide'):
            results = [
                self.twin(place, 'fit', flavor, '--count', '12') for place in (self.cloud, twin)
            ]
            self.assertEqual(*results)
            self.assertEqual(1, results[0][0])
        for words in (('survives', '--zones'), ('survives',)):
            losses = [
                [
                    (each['lost'], each['servers'], each['down'], len(each['without']))
                    for each in found
                ]
                for _code, found in (self.twin(place, *words) for place in (self.cloud, twin))
            ]
            self.assertEqual(*losses)
        self.verify(twin)
        self.files()

    def files(self):
        """An existing file is kept. --names keeps names."""
        path = self.top / 'named.yaml'
        argv = ('import', '--state-dir', self.cloud, '--output', str(path), '--names')
        code, out, errors = run(*argv)
        self.assertEqual(0, code, errors)
        self.assertIn('5 hosts, 7 servers', out)
        found = yaml.safe_load(path.read_text())
        self.assertEqual({'name': 'asleep'}, next(
            each['metadata'] for each in found['servers'] if each.get('status') == 'SHUTOFF'
        ))  # fmt: skip
        code, _out, errors = run(*argv)
        self.assertEqual(2, code)
        self.assertIn('add --force to replace it', errors)

    def test_what_is_found(self):
        """Each answer follows from arithmetic, and nothing changes in the cloud."""
        # Memory is the limit: 3 more on each host of zone a, and 9728 MiB are free on b-1.
        code, found = self.twin(self.cloud, 'fit', 'big', '--count', '12')
        self.assertEqual((1, 10), (code, found['placed']))
        self.assertEqual({'a-1': 3, 'a-2': 3, 'b-1': 4}, found['hosts'])
        code, found = self.twin(self.cloud, 'fit', 'wide', '--count', '1')
        self.assertEqual((0, {'b-1': 1}), (code, found['hosts']))
        code, losses = self.twin(self.cloud, 'survives')
        by_host = {each['lost']: each for each in losses}
        self.assertEqual(1, code)
        # A member of the group cannot go to the host of the other, but it can go to b-1.
        self.assertEqual([], by_host['a-1']['without'])
        # The server of the host that is down can go to hosts that are up.
        self.assertEqual(
            (['b-3'], 1, []), tuple(by_host['b-3'][key] for key in ('down', 'servers', 'without'))
        )
        stay = {each['server'] for each in by_host['b-1']['without']}
        self.assertEqual({'full-1', 'full-2', 'asleep'}, stay)
        code, (zone,) = self.twin(self.cloud, 'survives', '--zone', 'a')
        self.assertEqual((1, 2, 2), (code, zone['hosts'], zone['servers']))
        code, plan = self.twin(self.cloud, 'drain', 'a-1')
        self.assertEqual((0, ['b-1']), (code, [move['to'] for move in plan['moves']]))
        self.assertEqual('first', plan['moves'][0]['server'])
        self.assertIn('--live-migration --host b-1 --wait', plan['commands'][1])
        code, plan = self.twin(self.cloud, 'rebalance')
        self.assertEqual(0, code)
        touched = {move[end] for move in plan['moves'] for end in ('from', 'to')}
        self.assertEqual(set(), touched & {'b-2', 'b-3'})
        for words, text in (
            ('drain a-3', 'The cloud has no host a-3. It has: a-1, a-2, b-1, b-2, b-3'),
            ('drain b-3', 'Host b-3 is down, so no server can be migrated from it.'),
            ('fit big --project-domain x', '--project-domain needs a --project'),
            ('survives --zone c', 'The cloud has no zone c. It has: a, b'),
            ('fit small', 'The cloud has no flavor small. It has: big, wide'),
        ):
            code, _out, errors = run('twin', *words.split(), '--state-dir', self.cloud)
            self.assertEqual(2, code)
            self.assertIn(text, errors)
            # No copy was started.
            self.assertNotIn('Starting', errors)
        cloud = client_connections.connect(os.path.join(self.cloud, 'clouds.yaml'))
        hosts = {each.name: each.compute_host for each in cloud.compute.servers(all_projects=True)}
        self.assertEqual(('a-1', 'b-1'), (hosts['first'], hosts['asleep']))
        self.verify(self.cloud)


@sample.in_turns(8)
class PinnedTwinTest(Base):
    """Pinned CPUs, NUMA nodes, devices, further resources and hosts of projects."""

    def setUp(self):
        super().setUp()
        path = self.top / 'cloud.yaml'
        path.write_text(PINNED % OPTIONS)
        self.cloud = self.up(path, 'cloud')

    def test_an_imported_cloud(self):
        """Guests are on the same nodes of the same hosts, and equal requests get equal places."""
        found, notes = self.imported(self.cloud, *SET, '--cell', 'n-*', '--cell', 'g-1')
        self.assertEqual([{'hosts': ['n-1', 'n-2']}, {'hosts': ['g-1']}], found['cells'])
        self.assertNotIn('Not in the twin', notes)
        for text in ('3 hosts are of equal size', 'by addresses', 'devices of 1 server'):
            self.assertIn(text, notes)
        path = self.top / 'twin.yaml'
        path.write_text(yaml.safe_dump(found))
        twin = self.up(path, 'twin')
        before, after = self.nodes(self.cloud), self.nodes(twin)
        (gpus,) = (each['name'] for each in found['servers'] if each['flavor'] == 'gpus')
        self.assertEqual(before.pop(gpus)[0], after.pop(gpus)[0])
        self.assertEqual(before, after)
        theirs = next(each['project'] for each in found['servers'] if each['host'] == 'n-2')
        for words, count in (
            (('wide',), 20),
            (('six', '--project'), 20),
            (('gpus',), 2),
            (('licence',), 3),
        ):
            results = []
            for place, project in ((self.cloud, 'telco'), (twin, theirs)):
                more = (project,) if words[-1] == '--project' else ()
                argv = ('fit', *words, *more, '--count', str(count))
                results.append(self.twin(place, *argv))
            self.assertEqual(*results)
            self.assertEqual('--project' in words, 'n-2' in results[0][1]['hosts'], words)
        self.verify(twin)
        self.without_the_alias()
        self.refused()

    def without_the_alias(self):
        """A server with an unknown alias is left out, and what it holds is not offered."""
        found, notes = self.imported(self.cloud)
        self.assertIn(
            '1 server with PCI aliases that are not known (gpu; add --set pci.alias=', notes
        )
        self.assertEqual(7, len(found['servers']))
        host = profile.parse(yaml.safe_dump(found['profile'])).behaviour('g-1')
        self.assertEqual((2, 24), (len(host.pci), host.numa.dedicated))
        self.assertEqual(2048 + 512, host.reserved['memory_mb'])

    def refused(self):
        """Wrong cells, aliases and projects are refused."""
        for words, text in (
            (('--cell', 'n-*'), 'host g-1 is in no cell'),
            (('--cell', '*', '--cell', 'x-*'), '--cell x-* fits no host'),
            (('--set', 'pci.alias={'), 'Invalid PCI alias definition'),
            (('--set', 'pci.aliases=x'), 'group pci has no option aliases'),
        ):
            code, out, errors = run('import', '--state-dir', self.cloud, *words)
            self.assertEqual((2, ''), (code, out))
            self.assertIn(text, errors)
        code, _out, errors = run('twin', 'fit', 'six', '--project', 'x', '--state-dir', self.cloud)
        self.assertEqual(2, code)
        self.assertIn('The cloud has no project x. It has: admin, demo, service, telco', errors)
        argv = ('fit', 'six', '--project', 'telco', '--project-domain', 'x')
        code, _out, errors = run('twin', *argv, '--state-dir', self.cloud)
        self.assertEqual(2, code)
        self.assertIn('The cloud has no domain x. It has: Default', errors)
