"""drain-host, undrain and evacuate-host on an embedded cloud.

In this process where the output matters, in one of their own where the exit code or a
terminal does.
"""

import contextlib
import json
import os
import pty
import signal

from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import live_moving
from tests.functional import base
from tests.sim.cases import loading
from tools import sample

HOST, OTHER = 'cell1-host1', 'cell1-host2'
COMMAND = commands.MODULE
QUICK = ('--yes', '--poll', '0.05', '--json')
NO_CHECK = 'extends: instant\nfailures: [{verb: check_live_migration}]\n'

load_tests = loading.load_tests


class HostTestCase(base.CloudTest):
    settings = {'cells': 1, 'hosts': 3}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage = live_moving.LiveMoving(cls.cloud)

    def setUp(self):
        super().setUp()
        # One test that fails in the middle must not leave the others without the host.
        self.addCleanup(self.stage.change_service, HOST, status='enabled')

    def command(self, *argv, code=0):
        """(standard output, standard error) of `nova-lite ARGV`, which must exit so."""
        found, out, err = commands.run(*argv, '--state-dir', self.cloud.state_dir)
        self.assertEqual(code, found, f'{out}{err}')
        return out, err

    def outcomes(self, *argv, code=0):
        """{name: (how, outcome, host, reason)} of a run with --json."""
        found = json.loads(self.command(*argv, *QUICK, code=code)[0])
        self.assertEqual(HOST, found['host'])
        keys = ('how', 'outcome', 'host', 'reason')
        return {each['name']: tuple(map(each.get, keys)) for each in found['servers']}

    def host_of(self, server):
        return self.cloud.admin.compute.get_server(server.id).compute_host


