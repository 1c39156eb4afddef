"""Drills of `nova-lite scenario`. Some run here, and all in tests/nightly."""

import json
import shutil
import subprocess
import tempfile

import fixtures
import testtools

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import processes
from tests.fixtures import commands
from tools import sample

LIMIT_S = 300


class ScenarioTestCase(testtools.TestCase):
    """Drills on one cloud of `nova-lite up`, whose clock they may change."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.state_dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.state_dir)
        cls.addClassCleanup(commands.run, 'stop', '--state-dir', cls.state_dir)
        argv = ['up', '--detach', '--port', '0', '--state-dir', cls.state_dir]
        code, printed, errors = commands.forked(argv, timeout_s=LIMIT_S)
        if code:
            raise AssertionError(printed + errors)

    def setUp(self):
        super().setUp()
        path = f'{self.state_dir}/clouds.yaml'
        self.connection = client_connections.connect(path, compute_api_version='2.90')
        self.compute = self.connection.compute
        self.control = control_client.Client(self.state_dir)

    def scenario(self, *words, code=0):
        """Return what the command prints; its errors if it cannot run."""
        where = () if words[0] in ('list', 'show') else ('--state-dir', self.state_dir)
        found, out, errors = commands.run('scenario', *words, *where)
        self.assertEqual(code, found, out + errors)
        return errors if code == 2 else out

    def check(self, name):
        """Run a drill; the cloud has no fault, server or disabled host afterwards."""
        found = json.loads(self.scenario('run', name, '--json'))
        self.assertEqual('passed', found['result'])
        self.assert_restored()

    def begin(self, name):
        """Start the exam of a drill by its command. Return the process that has told the task."""
        words = ('scenario', 'run', name, '--exam', '--state-dir', self.state_dir)
        process = subprocess.Popen(
            [*processes.COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn('task', json.loads(process.stdout.readline()))
        return process

    def assert_restored(self):
        """Check that the cloud has no server, fault or disabled host, and is consistent."""
        self.assertEqual([], list(self.compute.servers(details=False, all_projects=True)))
        self.assertEqual([[]] * 5, list(self.control.get('faults').values()))
        self.assertEqual({'breakpoints': [], 'stopped': []}, self.control.get('breakpoints'))
        for service in self.compute.services(binary='nova-compute'):
            self.assertEqual(('up', 'enabled'), (service.state, service.status))
        code, printed, errors = commands.run('verify', '--state-dir', self.state_dir)
        self.assertEqual((0, 'No invariant is violated.\n'), (code, printed), errors)


@sample.in_turns(4)
class ScenarioTest(ScenarioTestCase):
    def test_placement_409_storm(self):
        self.check('placement-409-storm')

    def test_neutron_slow(self):
        self.check('neutron-slow')

    def test_host_dies_in_a_drain(self):
        self.check('host-dies-in-a-drain')

    def test_list_and_show(self):
        listed = {each['name'] for each in json.loads(self.scenario('list', '--json'))}
        self.assertEqual(set(drills.names()), listed)
        self.assertIn('neutron-slow', self.scenario('list'))
        shown = json.loads(self.scenario('show', 'neutron-slow', '--json'))
        self.assertEqual('consistent', shown['verify'])
        self.assertIn('Cluster: 1 cell', self.scenario('show', 'neutron-slow'))

    def test_not_as_expected(self):
        """The first step that is not as expected ends the drill. All is undone."""
        drill = drills.parse('wrong', drill_text('ERROR'))
        self.useFixture(
            fixtures.MonkeyPatch('nova_lite.lab.scenarios.drill.read', lambda _name: drill)
        )
        out = self.scenario('run', 'wrong', code=1)
        self.assertIn('FAILED: drill-guest is in ERROR: server.status is "ACTIVE"', out)
        self.assertNotIn('a later step', out)
        self.assertIn('A drill: not as expected', out)
        self.assert_restored()

    def test_a_cloud_without_images(self):
        """Such as that of a file with `defaults: false`."""
        image = client_connections.connect(f'{self.state_dir}/clouds.yaml').image
        self.addCleanup(self.control.post, 'reset')
        for each in list(image.images()):
            image.delete_image(each.id)
        out = self.scenario('run', 'neutron-slow', code=1)
        self.assertIn('FAILED: ', out)
        self.assertIn('the cloud has no images', out)

    def exam(self, lines, code=0):
        """Return what the exam of a drill prints to a person who types lines."""
        with fixtures.MonkeyPatch('sys.stdin', lines):
            out = self.scenario('run', 'cell-database-down', '--exam', code=code)
        return [json.loads(line) for line in out.splitlines()]

    def test_exam(self):
        def lines():
            yield 'nonsense\n'
            self.control.post('cell', name='cell1', state='up')
            yield '{"done": true}\n'

        told, error, judged = self.exam(lines())
        self.assertIn('UNKNOWN', told['symptom'])
        self.assertNotIn('database', told['symptom'])
        self.assertIn('must be', error['error'])
        self.assertEqual('passed', judged['result'])
        _told, judged = self.exam(iter(()), code=1)
        self.assertIn('given up', [event['detail'] for event in judged['timeline']])
        self.assertEqual('not as expected', judged['result'])
        self.assert_restored()

    def test_killed(self):
        """A drill without a reader restores the cloud. One that was killed is undone on request."""
        command = [*processes.COMMAND, 'scenario', 'run', 'quota-race']
        unread = subprocess.Popen(
            [*command, '--state-dir', self.state_dir],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        unread.stdout.close()
        self.assertNotIn('Traceback', unread.stderr.read())
        unread.stderr.close()
        self.assertEqual(141, unread.wait())
        self.assert_restored()
        killed = self.begin('quota-race')
        killed.kill()
        killed.wait()
        self.assertIn('Scenario quota-race is undone', self.scenario('undo'))
        self.assert_restored()
        self.assertEqual({'undone': None}, json.loads(self.scenario('undo', '--json')))

    def test_refused(self):
        self.assertIn('does not exist', self.scenario('run', 'nosuch', code=2))
        self.control.post('faults/add', verb='spawn')
        self.assertIn('has injected faults', self.scenario('run', 'neutron-slow', code=2))
        self.control.post('faults/clear')
        self.control.post('clock', action='rate', rate=5)
        self.assertIn('a clock with another rate', self.scenario('run', 'neutron-slow', code=2))
        self.control.post('clock', action='resume')
        server = self.compute.create_server(
            name='drill-mine',
            flavor_id=next(self.compute.flavors()).id,
            image_id=next(self.connection.image.images()).id,
            networks='none',
        )
        self.compute.wait_for_server(server)
        said = self.scenario('run', 'neutron-slow', code=2)
        self.assertIn('servers whose names begin with drill-', said)
        self.compute.delete_server(server)
        self.compute.wait_for_delete(server)
        disabled = [
            service
            for service in self.compute.services(binary='nova-compute')
            if service.host in ('cell1-host1', 'cell2-host2')
        ]
        for service in disabled:
            self.compute.disable_service(service)
        said = self.scenario('run', 'host-dies-in-a-drain', code=2)
        self.assertIn('The cloud has 2 in cell1, 2 in cell2', said)
        for service in disabled:
            self.compute.enable_service(service)
        self.assert_restored()


def drill_text(status):
    """Return a drill whose server is expected to have a status."""
    return f"""
title: A drill
purpose: a test
hosts: {{source: near}}
seconds: 5
look_at: [nothing]
steps:
  - text: Let snapshots fail
    control: {{name: faults/add, arguments: {{verb: snapshot}}}}
  - text: Boot $guest
    boot: {{servers: [guest], host: $source}}
  - text: $guest is in ERROR
    signal: {{get: /servers/$guest, at: server.status, is: {status}, within: 0.1}}
  - text: a later step
    boot: {{servers: [other], host: $source}}
verify: consistent
exam:
  after: Let snapshots fail
  symptom: There is no server.
  task: Boot one.
  solved: [{{text: A server, signal: {{get: /servers, at: 'servers.#', is: 1}}}}]
"""
