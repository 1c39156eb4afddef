"""`nova-lite clock` with a cloud in a process: a day passes in seconds.

It passes by the script of doc/source/howto/clock.rst.
"""

import datetime
import json

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from tests.fixtures import commands
from tests.fixtures import howto
from tools import sample

LIMIT_S = 300
SERVERS = 4
DAY_S = 86400


@sample.in_turns(2, first=1)
class ClockTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.state_dir = self.useFixture(fixtures.TempDir()).join('state')
        self.addCleanup(self.run_command, 'stop')
        self.up('--set', 'DEFAULT.resize_confirm_window=3600')

    def up(self, *args):
        """Start the cloud; self.compute is of its administrator."""
        options = ['--state-dir', self.state_dir, '--port', '0', '--profile', 'instant']
        size = ['--cells', '1', '--hosts', '2']
        code, printed, errors = commands.forked(
            ['up', '--detach', *options, *size, *args], timeout_s=LIMIT_S
        )
        self.assertEqual((0, ''), (code, errors), printed)
        path = f'{self.state_dir}/clouds.yaml'
        self.cloud = client_connections.connect(path, compute_api_version='2.37')
        self.compute = self.cloud.compute

    def run_command(self, name, *args):
        """(exit code, standard output, standard error) of a subcommand for the cloud."""
        return commands.run(*name.split(), '--state-dir', self.state_dir, *args)

    def clock(self, *words):
        """Return what `nova-lite clock` shows."""
        code, printed, errors = self.run_command(f'clock {" ".join(words)}', '--json')
        self.assertEqual((0, ''), (code, errors))
        return json.loads(printed)

    def wait(self, server, status):
        return self.compute.wait_for_server(server, status=status, interval=0.1, wait=LIMIT_S)

    def resized(self):
        """Servers that wait for the confirmation of their resize."""
        flavors = {each.name: each.id for each in self.compute.flavors()}
        image = next(iter(self.cloud.image.images()))
        servers = [
            self.compute.create_server(
                name=f'server-{number}',
                flavor_id=flavors['m1.tiny'],
                image_id=image.id,
                networks='none',
            )
            for number in range(SERVERS)
        ]
        for server in servers:
            self.wait(server, 'ACTIVE')
            self.compute.resize_server(server, flavors['m1.small'])
        return [self.wait(server, 'VERIFY_RESIZE') for server in servers]

    def test_a_day(self):
        servers = self.resized()
        headers = {'X-Auth-Token': self.compute.session.get_token()}
        self.assertEqual(200, self.answer(headers))
        due = runtime.now() + datetime.timedelta(hours=1)
        printed = self.useFixture(howto.Scripts()).play(
            'clock/day.sh', self.state_dir, user='nova-lite-demo'
        )
        for text in ('ACTIVE', 'm1.small', 'confirmResize'):
            self.assertIn(text, printed)
        shown = self.clock('show')
        self.assertEqual((DAY_S, False), (round(shown['ahead_s']), shown['frozen']))
        self.assertEqual(401, self.answer(headers))
        # The session asks for another token.
        self.assertEqual(
            ['ACTIVE'] * SERVERS, [self.compute.get_server(each.id).status for each in servers]
        )
        self.assertEqual({'up'}, {each.state for each in self.compute.services()})
        event = next(iter(self.compute.server_actions(servers[0].id)))
        self.assertEqual('confirmResize', event.action)
        self.assertGreater(event.start_time, due.strftime('%Y-%m-%dT%H:%M:%S'))

        # The next start continues there.
        self.assertEqual(0, self.run_command('stop')[0])
        self.up()
        self.assertLess(DAY_S - 1, self.clock('show')['ahead_s'])
        code, printed, errors = self.run_command('verify')
        self.assertEqual((0, 'No invariant is violated.\n'), (code, printed), errors)
        self.assertEqual({'up'}, {each.state for each in self.compute.services()})
        self.freeze_and_rate()

    def answer(self, headers):
        """The status code of a list of servers with a token."""
        return self.compute.session.get(
            self.compute.get_endpoint() + '/servers',
            headers=headers,
            authenticated=False,
            raise_exc=False,
        ).status_code

    def freeze_and_rate(self):
        """And what is refused."""
        frozen = self.clock('freeze')
        self.assertTrue(frozen['frozen'])
        self.assertEqual(frozen['now'], self.clock('show')['now'])
        self.assertEqual(500, self.clock('rate', '500')['rate'])
        self.assertEqual(1, self.clock('resume')['rate'])
        for words, reason in (
            ('advance 0s', 'seconds must be above 0'),
            ('advance 400d', 'seconds must be above 0 and at most'),
            ('rate 0.5', 'rate must be from 1'),
        ):
            code, printed, errors = self.run_command(f'clock {words}')
            self.assertEqual((2, ''), (code, printed))
            self.assertIn(f'nova-lite clock: {reason}', errors)
        code, printed, errors = self.run_command('clock advance soon')
        self.assertEqual((2, ''), (code, printed))
        self.assertIn('such as 90s, 1h30m or 2d', errors)
