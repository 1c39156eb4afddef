"""Every test is run by tools/test.sh or by `tox -e nightly`, and by one of them alone."""

import collections
import configparser
import pathlib
import shlex
import unittest

import testtools

from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.functional_rabbit import test_api_databases
from tests.functional_rabbit import test_simcloud
from tests.nightly import test_api_databases as nightly_api_databases
from tests.nightly import test_simcloud as nightly_simcloud

ROOT = pathlib.Path(__file__).parents[3]
# They start what tests share, and then the command that follows.
SHARING = ('tests.sim.cases.interpreter', 'tests.fixtures.forking')
# stestr by another name.
FORKED = 'tools.forked'
# What follows may choose among the tests.
OPTIONS = ('--concurrency', '{posargs}')


def environments():
    """{name: [[word of a command, ...], ...]} of what a plain tox runs, and of nightly."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / 'tox.ini', encoding='utf-8')
    names = parser['tox']['envlist'].replace('\n', ',').split(',')
    return {
        name: [shlex.split(line) for line in _commands(parser, name).splitlines() if line]
        for name in (*names, 'nightly')
    }


def _commands(parser, name):
    section = f'testenv:{name}'
    found = section if parser.has_section(section) else 'testenv'
    return parser[found]['commands'].replace('\\\n', ' ')


def whole(command):
    """The directory whose tests the command runs all; None for another command."""
    while _module(command) in SHARING:
        command = command[3:]
    if _module(command) == FORKED:
        command = ['stestr', *command[3:]]
    if command[0] != 'stestr':
        return None
    before, after = command[1 : command.index('run')], command[command.index('run') + 1 :]
    if set(after[::2]) - set(OPTIONS):
        return None
    return before[before.index('--test-path') + 1] if before else 'tests/unit'


def _module(command):
    """The module that a command runs with the environment's interpreter."""
    return command[2] if command[:2] == ['{envpython}', '-m'] else None


class SelectionTest(testtools.TestCase):
    def test_each_directory_is_run_whole(self):
        found = {path.relative_to(ROOT).parts[1] for path in ROOT.glob('tests/**/test_*.py')}
        run = [
            directory
            for commands in environments().values()
            for command in commands
            if (directory := whole(command))
        ]
        self.assertEqual(
            collections.Counter(f'tests/{each}' for each in found | {'gabbits'}),
            collections.Counter(run),
        )

    def test_each_case_is_run_over_both_databases(self):
        cases = (*test_simcloud.here(), *test_simcloud.races(), *test_simcloud.others())
        self.check(cases, test_simcloud, nightly_simcloud)
        cases = test_api_databases.cases().values()
        self.check(cases, test_api_databases, nightly_api_databases)

    def check(self, cases, *modules):
        wanted = [
            f'{case.__name__}On{server.__name__}.{test}'
            for case in cases
            for server in (mariadb.MariaDB, postgresql.PostgreSQL)
            for test in unittest.defaultTestLoader.getTestCaseNames(case)
        ]
        found = [
            test.id().removeprefix(f'{module.__name__}.')
            for module in modules
            for case in unittest.defaultTestLoader.loadTestsFromModule(module)
            for test in case
        ]
        self.assertEqual(sorted(wanted), sorted(found))
