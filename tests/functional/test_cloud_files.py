"""Clouds that files describe: the examples, their round trip, and a file that is given again."""

import os
import pathlib
import shutil
import sys

import fixtures
from openstack import exceptions
import testtools
import yaml

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher.cloud_file import kept
from tests.fixtures import commands
from tests.fixtures import howto
from tests.fixtures import units
from tests.fixtures import warm_programs
from tools import sample

EXAMPLES = units.ROOT / 'doc' / 'examples' / 'clouds'
RUN_S, STOP_S = 300, 60
# A cloud whose second server exceeds a quota.
FAILING = """
cells: [{hosts: 1}]
flavors:
  - {name: large, vcpus: 1000, ram: 512}
servers:
  - {name: small, flavor: m1.tiny, image: cirros}
  - {name: huge, flavor: large, image: cirros}
"""
SMALL = """
cells: [{hosts: 1}]
profile: instant
defaults: false
flavors:
  - {name: m1.tiny, id: '9', vcpus: 2, ram: 64, description: not the usual one}
projects:
  - {name: tenant}
aggregates:
  - {name: theirs, hosts: ['*'], metadata: {filter_tenant_id: '{demo},{tenant}', disk: ssd}}
images:
  - {name: only, disk_gb: 0.5, protected: true, visibility: community, tags: [a]}
networks:
  - name: out
    project: admin
    external: true
    shared: true
    type: vlan
    physical_network: physnet1
    segment: 7
    subnets:
      - {cidr: 192.0.2.0/24, name: outside, gateway: 192.0.2.9, dhcp: false}
      - {cidr: 'fd00::/64'}
down_hosts: [{hosts: ['*']}]
"""


