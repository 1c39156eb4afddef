"""Twins: a cloud that was imported decides as the cloud itself, and what may fail is found."""

import json
import os
import pathlib

import fixtures
import testtools
import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tools import sample

RUN_S, STOP_S = 300, 60
# The group has a member on each host of zone a. Host b-2 is disabled.
CLOUD = """
cells: [{hosts: [a-1, a-2, b-1, b-2]}]
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
disabled_hosts:
  - {hosts: [b-2], reason: a test}
"""


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
        self.assertEqual('', lacking)
        self.assertEqual([{'hosts': ['a-1', 'a-2', 'b-1', 'b-2']}], found['cells'])
        self.assertEqual(2, sum(each.get('group') is not None for each in found['servers']))
        self.assertNotIn('first', json.dumps(found))
        path = self.top / 'twin.yaml'
        path.write_text(yaml.safe_dump(found))
        twin = self.up(path, 'twin')
        again, _lacking = self.imported(twin)
        for part in ('cells', 'profile', 'flavors', 'zones', 'aggregates', 'disabled_hosts'):
            self.assertEqual(found[part], again[part])
        for flavor in ('big', 'wide'):
            results = [
                self.twin(place, 'fit', flavor, '--count', '12') for place in (self.cloud, twin)
            ]
            self.assertEqual(*results)
            self.assertEqual(1, results[0][0])
        for words in (('survives', '--zones'), ('survives',)):
            losses = [
                [(each['lost'], each['servers'], len(each['without'])) for each in found]
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
        self.assertIn('4 hosts, 6 servers', out)
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
        for words, text in (
            ('drain a-3', 'The cloud has no host a-3. It has: a-1, a-2, b-1, b-2'),
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
