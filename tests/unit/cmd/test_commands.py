"""Every command has an example, --json where it prints data, and documented exit codes."""

import ast
import contextlib
import functools
import io
import os
import re
import shlex

import fixtures
import testtools

from nova_lite.cmd import main
from tests.fixtures import commands
from tests.fixtures import units

PACKAGE = units.ROOT / 'nova_lite' / 'cmd'
LINES = 2160
# They print how they proceed, or what `openstack` prints.
WITHOUT_DATA = {'stop', 'demo', 'completion', 'openstack', 'import'}
# They need no cloud that runs, or report that none does.
WITHOUT_CLOUD = {'up', 'demo', 'status', 'list', 'stop', 'completion'}
# Actions that need no cloud.
OF_FILES = {('snapshot', 'show'), ('saga', 'steps'), ('scenario', 'list'), ('scenario', 'show')}
EXAMPLE = re.compile(
    r'^(?:Examples?:)? +(?:eval "\$\()?(nova-lite .*?)(?:\)"| > .+)?$', re.MULTILINE
)
ACTION = re.compile(r'^    ([a-z-]+)(?: {2,}|$)', re.MULTILINE)
ROW = r'^   \* - ``nova-lite (\S+)``\n     - .+\n     - (.+)'
PAGE = units.ROOT / 'doc' / 'source' / 'reference' / 'commands.rst'


@functools.cache
def help_of(*words):
    """Return what --help of a command or of its action prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main.parser(words[:1]).parse_args([*words, '--help'])
    return printed.getvalue()


def example(words):
    """Return the arguments of an example of a command, and of its action if it has one."""
    shown = [shlex.split(line)[1:] for line in EXAMPLE.findall(help_of(*words))]
    return next((argv for argv in shown if tuple(argv[: len(words)]) == words), shown[0])


def with_actions():
    """Yield the words of each command, once for each of its actions."""
    for name in main.COMMANDS:
        text = help_of(name)
        actions = ACTION.findall(text) if 'ACTION ...' in text else []
        yield from [(name, action) for action in actions] or [(name,)]


class CommandsTest(testtools.TestCase):
    def test_examples_are_accepted(self):
        for words in with_actions():
            shown = EXAMPLE.findall(help_of(*words))
            self.assertNotEqual([], shown, words)
            for line in shown:
                for example in line.split(' && '):
                    program, *argv = shlex.split(example)
                    self.assertEqual(('nova-lite', words[0]), (program, argv[0]))
                    main.parser([argv[0]]).parse_args(argv)

    def test_data_as_json(self):
        lacking = {words for words in with_actions() if '--json ' not in help_of(*words)}
        self.assertEqual({(name,) for name in WITHOUT_DATA}, lacking)

    def test_errors_say_what_to_do(self):
        """Without a cloud: how to start or choose one. With a wrong option: which there are."""
        directory = os.path.join(self.useFixture(fixtures.TempDir()).path, 'none')
        for words in with_actions():
            if words[0] not in WITHOUT_CLOUD and words not in OF_FILES:
                code, _out, errors = commands.run(*example(words), '--state-dir', directory)
                self.assertEqual(2, code, words)
                self.assertRegex(errors, '`nova-lite |--state-dir', words)
            if words == ('openstack',):
                # The client's own options follow.
                continue
            code, _out, errors = commands.run(*words, '--nonsense')
            self.assertEqual(2, code, words)
            self.assertIn(f'`nova-lite {" ".join(words)} --help`', errors)

    def test_seconds(self):
        for line in (
            'saga wait a --timeout',
            'saga step a --timeout',
            'stop --timeout',
            'drain-host h --timeout',
            'evacuate-host h --poll',
            'verify --settle',
            'verify --bound',
            'verify --audit-bound',
            'bench boot --seconds',
            'bench boot --poll',
        ):
            words = line.split()
            main.parser(words[:1]).parse_args([*words, '0.5'])
            for text in ('nan', 'inf', '-1', 'soon'):
                printed = io.StringIO()
                with contextlib.redirect_stderr(printed), testtools.ExpectedException(SystemExit):
                    main.parser(words[:1]).parse_args([*words[:-1], f'{words[-1]}={text}'])
                self.assertIn(f'{words[-1]}: {text!r} is not a number', printed.getvalue())

    def test_clouds_are_named(self):
        """By a directory or a name. That of `demo` or `replay` ends with the command."""
        own = ('demo', 'list', 'completion', 'replay')
        for words in with_actions():
            shown = {each in help_of(*words) for each in ('--state-dir DIR', '--name NAME')}
            self.assertEqual({words[0] not in own}, shown, words)

    def test_each_action_has_a_help_of_its_own(self):
        """With an example of that action, and a description that no other action has."""
        texts = [
            help_of(*words).partition('\n\n')[2].partition('\n\n')[0] for words in with_actions()
        ]
        self.assertEqual(len(texts), len({*texts}))
        for words in with_actions():
            self.assertEqual(words, tuple(example(words)[: len(words)]))

    def test_exit_codes_are_documented(self):
        rows = re.findall(r'^   \* - ``nova-lite (\S+)``\n     - (.+)', PAGE.read_text(), re.M)
        self.assertEqual(main.COMMANDS, dict(rows))

    def test_where_1_is_used_is_documented(self):
        """By what returns an exit code. tests/functional/test_exit_codes.py runs the commands."""
        rows = re.findall(ROW, PAGE.read_text(), re.M)
        documented = {name for name, meaning in rows if not meaning.startswith('not used')}
        returning = set()
        for name in main.COMMANDS:
            tree = ast.parse((PACKAGE / f'{main.module_of(name)}.py').read_text())
            (run,) = (
                node
                for node in tree.body
                if isinstance(node, ast.FunctionDef) and node.name == 'run'
            )
            if any(isinstance(node, ast.Return) and node.value for node in ast.walk(run)):
                returning.add(name)
        self.assertEqual(returning, documented)

    def test_the_package_only_parses_arguments(self):
        trees = [ast.parse(path.read_text()) for path in PACKAGE.glob('*.py')]
        count = sum(
            node.end_lineno - node.lineno + 1
            for tree in trees
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
        )
        self.assertLessEqual(count, LINES, 'move what a command does to a library')
