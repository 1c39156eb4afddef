"""Files and directories that commands cannot write: the message names the option."""

import fixtures
import testtools

from tests.fixtures import commands
from tests.fixtures import traces


class OutputsTest(testtools.TestCase):
    def test_refused(self):
        trace = self.useFixture(traces.Traces()).write('t.csv', traces.HEADER, 'a,0,,1,512,1')
        state = '--state-dir', self.useFixture(fixtures.TempDir()).path
        for line, where, text in (
            (('import', '--output', ''), state, 'argument --output: it is empty; give a value'),
            (('replay', trace, '--output', ''), (), 'argument --output: it is empty'),
            (('replay', trace, '--output', trace), (), f'--output: the directory {trace} cannot'),
            (('replay', trace, '--output', '/proc/x'), (), 'cannot be made: No such file'),
            (('demo', '--html', ''), (), 'argument --html: it is empty'),
        ):
            code, out, errors = commands.run(*line, *where)
            self.assertEqual((2, ''), (code, out), line)
            self.assertIn(text, errors)
