"""Results read from a stream of Tempest."""

import io

import subunit
import testtools

from tests.tempest import results

ONE, TWO = 'tempest.a.Test.test_one', 'tempest.a.Test.test_two'
TRACEBACK = """Traceback (most recent call last):
  File "/opt/tempest/test_one.py", line 7, in test_one
    self.assertEqual(1, 2)
    ^^^^^^^^^^^^^^^^^^^^^^
testtools.matchers._impl.MismatchError: 1 != 2
"""


class ResultsTest(testtools.TestCase):
    def read(self, *events):
        """Return the results of events, given as (test, status, detail, text)."""
        stream = io.BytesIO()
        writer = subunit.StreamResultToBytes(stream)
        writer.startTestRun()
        for name, status, *detail in events:
            if detail:
                writer.status(
                    test_id=name,
                    file_name=detail[0],
                    file_bytes=detail[1].encode(),
                    mime_type='text/plain; charset=utf8',
                    eof=True,
                )
            writer.status(test_id=name, test_status=status)
        writer.stopTestRun()
        stream.seek(0)
        return results.read(stream, [ONE, TWO])

    def test_by_name_without_tags(self):
        found = self.read(
            (f'{ONE}[id-7,smoke]', 'success'), (TWO, 'skip', 'reason', 'resize is not available')
        )
        self.assertEqual(
            {
                ONE: results.Result(results.PASS),
                TWO: results.Result(results.SKIP, 'resize is not available'),
            },
            found,
        )

    def test_the_error_of_a_traceback(self):
        found = self.read((ONE, 'fail', 'traceback', TRACEBACK))
        error = 'testtools.matchers._impl.MismatchError: 1 != 2'
        self.assertEqual({ONE: results.Result(results.FAIL, error)}, found)

    def test_an_error_is_shortened(self):
        found = self.read((ONE, 'fail', 'traceback', TRACEBACK + 'x' * 1000))
        self.assertEqual(results.MESSAGE, len(found[ONE].reason))

    def test_a_test_that_does_not_end(self):
        found = self.read((ONE, 'inprogress'))
        self.assertEqual({ONE: results.Result(results.FAIL, 'it did not end')}, found)

    def test_a_class_that_is_skipped_or_cannot_be_set_up(self):
        for status, outcome in (('skip', results.SKIP), ('fail', results.FAIL)):
            found = self.read(('setUpClass (tempest.a.Test)', status, 'reason', 'no such host'))
            self.assertEqual(
                dict.fromkeys((ONE, TWO), results.Result(outcome, 'no such host')), found
            )

    def test_a_class_that_cannot_be_torn_down(self):
        name = 'tearDownClass (tempest.a.Test)'
        found = self.read((ONE, 'success'), (name, 'fail'))
        self.assertEqual({ONE, name}, set(found))
