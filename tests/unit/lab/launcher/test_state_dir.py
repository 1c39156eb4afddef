"""The directory of the cloud that a command uses."""

import contextlib
import io
import shlex

import fixtures
import testtools

from nova_lite.cmd import main
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud


class StateDirTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', '/base'))
        self.useFixture(fixtures.EnvironmentVariable(state_dir.VARIABLE, None))

    def found(self, *argv):
        args = main.parser([argv[0]]).parse_args(argv)
        return which_cloud.of(args).directory

    def test_the_default(self):
        self.assertEqual('/base/nova-lite', self.found('stop'))
        self.useFixture(fixtures.EnvironmentVariable(state_dir.VARIABLE, '/other'))
        self.assertEqual('/other', self.found('stop'))
        self.assertEqual('/x', self.found('stop', '--state-dir', '/x'))

    def test_a_name(self):
        expected = '/base/nova-lite-clouds/a-1'
        for words in (('up',), ('stop',), ('clock', 'show'), ('undrain', 'host')):
            self.assertEqual(expected, self.found(*words, '--name', 'a-1'))

    def test_commands_for_a_cloud(self):
        for directory, expected in (
            ('/base/nova-lite', 'nova-lite stop'),
            ('/base/nova-lite-clouds/a-1', 'nova-lite stop --name a-1'),
            ('/base/a b', "nova-lite stop --state-dir '/base/a b'"),
        ):
            self.assertEqual(expected, state_dir.command('stop', directory))
            words = shlex.split(expected)[1:]
            self.assertEqual(directory, self.found(*words))
        self.useFixture(fixtures.EnvironmentVariable(state_dir.VARIABLE, '/other'))
        self.assertEqual('nova-lite env', state_dir.command('env', '/other'))
        self.assertEqual(
            'nova-lite env --state-dir /base/nova-lite', state_dir.command('env', '/base/nova-lite')
        )

    def test_help_where_the_home_has_a_percent_sign(self):
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', '/100%done'))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), testtools.ExpectedException(SystemExit):
            self.found('stop', '--help')
        self.assertIn('/100%done/nova-lite-clouds/NAME', ''.join(printed.getvalue().split()))

    def test_names_that_are_refused(self):
        for args in (
            ('--name', '../x'),
            ('--name', ''),
            ('--name', '.x'),
            ('--name', 'x/y'),
            ('--name', 'x', '--state-dir', '/x'),
        ):
            printed = io.StringIO()
            with contextlib.redirect_stderr(printed), testtools.ExpectedException(SystemExit):
                self.found('stop', *args)
            self.assertIn('argument --', printed.getvalue())
