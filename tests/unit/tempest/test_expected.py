"""Comparison of Tempest's results with the expected ones."""

import testtools

from tests.tempest import expected
from tests.tempest import results

TEXT = """
tempest: 47.0.0
tests: 3
not_passing:
  - result: skip
    reason: Guests have no operating system.
    tests: [tempest.a.Test.test_skipped]
  - result: fail
    reason: A host of another cell.
    tests: [tempest.a.Test.test_failed]
"""
NAMES = ['tempest.a.Test.test_failed', 'tempest.a.Test.test_passed', 'tempest.a.Test.test_skipped']
AS_EXPECTED = {
    'tempest.a.Test.test_failed': results.Result(results.FAIL, 'AssertionError'),
    'tempest.a.Test.test_passed': results.Result(results.PASS),
    'tempest.a.Test.test_skipped': results.Result(results.SKIP, 'run_validation'),
}


class LoadTest(testtools.TestCase):
    def refused(self, reason, text):
        error = self.assertRaises(ValueError, expected.load, text)
        self.assertIn(reason, str(error))

    def test_what_is_listed(self):
        found = expected.load(TEXT)
        self.assertEqual(('47.0.0', 3), (found.version, found.count))
        self.assertEqual(
            {
                'tempest.a.Test.test_skipped': expected.Exceptional(
                    'skip', 'Guests have no operating system.'
                ),
                'tempest.a.Test.test_failed': expected.Exceptional(
                    'fail', 'A host of another cell.'
                ),
            },
            found.not_passing,
        )

    def test_what_contradicts_itself(self):
        self.refused('listed twice', TEXT.replace('test_failed', 'test_skipped'))
        self.refused("result is 'pass'", TEXT.replace('result: fail', 'result: pass'))
        self.refused('No reason', TEXT.replace('A host of another cell.', "''"))

    def test_the_file_of_this_repository(self):
        found = expected.load(expected.PATH.read_text())
        self.assertTrue(all(name.startswith('tempest.') for name in found.not_passing))
        with open('tools/requirements/tempest.txt') as requirements:
            self.assertIn(f'tempest=={found.version} ', requirements.read())


class DifferencesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.expected = expected.load(TEXT)

    def differences(self, found, names=None, *, whole=True):
        return expected.differences(self.expected, names or NAMES, found, whole=whole)

    def changed(self, name, *result):
        found = {**AS_EXPECTED, f'tempest.a.Test.{name}': results.Result(*result)}
        return self.differences(found)

    def test_nothing_differs(self):
        self.assertEqual([], self.differences(AS_EXPECTED))

    def test_fails_though_not_listed(self):
        self.assertEqual(
            ['FAIL tempest.a.Test.test_passed: expected pass', '    No route'],
            self.changed('test_passed', results.FAIL, 'No route'),
        )

    def test_is_skipped_though_not_listed(self):
        [line, reason] = self.changed('test_passed', results.SKIP, 'resize is off')
        self.assertEqual('SKIP tempest.a.Test.test_passed: expected pass', line)
        self.assertEqual('    resize is off', reason)

    def test_passes_though_listed(self):
        self.assertEqual(
            ['PASS tempest.a.Test.test_failed: expected fail (A host of another cell.)'],
            self.changed('test_failed', results.PASS),
        )

    def test_has_another_result_than_listed(self):
        [line] = self.changed('test_failed', results.SKIP)
        self.assertIn('SKIP tempest.a.Test.test_failed: expected fail', line)

    def test_has_no_result(self):
        found = {name: result for name, result in AS_EXPECTED.items() if 'passed' not in name}
        self.assertEqual(
            ['MISSING tempest.a.Test.test_passed: no result, expected pass'],
            self.differences(found),
        )

    def test_is_no_longer_a_test(self):
        found = {name: result for name, result in AS_EXPECTED.items() if 'failed' not in name}
        self.assertEqual(
            [
                'COUNT 2 tests, expected 3',
                'GONE tempest.a.Test.test_failed: listed, but Tempest has no such test',
            ],
            self.differences(found, sorted(found)),
        )

    def test_some_tests_only(self):
        found = {NAMES[1]: AS_EXPECTED[NAMES[1]]}
        self.assertEqual([], self.differences(found, [NAMES[1]], whole=False))

    def test_a_class_that_cannot_be_torn_down(self):
        found = {**AS_EXPECTED, 'tearDownClass (tempest.a.Test)': results.Result(results.FAIL)}
        self.assertEqual(
            ['FAIL tearDownClass (tempest.a.Test): expected pass'], self.differences(found)
        )

    def test_summary(self):
        self.assertEqual('1 pass, 1 fail, 1 skip', expected.summary(AS_EXPECTED))
