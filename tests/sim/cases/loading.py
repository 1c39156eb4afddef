"""The test cases of the process that runs tests, for tests played in the simulation."""

import os
import unittest

import testscenarios
from testtools import content
from testtools import testresult
from testtools.testsuite import iterate_tests

from tests.sim.cases import interpreter

# With it set to anything, tests run in this process, with its threads and clocks.
PLAIN = 'NOVA_LITE_TEST_PLAIN'
# Whether this process is the one that plays tests.
inside = False


def load_tests(_loader, tests, _pattern):
    """Return the load_tests of a module whose tests are played elsewhere.

    Those whose class has `plain = True` need processes or sockets, and are not.
    """
    if inside or os.environ.get(PLAIN):
        return tests
    return unittest.TestSuite(
        test if getattr(test, 'plain', False) else Played(test.id())
        for test in iterate_tests(tests)
    )


def load_scenarios(loader, tests, pattern):
    """As load_tests, of a module whose tests have scenarios: each has an id of its own."""
    applied = testscenarios.load_tests_apply_scenarios(loader, tests, pattern)
    return load_tests(loader, applied, pattern)


class Played:
    """Stands for a test that is played in the simulation; it has its id."""

    failureException = AssertionError

    def __init__(self, test_id):
        self._id = test_id

    def id(self):
        """As of a TestCase, like all that follows."""
        return self._id

    def __str__(self):
        return self._id

    def shortDescription(self):  # noqa: N802 unittest's name
        return self._id

    def countTestCases(self):  # noqa: N802 unittest's name
        return 1

    def __call__(self, result=None):
        return self.run(result)

    def run(self, result=None):
        """Run the test elsewhere, and report its result."""
        result = testresult.ExtendedToOriginalDecorator(result or testresult.TestResult())
        result.startTest(self)
        try:
            self._report(result, interpreter.play(self._id))
        finally:
            result.stopTest(self)
        return result

    def _report(self, result, answer):
        if answer['printed']:
            print(answer['printed'], end='')
        if not answer['failure']:
            result.addSuccess(self)
            return
        details = {
            'traceback': content.text_content(answer['failure']),
            'replay': content.text_content(answer['replay']),
        }
        result.addFailure(self, details=details)
