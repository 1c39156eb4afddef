"""Options that are given several times: equal names, and values that contradict each other."""

import fixtures
import testtools

from tests.fixtures import commands


class RepeatedOptionsTest(testtools.TestCase):
    def test_refused(self):
        directory = self.useFixture(fixtures.TempDir()).path
        for line, text in (
            ('twin survives --host a --host a', "--host: 'a' is given twice"),
            ('twin survives --zone z --zone a --zone z', "--zone: 'z' is given twice"),
            ('up --set quota.cores=1 --set quota.cores=2', 'quota.cores has two values, 1 and 2'),
            ('up --debug --set DEFAULT.debug=0', 'DEFAULT.debug has two values, 0 and true'),
            (
                'fault add --verb spawn --metadata a=1 --metadata a=2',
                '--metadata a has two patterns, 1 and 2',
            ),
        ):
            code, out, errors = commands.run(*line.split(), '--state-dir', directory)
            self.assertEqual((2, ''), (code, out), line)
            self.assertIn(text, errors)