@sample.in_turns(2)
class MaintenanceTest(HostTestCase):
    def test_drain(self):
        live, cold, locked = (
            self.cloud.boot(name, host=HOST) for name in ('live', 'cold', 'locked')
        )
        self.cloud.admin.compute.stop_server(cold)
        self.cloud.wait(cold, 'SHUTOFF')
        self.stage.act(locked, 'lock', {'locked_reason': 'keep'})

        shown, _err = self.command('drain-host', HOST, '--plan')
        self.assertIn(f'Plan for {HOST}: 1 live, 1 cold, 1 stays', shown)
        self.assertIn('locked: keep', shown)
        shown, _err = self.command('drain-host', HOST, '--plan', '--live-only', '--json')
        self.assertEqual(
            {'live': 'live', 'cold': 'stays', 'locked': 'stays'},
            {each['name']: each['how'] for each in json.loads(shown)['plan']},
        )
        self.assertEqual('enabled', self.stage.service(HOST)['status'])

        found = self.outcomes('drain-host', HOST, code=1)
        self.assertEqual(('live', 'moved'), found['live'][:2])
        self.assertEqual(self.host_of(live), found['live'][2])
        self.assertEqual(('cold', 'waits'), found['cold'][:2])
        self.assertEqual(('stays', 'left', None, 'locked: keep'), found['locked'])
        self.assertEqual(HOST, self.host_of(locked))
        service = self.stage.service(HOST)
        self.assertEqual('disabled', service['status'])
        self.assertTrue(service['disabled_reason'].startswith('drain: '), service)

        # Goes on where it stopped; told of the target and that cold ones are to be confirmed.
        self.stage.act(locked, 'unlock')
        said, _err = self.command(
            'drain-host', HOST, '--confirm', '--target', OTHER, '--yes', '--poll', '0.1'
        )
        self.assertIn(f'locked: moved to {OTHER} (live)', said)
        self.assertIn(f'cold: moved to {self.host_of(cold)} (confirm)', said)
        self.assertIn(f'{HOST}: 2 moved', said)
        self.assertEqual('SHUTOFF', self.status(cold))
        self.assertEqual({}, self.outcomes('drain-host', HOST))
        self.assertIn('is enabled', self.command('undrain', HOST)[0])
        self.assertEqual('enabled', self.stage.service(HOST)['status'])

    def test_soft_deleted(self):
        server = self.cloud.boot(host=HOST)
        self.soft_delete(server)
        (found,) = self.outcomes('drain-host', HOST, code=1).values()
        self.assertEqual(('stays', 'left'), found[:2])
        self.assertIn('force-delete', found[3])
        self.cloud.admin.compute.delete_server(server, force=True)
        self.cloud.wait_gone(server)
        self.assertEqual({}, self.outcomes('drain-host', HOST))

    def test_live_refused(self):
        server = self.cloud.boot(host=HOST)
        self.addCleanup(self.stage.behave, 'extends: instant\n')
        self.stage.behave(NO_CHECK)
        found = self.outcomes('drain-host', HOST, '--live-only', code=1)['server']
        self.assertEqual(('live', 'left'), found[:2])
        self.assertIn('No valid host', found[3])
        said, told = self.command('drain-host', HOST, *QUICK, '--confirm')
        self.assertIn(
            'server: live migration was refused, using cold migration: No valid host', told
        )
        (moved,) = json.loads(said)['servers']
        self.assertEqual(('cold', 'moved'), (moved['how'], moved['outcome']))
        self.assertEqual((self.host_of(server), 'ACTIVE'), (moved['host'], self.status(server)))
        self.command('undrain', HOST)

    def test_a_move_that_goes_on(self):
        server = self.cloud.boot(host=HOST)
        self.addCleanup(self.stage.behave, 'extends: instant\n')
        self.stage.behave(live_moving.ENDLESS)
        found = self.outcomes('drain-host', HOST, '--timeout', '0.1', code=1)['server']
        self.assertEqual(('live', 'left', None, 'still in progress: migrating'), found)
        # It is not asked for again, but watched.
        found = self.outcomes('drain-host', HOST, '--timeout', '0.1', code=1)['server']
        self.assertEqual(('follow', 'left', None, 'still in progress: migrating'), found)
        self.assertEqual(1, len(self.stage.migrations(server)))
        self.stage.force_complete(server, self.stage.watched(server, 'running'))
        self.stage.ended(server)
        self.assertEqual({}, self.outcomes('drain-host', HOST))
        self.command('undrain', HOST)

    def test_what_was_disabled_otherwise(self):
        self.stage.change_service(HOST, status='disabled', disabled_reason='broken fan')
        self.command('drain-host', HOST, *QUICK)
        self.assertEqual('broken fan', self.stage.service(HOST)['disabled_reason'])
        shown, _err = self.command('undrain', HOST, code=1)
        self.assertIn('broken fan', shown)
        shown, _err = self.command('undrain', HOST, '--force', '--json')
        self.assertEqual('enabled', json.loads(shown)['status'])

    def test_evacuate(self):
        server = self.cloud.boot('web', host=HOST)
        self.stage.act(server, 'lock')
        said = ''.join(self.command('evacuate-host', HOST, '--yes', code=2))
        self.assertIn('is up. Use `nova-lite drain-host`', said)
        self.assertIn('--force-down', said)
        self.stage.power_off(HOST)
        shown, _err = self.command('evacuate-host', HOST, '--force-down', '--plan')
        self.assertIn('1 evacuate', shown)
        self.assertFalse(self.stage.service(HOST)['forced_down'])
        found = self.outcomes('evacuate-host', HOST, '--force-down', '--target', OTHER)
        self.assertEqual(('evacuate', 'moved', OTHER, None), found['web'])
        self.assertTrue(self.stage.service(HOST)['forced_down'])
        self.assertIn('is down', self.command('drain-host', HOST, *QUICK, code=2)[1])
        self.assertEqual({}, self.outcomes('evacuate-host', HOST))
        shown, _err = self.command('undrain', HOST, code=1)
        self.assertIn(f'{HOST} stays forced down: Host {HOST} cannot be up before', shown)
        self.assertTrue(self.stage.service(HOST)['forced_down'])
        self.stage.come_back(HOST)
        self.assertEqual('ACTIVE', self.status(server))

    def test_undrain_of_a_host_that_is_forced_down(self):
        self.addCleanup(self.stage.change_service, HOST, forced_down=False)
        self.command('evacuate-host', HOST, '--force-down', *QUICK)
        shown, _err = self.command('undrain', HOST)
        self.assertIn(f'{HOST} is enabled and no longer forced down', shown)
        self.assertFalse(self.stage.service(HOST)['forced_down'])
        self.stage.change_service(HOST, forced_down=True)
        self.stage.change_service(HOST, status='disabled', disabled_reason='drain: fan')
        found = json.loads(self.command('undrain', HOST, '--json')[0])
        self.assertEqual(('enabled', False), (found['status'], found['forced_down']))
        self.stage.change_service(HOST, forced_down=True)
        self.stage.change_service(HOST, status='disabled', disabled_reason='broken fan')
        self.command('undrain', HOST, code=1)
        self.assertTrue(self.stage.service(HOST)['forced_down'])
        self.command('undrain', HOST, '--force')
        service = self.stage.service(HOST)
        self.assertEqual(('enabled', False), (service['status'], service['forced_down']))
        self.assertIn('is already enabled', self.command('undrain', HOST)[0])

    def test_wrong_use(self):
        for argv, words in (
            (('drain-host', 'nowhere'), 'compute host nowhere does not exist'),
            (('drain-host', HOST, '--target', HOST), '--target'),
            (('evacuate-host', HOST, '--target', 'nowhere'), 'compute host nowhere does not exist'),
            (('undrain', 'nowhere'), 'compute host nowhere does not exist'),
            (('drain-host', HOST, '--cold-only', '--live-only'), 'not allowed with'),
            (('drain-host', HOST, '--max', '0'), '--max'),
        ):
            self.assertIn(words, self.command(*argv, code=2)[1])


