"""The kill tables: what they hold, how they are cut into batches, what is kept of them."""

import pathlib

import fixtures
import testtools

from nova_lite.moves import kinds
from tests.crash import cases
from tests.crash import hooks
from tests.crash import kept
from tests.crash import killing

# It differs from the resize between cells by its flavor alone.
SAME = {'cross-cell-migrate'}
# They meet faults in tests.functional.test_saga_faults alone.
NOT_KILLED = {'attach-share', 'detach-share', 'volume-image'}


class CasesTest(testtools.TestCase):
    def test_every_saga_is_in_a_table(self):
        found = {case.move.kind for case in cases.every() if case.table != cases.ACTIONS}
        self.assertEqual(set(kinds.KINDS) - SAME - NOT_KILLED, found)

    def test_each_daemon_dies_at_each_step(self):
        found = cases.every(cases.CROSS_CELL, names=['revert'])
        steps = cases.steps(cases.TABLES[cases.CROSS_CELL]['revert'])
        self.assertIn('switch-mapping-to-source-cell', steps)
        self.assertEqual(len(steps) * 2 * len(cases.ROLES), len(set(found)))

    def test_batches_are_of_one_role_and_begin_alike(self):
        wanted = cases.every()
        batches = list(cases.batches(wanted, 7))
        self.assertEqual(sorted(wanted), sorted(case for batch in batches for case in batch))
        for batch in batches:
            self.assertLessEqual(len(batch), 7)
            self.assertEqual(1, len({(case.table, case.role, case.move.begins) for case in batch}))

    def test_a_spread_is_of_all_roles_and_steps(self):
        wanted = cases.every(cases.CROSS_CELL)
        chosen = cases.spread(wanted, 16)
        self.assertLessEqual(set(chosen), set(wanted))
        for role in cases.ROLES:
            found = [case for case in chosen if case.role == role]
            self.assertTrue(8 < len(found) <= 16)
            self.assertEqual(set(hooks.WHENS), {case.when for case in found})
        steps = {(case.name, case.step) for case in wanted}
        self.assertEqual(steps, {(case.name, case.step) for case in chosen})


class KeptTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.results = kept.Results(self.directory)
        self.case, self.other = cases.every(cases.CROSS_CELL)[:2]

    def add(self, case, result):
        self.results.add('mariadb', killing.Outcome(case, result, 1.5))

    def test_kept_over_runs(self):
        self.add(self.case, 'done')
        self.add(self.other, 'took 40 s')
        self.results.save()
        again = kept.Results(self.directory)
        self.assertEqual('done', again.result('mariadb', self.case))
        self.assertEqual('took 40 s', again.result('mariadb', self.other))
        self.assertIsNone(again.result('postgresql', self.case))

    def test_page(self):
        self.add(self.case, 'done')
        server = '1b4e28ba-2fa1-41d2-883f-0016d3cca427'
        self.add(self.other, f'{server} runs twice')
        page = self.results.page()
        self.assertIn('"cross-cell", "resize", "1 of 228"', page)
        self.assertIn('UUID runs twice', page)
        self.assertNotIn(server, page)
        sums = [line.split() for line in self.results.sums()]
        self.assertIn(['cross-cell', 'resize', 'mariadb', '228', '2', '1', '1'], sums)

    def test_results_of_a_point(self):
        after = self.case._replace(when='after')
        self.add(self.case, 'done')
        self.add(after, 'done')
        self.assertIn(f'"{self.case.step}", "done", "not run"', self.results.page())
        self.add(after, 'undone')
        row = f'"{self.case.step}", "before: done; after: undone", "not run"'
        self.assertIn(row, self.results.page())
        for case in (self.case, after):
            self.results.add('postgresql', killing.Outcome(case, 'undone', 1.5))
        row = 'mariadb before: done; mariadb after: undone; postgresql before: undone; '
        self.assertIn(row, self.results.page())
        self.add(after, 'done')
        self.assertIn('"mariadb: done; postgresql: undone"', self.results.page())
