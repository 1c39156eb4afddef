"""Database servers under the scheduler of the simulation, by small histories."""

import json
import os
import subprocess
import sys

import testtools

from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers

PROGRAMS = ('waits', 'gives_up', 'outlives', 'deadlocks', 'reads_the_clock', 'fails')
# What the engine makes of each fault, and the balance then.
MET = [
    'commit lost before: unknown, [0, 0]',
    'commit lost after: unknown, [1, 0]',
    'commit conflict: repeated, [2, 0]',
    'commit busy: unknown, [2, 0]',
    'commit read-only: unknown, [2, 0]',
    'commit killed after: unknown, [3, 0]',
    'statement lost: repeated, [4, 0]',
    'statement conflict: repeated, [5, 0]',
    'statement busy: unavailable, [5, 0]',
]


class Histories:
    """Mixed into a case per server. server_class: of the fixture; kind: of --database"""

    server_class = None
    kind = ''

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(cls.server_class)
        done = subprocess.run(
            [sys.executable, '-m', 'tests.functional_rabbit.simulated', cls.kind, *PROGRAMS],
            capture_output=True,
            text=True,
            env=dict(os.environ, PYTHONHASHSEED='0'),
            check=False,
        )
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.found = json.loads(done.stdout)

    def histories(self, program):
        """Return the logs of a program's histories, without the times and threads."""
        outcomes = self.found[program]
        for outcome in outcomes:
            self.assertEqual('', outcome['failure'])
        self.assertEqual(outcomes[0]['log'], outcomes[1]['log'])
        return [[Line(line) for line in outcome['log']] for outcome in outcomes]

    def test_a_statement_that_waits_for_a_lock_is_blocked(self):
        for lines in self.histories('waits'):
            seen = [
                line.what
                for line in lines
                if line.what in ('holds', 'tick', 'waits', 'has waited', 'balances')
            ]
            self.assertEqual(['holds', 'waits', *4 * ['tick'], 'has waited', 'balances'], seen)
            self.assertEqual('[2, 0]', detail(lines, 'balances'))

    def test_a_statement_waits_in_vain(self):
        for lines in self.histories('gives_up'):
            (began,) = [line.time for line in lines if line.what == 'waits']
            (ended,) = [line.time for line in lines if line.what == 'in vain']
            self.assertEqual(10.0, round(ended - began, 3))
            self.assertIn('The database is not available', detail(lines, 'unavailable'))
            # What waited in vain was not carried out later.
            self.assertEqual('[101, 0]', detail(lines, 'balances'))

    def test_the_transaction_of_who_was_killed_is_rolled_back(self):
        for lines in self.histories('outlives'):
            (killed,) = [line.time for line in lines if line.what == 'kill']
            (waited,) = [line.time for line in lines if line.what == 'has waited']
            self.assertLess(waited - killed, 0.001)
            self.assertEqual('[10, 0]', detail(lines, 'balances'))

    def test_a_deadlock_has_a_victim_that_repeats_its_transaction(self):
        for lines in self.histories('deadlocks'):
            self.assertEqual('[2, 2]', detail(lines, 'balances'))
            updates = [line for line in lines if line.what == 'UPDATE']
            self.assertGreater(len(updates), 4)

    def test_the_clock_of_the_server_is_virtual(self):
        for lines in self.histories('reads_the_clock'):
            self.assertEqual('60.0', detail(lines, 'ahead'))

    def test_each_fault_is_met(self):
        for lines in self.histories('fails'):
            self.assertEqual(MET, [line.detail for line in lines if line.what == 'met'])

    def test_the_oracle_looks_after_commits_that_wrote(self):
        # The tables, the rows, and what each of the two processes has written.
        for lines in self.histories('waits'):
            self.assertEqual('4', detail(lines, 'seen'))


class Line:
    """A line of a log: its virtual time, what happened, and the detail."""

    NAMES = {
        'db: waits for a lock': 'waits',
        'db: has waited': 'has waited',
        'db: has waited in vain': 'in vain',
        'db: UPDATE': 'UPDATE',
    }

    def __init__(self, line):
        words = line.split()
        self.time = float(words[0])
        head, _, self.detail = line.partition(': ')
        if head.endswith(' db'):
            what, _, self.detail = self.detail.partition(': ')
            self.what = self.NAMES.get('db: ' + what, 'db: ' + what)
        else:
            self.what = head.split()[-1]


def detail(lines, what):
    """Return the detail of the one line of a kind."""
    (found,) = [line.detail for line in lines if line.what == what]
    return found


class MariaDBTest(Histories, testtools.TestCase):
    server_class, kind = mariadb.MariaDB, 'mariadb'


class PostgreSQLTest(Histories, testtools.TestCase):
    server_class, kind = postgresql.PostgreSQL, 'postgresql'