@sample.in_turns(2)
class ProcessTest(HostTestCase):
    plain = True

    @property
    def environment(self):
        clouds = self.cloud.cloud.places.path('clouds.yaml')
        return {**os.environ, 'OS_CLIENT_CONFIG_FILE': clouds, 'OS_CLOUD': 'nova-lite'}

    def terminal(self, answer, *argv, code):
        """Return what `nova-lite ARGV` shows on a terminal where its question is answered so."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        os.write(ours, answer.encode() + b'\n')
        running = forking.command(
            [COMMAND, *argv], env=self.environment, files=(theirs, theirs, theirs)
        )
        os.close(theirs)
        shown = b''
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while True:
                shown += os.read(ours, 4096)
        self.assertEqual(code, running.wait(60), shown)
        return shown.decode()

    def process(self, *argv, code):
        """Return what `nova-lite ARGV` prints when it runs by itself, told of the cloud by OS_*."""
        found, out, errors = forking.run([COMMAND, *argv], timeout_s=120, env=self.environment)
        self.assertEqual(code, found, f'{out}{errors}')
        return out + errors

    def begun(self, *argv):
        """(process, file of what it prints) of `nova-lite ARGV`."""
        ours, theirs = os.pipe()
        output = os.fdopen(ours)
        self.addCleanup(output.close)
        with os.fdopen(theirs, 'w') as written:
            running = forking.command(
                [COMMAND, *argv], env=self.environment, files=(None, written, 2)
            )
        self.addCleanup(running.kill)
        return running, output

    def test_exit_codes(self):
        server = self.cloud.boot('web', host=HOST)
        self.assertIn('use --yes', self.process('drain-host', HOST, code=2))
        self.stage.act(server, 'lock')
        self.process('drain-host', HOST, '--yes', code=1)
        self.assertIn('is enabled', self.command('undrain', HOST)[0])

    def test_interrupted(self):
        servers = [self.cloud.boot(name, host=HOST) for name in ('one', 'two')]
        self.addCleanup(self.stage.behave, 'extends: instant\n')
        self.stage.behave(live_moving.ENDLESS)
        running, output = self.begun('drain-host', HOST, '--yes', '--max', '1', '--poll', '0.1')
        begun = next(line for line in output if line.endswith(': live\n'))
        name = begun.partition(':')[0]
        running.send_signal(signal.SIGINT)
        told = next(line for line in output if line.startswith('Interrupted'))
        self.assertIn(f'In progress: {name}.', told)
        (moving,) = (server for server in servers if server.name == name)
        migration = self.stage.watched(moving, 'running')
        running.send_signal(signal.SIGINT)
        self.assertEqual(1, running.wait(60))
        rest = output.read()
        self.assertIn(f'{name}: left: still in progress: migrating', rest)
        self.assertIn('left: not started: the command was interrupted', rest)
        self.stage.force_complete(moving, migration)
        self.stage.ended(moving)
        self.command('undrain', HOST)

    def test_on_a_terminal(self):
        server = self.cloud.boot('web', host=HOST)
        argv = ('drain-host', HOST, '--poll', '0.1')
        shown = self.terminal('n', *argv, code=1)
        self.assertIn(f'Disable {HOST} and move 1 server? [y/N]', shown)
        self.assertIn('Nothing was changed', shown)
        self.assertEqual('enabled', self.stage.service(HOST)['status'])
        shown = self.terminal('y', *argv, code=0)
        self.assertIn(f'[1/1] web: moved to {self.host_of(server)} (live)', shown)
        self.assertIn('leaving', shown)
        self.command('undrain', HOST)
