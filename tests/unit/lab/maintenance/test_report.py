"""Reports on servers that leave a host, and the exit code of the command."""

import contextlib
import io
import json
import os

import testtools

from nova_lite.lab.maintenance import mover
from nova_lite.lab.maintenance import mover_pool
from nova_lite.lab.maintenance import plan
from nova_lite.lab.maintenance import report
from tests.fixtures import terminal

How, What = plan.How, mover.What


def entry(name, how=How.LIVE, reason=''):
    return plan.Entry(f'uuid-{name}', name, 'ACTIVE', how, reason)


class ReportTest(testtools.TestCase):
    def result(self, entries, outcomes, *, as_json=False):
        """(exit code, standard output) of the end of a run."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = report.Report(as_json=as_json).result('h1', entries, outcomes)
        return code, out.getvalue()

    def test_a_reader_that_goes_away(self):
        reading, writing = os.pipe()
        os.close(reading)
        with (
            io.FileIO(writing, 'w') as file,
            contextlib.redirect_stdout(io.TextIOWrapper(file, write_through=True)),
        ):
            self.assertRaises(BrokenPipeError, report.Report().say, 'a line')

    def test_all_have_left(self):
        moved = mover.Outcome(entry('a'), What.MOVED, How.LIVE, 'h2')
        gone = mover.Outcome(entry('b'), What.GONE, How.LIVE, reason='deleted')
        code, shown = self.result([entry('a'), entry('b')], [moved, gone])
        self.assertEqual((0, 'h1: 1 moved, 1 gone\n'), (code, shown))
        self.assertEqual((0, 'h1: no servers\n'), self.result([], []))

    def test_what_waits_is_not_left(self):
        cold = mover.Outcome(entry('a', How.COLD), What.WAITS, How.COLD, 'h2', 'for somebody')
        kept = entry('b', How.WAITS, 'left by a resize')
        code, shown = self.result([entry('a', How.COLD), kept], [cold])
        self.assertEqual(0, code)
        self.assertEqual(
            [
                'h1: 2 waits',
                '  a: moved to h2 (cold): for somebody',
                '  b: waits: left by a resize',
            ],
            shown.splitlines(),
        )

    def test_what_is_left_is_named(self):
        failed = mover.Outcome(entry('a'), What.LEFT, How.LIVE, 'h1', 'it broke')
        locked = entry('b', How.STAYS, 'locked')
        code, shown = self.result([entry('a'), locked], [failed])
        self.assertEqual(1, code)
        self.assertEqual(
            ['h1: 2 left', '  a: left: it broke', '  b: left: locked'], shown.splitlines()
        )
        code, shown = self.result([entry('a'), locked], [failed], as_json=True)
        self.assertEqual(1, code)
        self.assertEqual(
            {
                'id': 'uuid-b',
                'name': 'b',
                'how': 'stays',
                'outcome': 'left',
                'host': None,
                'reason': 'locked',
            },
            json.loads(shown)['servers'][1],
        )

    def told(self, stream):
        """Two servers leave while standard output is `stream`."""
        with contextlib.redirect_stdout(stream), report.Report() as told:
            told.begin(2)
            for name in 'ab':
                moved = mover.Outcome(entry(name), What.MOVED, How.LIVE, 'h2')
                told.heard(mover_pool.ENDED, moved.entry, moved)

    def test_a_line_for_each_that_left(self):
        stream = io.StringIO()
        self.told(stream)
        self.assertEqual(
            ['[1/2] a: moved to h2 (live)', '[2/2] b: moved to h2 (live)'],
            stream.getvalue().splitlines(),
        )

    def test_a_bar_below_the_lines_on_a_terminal(self):
        tty = terminal.Terminal(self)
        self.told(tty.stream)
        shown = tty.text()
        self.assertIn('leaving', shown)
        self.assertIn('2/2 0:00', shown)
        self.assertIn('[2/2] b: moved to h2 (live)', shown)