@sample.in_turns(3)
class HowtoTest(testtools.TestCase):
    def test_the_page(self):
        """Its commands, in order, in one shell."""
        top = self.useFixture(fixtures.TempDir()).path
        (pathlib.Path(top) / 'doc').symlink_to(units.ROOT / 'doc')
        source = os.path.dirname(sys.executable)
        warm = self.useFixture(warm_programs.WarmPrograms(source, howto.PROGRAMS))
        self.addCleanup(running.stop, os.path.join(top, 'ci'), STOP_S)
        text = (howto.PAGES / 'cloud-file.rst').read_text()
        block = text.split('code-block:: console\n\n')[1].split('\n\n')[0]
        script = '\n'.join(line.removeprefix('   $ ') for line in block.splitlines())
        done = warm.run(
            ['bash', '-e', '-o', 'pipefail', '-c', script], {'HOME': top}, directory=top
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn('old-2', done.stdout)
        with open(os.path.join(top, 'again.yaml')) as file:
            found = yaml.safe_load(file)
        self.assertEqual(['old-1', 'old-2'], [each['name'] for each in found['servers']])


@sample.in_turns(4)
class CloudFilesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def up(self, path, name, *words):
        """Start a cloud from a file; return its state directory."""
        directory = str(self.top / name)
        self.addCleanup(running.stop, directory, STOP_S)
        argv = ('up', '-f', str(path), '--state-dir', directory, '--detach', '--port', '0', *words)
        code, out, errors = commands.forked(argv, timeout_s=RUN_S)
        self.assertEqual(0, code, errors)
        self.assertIn(f'up --state-dir {directory} -f {path}', out)
        return directory

    def refused(self, path, name, *words):
        argv = ('up', '-f', str(path), '--state-dir', str(self.top / name), '--port', '0', *words)
        code, _out, errors = commands.forked(argv, timeout_s=RUN_S)
        self.assertEqual(2, code, errors)
        return errors

    def printed(self, directory):
        """Return the path of the file of a running cloud, and what is in it."""
        code, out, errors = commands.run('up', '--print-config', '--state-dir', directory)
        self.assertEqual((0, ''), (code, errors))
        path = f'{directory}.yaml'
        with open(path, 'w') as file:
            file.write(out)
        return path, yaml.safe_load(out)

    def file(self, text):
        path = self.top / 'cloud.yaml'
        path.write_text(text)
        return path

    def connect(self, directory, name='nova-lite'):
        return client_connections.connect(os.path.join(directory, 'clouds.yaml'), name)

    def again(self, path, found):
        """Start another cloud from the file of a cloud: its own file is the same."""
        directory = self.up(path, 'again')
        _path, other = self.printed(directory)
        for document in (found, other):
            ahead = document.get('clock', {}).pop('ahead', 0)
            # Time passes at a rate.
            self.assertAlmostEqual(
                document.setdefault('days', round(ahead / 86400)), ahead // 86400
            )
        self.assertEqual(found, other)
        self.verify(directory)

    def verify(self, directory):
        code, out, errors = commands.run('verify', '--settle', '30', '--state-dir', directory)
        self.assertEqual((0, 'No invariant is violated.\n'), (code, out), errors)

    def test_ci(self):
        directory = self.up(EXAMPLES / 'ci.yaml', 'ci')
        cloud = self.connect(directory, 'nova-lite-ci')
        self.assertEqual({'old-1', 'old-2'}, {each.name for each in cloud.compute.servers()})
        self.assertEqual(
            1000, cloud.block_storage.get_quota_set(cloud.current_project_id).gigabytes
        )
        options = {'flavor': 'test', 'image': 'cirros', 'network': 'tests'}
        options |= {'wait': True, 'auto_ip': False}
        self.assertEqual('ACTIVE', cloud.create_server('new', **options).status)
        error = self.assertRaises(
            exceptions.SDKException, cloud.create_server, 'broken-1', **options
        )
        self.assertIn('no space left', str(error))
        # A reset returns to the servers of the file.
        code, _out, errors = commands.run('reset', '--state-dir', directory)
        self.assertEqual(0, code, errors)
        self.assertEqual({'old-1', 'old-2'}, {each.name for each in cloud.compute.servers()})

    def test_operator(self):
        """Its file makes a cloud that is equal."""
        directory = self.up(EXAMPLES / 'operator.yaml', 'operator')
        path, found = self.printed(directory)
        self.assertEqual([4, 3, ['old-1', 'old-2']], [cell['hosts'] for cell in found['cells']])
        admin = self.connect(directory)
        zones = {each.name for each in admin.compute.availability_zones()}
        self.assertEqual({'east', 'west'}, zones)
        servers = {each.name: each for each in admin.compute.servers(all_projects=True)}
        self.assertEqual({'web-1', 'web-2', 'web-3', 'web-4', 'db', 'standby'}, set(servers))
        self.assertEqual('SHUTOFF', servers['standby'].status)
        self.assertEqual('east', servers['web-1'].availability_zone)
        self.assertEqual('cell1', servers['web-1'].compute_host.split('-')[0])
        faults = control_client.Client(directory).get('faults')
        self.assertEqual(['old-2'], faults['hosts_off'])
        [group] = admin.compute.server_groups(all_projects=True)
        members = [servers[f'web-{number}'].id for number in range(1, 5)]
        self.assertEqual(set(members), set(group.member_ids))
        disabled = {each.host: each.disabled_reason for each in admin.compute.services()}
        self.assertEqual('to be replaced', disabled['old-1'])
        alice = self.connect(directory, 'nova-lite-alice')
        self.assertEqual(4, len(list(alice.compute.servers())))
        self.assertEqual(7, round(found['clock']['ahead'] / 86400))
        self.again(path, found)

    def test_gpu(self):
        directory = self.up(EXAMPLES / 'gpu.yaml', 'gpu')
        admin = self.connect(directory)
        hosts = {each.name: each.compute_host for each in admin.compute.servers(all_projects=True)}
        self.assertEqual({'train-1', 'train-2', 'notebook'}, set(hosts))
        for name, host in hosts.items():
            self.assertEqual('cell1' if name == 'notebook' else 'cell2', host.split('-')[0], hosts)
        path, found = self.printed(directory)
        self.again(path, found)

    def test_without_defaults(self):
        directory = self.up(self.file(SMALL), 'small')
        path, found = self.printed(directory)
        self.assertFalse(found['defaults'])
        self.assertEqual(['m1.tiny'], [each['name'] for each in found['flavors']])
        self.assertEqual(['only'], [each['name'] for each in found['images']])
        wanted = yaml.safe_load(SMALL)
        self.assertEqual(wanted['flavors'], found['flavors'])
        self.assertEqual([{'hosts': ['cell1-host1']}], found['down_hosts'])
        self.assertEqual(wanted['aggregates'][0]['metadata'], found['aggregates'][0]['metadata'])
        admin = self.connect(directory)
        [aggregate] = admin.compute.aggregates()
        ids = [admin.identity.find_project(name).id for name in ('demo', 'tenant')]
        self.assertEqual(','.join(ids), aggregate.metadata['filter_tenant_id'])
        [network] = found['networks']
        self.assertEqual({**wanted['networks'][0], 'mtu': network['mtu']}, network)
        self.again(path, found)

    def test_given_again(self):
        """Behaviour may change; objects may not. Another shape is refused, also while it runs."""
        path = self.file(SMALL)
        directory = self.up(path, 'small')
        other = self.top / 'other.yaml'
        other.write_text(SMALL.replace('vcpus: 2', 'vcpus: 3'))
        for _state in ('running', 'stopped'):
            message = self.refused(other, 'small')
            self.assertIn('Line 6, flavors[0].vcpus: 3 here, 2 there', message)
            self.assertIn('--fresh', message)
            running.stop(directory, STOP_S)
        path.write_text(
            SMALL.replace('instant', 'default') + 'faults: {hosts_off: [cell1-host1]}\n'
        )
        self.up(path, 'small')
        _path, found = self.printed(directory)
        self.assertEqual('default', found['profile'])
        self.assertEqual({'hosts_off': ['cell1-host1']}, found['faults'])
        running.stop(directory, STOP_S)
        self.up(other, 'small', '--fresh')
        _path, found = self.printed(directory)
        self.assertEqual(3, found['flavors'][0]['vcpus'])

    def test_killed_after_its_objects(self):
        """The file of clients, which comes last, is missing: the objects are not created again."""
        path = self.file(SMALL)
        directory = self.up(path, 'small')
        running.stop(directory, STOP_S)
        os.unlink(os.path.join(directory, 'clouds.yaml'))
        self.up(path, 'small')
        self.verify(directory)

    def test_an_object_that_is_refused(self):
        """The message has its line. The next start begins again."""
        path = self.file(FAILING)
        message = self.refused(path, 'failing')
        self.assertIn(f'{path}, line 7: servers[1]: The compute API refused', message)
        self.assertIn('Quota exceeded for cores', message)
        state = str(self.top / 'failing')
        code, _out, errors = commands.run('up', '--state-dir', state)
        self.assertEqual(2, code)
        self.assertIn(f'did not create all objects of {path}', errors)
        path.write_text(FAILING.replace('vcpus: 1000', 'vcpus: 1'))
        directory = self.up(path, 'failing')
        _path, found = self.printed(directory)
        self.assertEqual(['huge', 'small'], [each['name'] for each in found['servers']])
        self.assertTrue(kept.read(directory)['done'])

    def test_a_file_in_the_state_directory(self):
        """A repeated first start does not delete it."""
        directory = self.top / 'failing'
        self.refused(self.file(FAILING), 'failing')
        inside = directory / 'cloud.yaml'
        shutil.copy(self.top / 'cloud.yaml', inside)
        self.assertIn('lies in the state directory', self.refused(inside, 'failing'))
        self.assertTrue(inside.exists())
