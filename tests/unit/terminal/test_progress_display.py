"""Progress of long work, on a terminal and elsewhere."""

import io

import testtools

from nova_lite.lab.demo import presenter
from nova_lite.terminal import progress_display
from tests.fixtures import clock
from tests.fixtures import terminal


class StepsTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())

    def play(self, stream, **options):
        with progress_display.Steps('Starting', stream=stream, **options) as steps:
            steps.begin('databases')
            self.clock.advance(2.5)
            steps.begin('cells [1]')

    def test_plain_lines_elsewhere(self):
        stream = io.StringIO()
        self.play(stream)
        self.assertEqual('Starting\n  databases\n  cells [1]\n', stream.getvalue())

    def test_a_terminal_shows_how_long_each_took(self):
        tty = terminal.Terminal(self)
        self.play(tty.stream)
        shown = tty.text()
        self.assertIn('databases: done after 2.5 s', shown)
        self.assertIn('cells [1]: done after 0.0 s', shown)

    def test_what_passes_leaves_no_line_on_a_terminal(self):
        tty = terminal.Terminal(self)
        self.play(tty.stream, passing=True)
        self.assertNotIn('done after', tty.text())

    def test_what_fails_is_not_done(self):
        tty = terminal.Terminal(self)
        with testtools.ExpectedException(ValueError):
            with progress_display.Steps('Starting', stream=tty.stream) as steps:
                steps.begin('databases')
                raise ValueError
        shown = tty.text()
        self.assertIn('databases: ended after', shown)
        self.assertNotIn('done', shown)


class CountTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())

    def count(self, stream, total):
        with progress_display.Count('servers', total, stream=stream) as count:
            for _number in range(12):
                self.clock.advance(1)
                count.add()

    def test_a_line_every_few_seconds_elsewhere(self):
        stream = io.StringIO()
        self.count(stream, 12)
        self.assertEqual('servers: 5 of 12\nservers: 10 of 12\n', stream.getvalue())

    def test_without_a_total(self):
        stream = io.StringIO()
        self.count(stream, None)
        self.assertEqual('servers: 5\nservers: 10\n', stream.getvalue())

    def test_a_bar_on_a_terminal(self):
        tty = terminal.Terminal(self)
        self.count(tty.stream, 12)
        self.assertIn('12/12', tty.text())


class StageTests(testtools.TestCase):
    def play(self, stream):
        told = presenter.Presenter(None, stream=stream)
        with told.waiting('waiting for [one]'):
            told.check(True, 'it came')

    def test_waits_show_on_a_terminal_alone(self):
        tty, stream = terminal.Terminal(self), io.StringIO()
        self.play(tty.stream)
        self.play(stream)
        self.assertEqual('  ok it came\n', stream.getvalue())
        shown = tty.text()
        self.assertIn('waiting for [one]', shown)
        self.assertIn('ok it came', shown)
