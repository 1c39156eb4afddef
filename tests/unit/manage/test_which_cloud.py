"""The cloud that nova-lite-manage and nova-lite-status mean, which both print."""

import contextlib
import io
import os
import shlex

import fixtures
import testtools

from nova_lite.cmd import manage
from nova_lite.cmd import status
from nova_lite.db import schema_migration
from nova_lite.lab.launcher import os_variables
from nova_lite.lab.launcher import state_dir
from tests.fixtures import templates

COMMANDS = ((manage.main, 'cell_v2', 'list_cells'), (status.main, 'upgrade', 'check', '--json'))
# Rows of (program, arguments, cause, way out).
WRONG = (
    (manage.main, 'cell_v3', "'cell_v3' does not exist", "Did you mean 'cell_v2'?"),
    (manage.main, 'cell_v2 list_cell', "'list_cell'", "Did you mean 'list_cells'?"),
    (manage.main, 'cell_v2 list_cells --verbos x', 'no option --verbos', "'--verbose'?"),
    (manage.main, 'cell_v2 list_cells --verbose x', "such as 'x'", '--help'),
    (manage.main, 'cell_v2 list_cells --cel', 'no option --cel', '--help'),
    (manage.main, '--state-dir', 'expected one argument', '--help'),
    (manage.main, "--state-dir '' db sync", 'it is empty', 'name a directory'),
    (manage.main, '--state-dir FILE db sync', 'is a file', '`nova-lite list`'),
    (manage.main, '--config-file /nowhere db sync', '/nowhere', ''),
    (manage.main, '--state-dir A --config-file /nowhere db sync', '--config-file', 'Omit one'),
    (manage.main, '--state-dir A --config-dir /nowhere db sync', '--config-dir', 'Omit one'),
    (status.main, '--config-file /nowhere upgrade check', '/nowhere', ''),
    (status.main, '--state-dir A --config-file FILE upgrade check', '--config-file', 'Omit one'),
    (status.main, '--state-dir FILE upgrade check', 'is a file', '`nova-lite list`'),
    (status.main, 'config check /nowhere', '/nowhere', 'No such file'),
    (status.main, 'config', 'required', 'verb'),
)
# The checks also find that placement does not answer.
FAILURES = 2


class OperatorsCloudTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.base = self.useFixture(fixtures.TempDir()).path
        for name in (state_dir.VARIABLE, *os_variables.VARIABLES):
            self.useFixture(fixtures.EnvironmentVariable(name))
        for name in ('HOME', 'XDG_STATE_HOME'):
            self.useFixture(fixtures.EnvironmentVariable(name, self.base))
        self.database = os.path.join(self.base, 'api.sqlite')
        templates.write(self.database, schema_migration.upgrade, 'api')

    def made(self, name, file='etc/control.conf', made='metadata-secret'):
        """Make a directory with the configuration of a control daemon; return the directory."""
        directory = os.path.join(self.base, name)
        path = os.path.join(directory, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as config:
            config.write(f'[api_database]\nconnection = sqlite:///{self.database}\n')
            config.write('[placement]\nconnect_retries = 0\nauth_type = none\n')
            config.write('endpoint_override = http://127.0.0.1:1\n')
        with open(os.path.join(directory, made), 'w') as mark:
            mark.write('x')
        return directory

    def all_run(self, *options, **variables):
        """Yield (exit code, standard output, standard error) of both commands."""
        with contextlib.ExitStack() as changed:
            for name, value in variables.items():
                changed.enter_context(fixtures.EnvironmentVariable(name, value))
            for main, *words in COMMANDS:
                out, err = io.StringIO(), io.StringIO()
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    code = main([*options, *words])
                yield code, out.getvalue(), err.getvalue()

    def assert_uses(self, text, *options, **variables):
        for code, out, err in self.all_run(*options, **variables):
            self.assertIn(code, (0, FAILURES), err)
            self.assertTrue(err.startswith(text), err)
            self.assertNotIn('connection is not set', out)

    def assert_refused(self, *texts, options=(), **variables):
        for code, _out, err in self.all_run(*options, **variables):
            self.assertEqual(255, code, err)
            for text in texts:
                self.assertIn(text, err)

    def test_clouds(self):
        one = self.made('one')
        clients = {os_variables.FILE: os.path.join(one, 'clouds.yaml')}
        self.assert_uses(f'Cloud in {one}, stopped\n', '--state-dir', one)
        named = f'Cloud in {one}, stopped (named by {state_dir.VARIABLE})\n'
        self.assert_uses(named, **{state_dir.VARIABLE: one})
        self.assert_uses(f'Cloud in {one}, stopped (named by {os_variables.FILE})\n', **clients)
        self.assert_refused(one, '--state-dir', **clients, NOVA_LITE_STATE=self.made('two'))
        place = self.made('nova-lite')
        self.assert_uses(f'Cloud in {place}, stopped\n')

    def test_files(self):
        path = os.path.join(self.made('files'), 'etc', 'control.conf')
        variables = {state_dir.VARIABLE: self.made('one')}
        self.assert_uses(f'Configuration in {path}\n', '--config-file', path, **variables)

    def test_deployment(self):
        """The configuration of another daemon in the directory is not read."""
        place = self.made('deployed', file='control.conf', made='unread')
        with open(os.path.join(place, 'zz-compute.conf'), 'w') as config:
            config.write('[api_database]\nconnection = nonsense\n')
        self.assert_uses(f'Deployment of {place}, ', '--config-dir', place)
        self.assert_uses(f'Deployment of {place}, ', NOVA_LITE_STATE=place)

    def test_usual_directories(self):
        """Files that an operator has installed come before the default cloud."""
        self.made('nova-lite')
        for name in ('nova-lite-manage.conf', 'nova-lite-status.conf'):
            self.made('.nova-lite', file=name, made='x')
        self.assert_uses(f'Configuration in {self.base}/.nova-lite/nova-lite-')

    def test_wrong_usages(self):
        path = os.path.join(self.base, 'file')
        with open(path, 'w'):
            pass
        for main, line, cause, way_out in WRONG:
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                try:
                    code = main(shlex.split(line.replace('FILE', path)))
                except SystemExit as ended:
                    code = ended.code
            self.assertIn(code, (1, 2, 255), line)
            for text in (cause, way_out):
                self.assertIn(text, err.getvalue(), line)
            self.assertNotIn('Traceback', err.getvalue(), line)

    def test_nothing(self):
        self.assert_refused('--state-dir', '--config-file', state_dir.VARIABLE)
        absent = os.path.join(self.base, 'absent')
        self.assert_refused(absent, 'nova-lite up', options=('--state-dir', absent))
        empty = os.path.join(self.base, 'empty.conf')
        with open(empty, 'w'):
            pass
        out = [out + err for _code, out, err in self.all_run('--config-file', empty)]
        for text in out:
            self.assertIn(f'connection is not set in {empty}', text)
            self.assertIn('--state-dir', text)
