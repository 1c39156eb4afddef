"""Recorded times of tests divide them among workers."""

import datetime
import os

import fixtures
from stestr import scheduler
from stestr.repository import file as repository
import testtools

from tools import durations

LONG, SHORT = 'tests.unit.test_a.Long', 'tests.unit.test_b.Short'
NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


class DurationsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        os.mkdir(os.path.join(self.directory, 'tests'))

    def ran(self, *tests):
        """Make stestr record tests, given as (name, worker, seconds of noon, end)."""
        found = repository.RepositoryFactory().initialise(self.directory)
        inserter = found.get_inserter()
        inserter.startTestRun()
        for name, worker, begun, ended in tests:
            for status, second in (('inprogress', begun), ('success', ended)):
                if second is None:
                    continue
                inserter.status(
                    test_id=name,
                    test_status=status,
                    test_tags={worker},
                    timestamp=NOON + datetime.timedelta(seconds=second),
                )
        inserter.stopTestRun()

    def table(self):
        with open(os.path.join(self.directory, durations.TABLE)) as table:
            return table.read().splitlines()

    def test_a_test_takes_what_it_and_the_start_of_its_class_take(self):
        self.ran(
            (f'{LONG}.test_one(a scenario)', 'worker-0', 0, 4),
            (f'{SHORT}.test_one', 'worker-1', 1, 1.5),
            (f'{LONG}.test_two', 'worker-0', 5, 9),
            (f'{SHORT}.test_two', 'worker-1', 1.5, 2),
            # Its class has started a server since.
            ('tests.unit.test_c.Served.test_one', 'worker-1', 10, 11),
            (f'{SHORT}.test_interrupted', 'worker-1', 11, None),
        )
        durations.save(self.directory)
        self.assertEqual(
            [
                f'    4.0 {LONG}.test_one(a scenario)',
                f'    5.0 {LONG}.test_two',
                '    9.0 tests.unit.test_c.Served.test_one',
            ],
            self.table(),
        )

    def test_short_tests_count_for_the_first_of_their_class(self):
        self.ran(*((f'{SHORT}.test_{n}', 'worker-0', n, n + 1) for n in range(4)))
        durations.save(self.directory)
        self.assertEqual([f'    4.0 {SHORT}.test_0'], self.table())

    def divided(self):
        """Return how stestr divides the classes among two workers in a fresh clone."""
        names = [f'tests.unit.test_{letter}.Case.test' for letter in 'abcdef']
        with open(os.path.join(self.directory, durations.TABLE), 'w') as table:
            table.writelines(
                f'{seconds:7.1f} {name}\n'
                for name, seconds in zip(names, (50, 10, 10, 10, 10, 10), strict=True)
            )
        durations.load(self.directory)
        known = repository.RepositoryFactory().open(self.directory)
        shares = scheduler.partition_tests(names, 2, known, lambda name: name.rpartition('.')[0])
        return sorted(len(share) for share in shares)

    def test_workers_get_equal_shares(self):
        self.assertEqual([1, 5], self.divided())

    def test_what_was_measured_here_counts(self):
        self.ran((f'{LONG}.test_one', 'worker-0', 0, 4))
        self.assertEqual([3, 3], self.divided())
