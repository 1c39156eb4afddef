"""Counts of many histories are added up, and compared with the minimums."""

import types

import testtools

from tests.sim import minimums
from tests.sim import totals


def outcome(**counts):
    return types.SimpleNamespace(counts={name.replace('_', ': '): n for name, n in counts.items()})


class TotalsTestCase(testtools.TestCase):
    def test_what_happens_too_seldom(self):
        made = totals.Totals({'accepted: stop': 3, 'fault: kill': 1})
        made.add(outcome(asked_stop=5, accepted_stop=1))
        self.assertEqual(
            ['accepted: stop: 1, must be at least 3', 'fault: kill: 0, must be at least 1'],
            list(made.missing()),
        )
        made.add(outcome(asked_stop=2, accepted_stop=2, fault_kill=1))
        self.assertEqual([], list(made.missing()))
        (_heading, stop, _faults, kill) = made.lines()
        self.assertEqual((['stop', '7', '3', '0'], ['kill', '1']), (stop.split(), kill.split()))

    def of(self, **options):
        asked = {'seeds': minimums.SEEDS, 'theme': None, 'chooser': None, 'database': 'sqlite'}
        return minimums.of_run(
            types.SimpleNamespace(**{**asked, 'nightly': None, 'gate': None, **options})
        )

    def test_the_seeds_of_the_gate_have_minimums(self):
        self.assertEqual(minimums.AT_LEAST, self.of())
        for options in (
            {'seeds': range(1, 200)},
            {'seeds': range(201, 3201)},
            {'theme': 'power'},
            {'chooser': 'pct'},
            {'database': 'mariadb'},
        ):
            self.assertEqual({}, self.of(**options))

    def test_in_a_share_of_the_seeds_frequent_things_happen_at_least_once(self):
        found = self.of(gate=3, seeds=[1, 4])
        self.assertEqual(1, found['accepted: create'])
        self.assertNotIn('fault: statement: full', found)
        self.assertEqual({}, self.of(gate=3, seeds=[1, 4], chooser='pct'))

    def test_a_night_has_minimums_of_outsiders(self):
        found = self.of(nightly='3000', seeds=range(201, 3201))
        self.assertEqual(3 * minimums.OF_NIGHTS['fault: silent bus'], found['fault: silent bus'])
        self.assertEqual({}, self.of(nightly='50', seeds=range(201, 251)))
        self.assertEqual({}, self.of(nightly='3000', seeds=range(201, 3201), database='mariadb'))
