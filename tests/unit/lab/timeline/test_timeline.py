"""Drawings of sagas: from the journal to a terminal and to a page."""

import html.parser
import io

import fixtures
import testtools

from nova_lite import context
from nova_lite import runtime
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import sagas
from nova_lite.lab.timeline import axis
from nova_lite.lab.timeline import page
from nova_lite.lab.timeline import story
from nova_lite.lab.timeline import terminal
from nova_lite.saga import journal
from nova_lite.terminal import pipes
from tests.fixtures import clock
from tests.fixtures import database

SNAPSHOT, SPAWN = 'stop-and-snapshot-at-source', 'spawn-on-destination'
SWITCH = 'switch-mapping-to-destination-cell'
TOLD = ('record-migration', 'choose-destination', SNAPSHOT, SPAWN, SWITCH)
DATA = {
    'record-migration': {'host': 'cell1-host1'},
    'choose-destination': {'service_host': 'cell2-host1'},
}


class Page(html.parser.HTMLParser):
    """The parts of a page. left: tags that were opened and not closed."""

    VOID = ('meta', 'br')

    def __init__(self, text):
        super().__init__()
        self.left, self.tags, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)
        if tag not in self.VOID:
            self.left.append(tag)

    def handle_endtag(self, tag):
        assert self.left.pop() == tag, tag


class TimelineTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.db = self.useFixture(database.ApiDatabase())
        for name in ('cell1', 'cell2'):
            self.db.write(self.map_cell, name)
        self.uuid = runtime.new_uuid()
        self.db.write(
            sagas.create,
            context.admin(),
            uuid=self.uuid,
            kind='cross-cell-migrate',
            instance_uuid=runtime.new_uuid(),
            arguments={},
        )
        self.journal = sagas.Journal(self.db.database)

    def map_cell(self, connection, name):
        values = {'uuid': runtime.new_uuid(), 'name': name, 'transport_url': 'embedded://x'}
        cell_id = cell_mappings.create(
            connection, {**values, 'database_connection': 'sqlite://', 'disabled': False}
        )
        host_mappings.create_missing(connection, cell_id, [f'{name}-host1'])

    def go(self, record, steps, *, seconds=0.5):
        """Run steps, each of which takes so long."""
        for step in steps:
            self.clock.advance(seconds)
            self.journal.advance(
                record,
                [journal.Note('done', step)],
                position=TOLD.index(step) + 1,
                direction=journal.FORWARD,
                data=DATA,
            )

    def play(self):
        """A saga whose first owner dies at the snapshot; when that was."""
        self.go(self.journal.acquire(self.uuid, 'one', 15), TOLD[:2])
        self.clock.advance(0.2)
        killed_at = runtime.naive_now()
        self.clock.advance(20)
        record = self.journal.acquire(self.uuid, 'two', 15)
        self.go(record, TOLD[2:])
        self.journal.finish(record, state=journal.DONE)
        return killed_at

    def read(self, **options):
        return self.db.read(story.read, self.uuid, **options)

    def test_story(self):
        killed_at = self.play()
        told = self.read(killed_at=killed_at)
        self.assertEqual(
            [
                ('record-migration', 'cell database, cell1', 0.0, 0.5, 'done', 'one'),
                ('choose-destination', 'scheduler', 0.5, 1.0, 'done', 'one'),
                (SNAPSHOT, 'compute cell1-host1, cell1', 1.0, 21.2, 'lost', 'two'),
                (SNAPSHOT, 'compute cell1-host1, cell1', 21.2, 21.7, 'done', 'two'),
                (SPAWN, 'compute cell2-host1, cell2', 21.7, 22.2, 'done', 'two'),
                (SWITCH, 'API database', 22.2, 22.7, 'done', 'two'),
            ],
            [
                (
                    bar.step,
                    bar.place,
                    round(bar.begin, 3),
                    round(bar.end, 3),
                    bar.outcome,
                    bar.owner,
                )
                for bar in told.bars
            ],
        )
        self.assertEqual(['one', 'two'], told.owners)
        self.assertEqual(('cell1', 'cell2', 'done'), (told.source, told.dest, told.state))
        self.assertAlmostEqual(1.2, told.killed)
        self.assertEqual(('two takes over from one',), told.bars[2].notes)

    def test_what_happens_to_a_step_is_noted_with_it(self):
        record = self.journal.acquire(self.uuid, 'one', 15)
        self.journal.park(
            record,
            [journal.Note('retries', TOLD[0], 'Unavailable: away')],
            position=0,
            wake_in_s=0,
            attempts=1,
            data={},
        )
        record = self.journal.acquire(self.uuid, 'one', 15)
        self.go(record, TOLD[:1])
        (bar,) = self.read().bars
        self.assertEqual(('retries: Unavailable: away',), bar.notes)

    def test_axis(self):
        """It shortens the time in which no process ran the saga, and keeps the order."""
        killed_at = self.play()
        told = self.read(killed_at=killed_at)
        scale = axis.Axis(told)
        moments = [0, 0.5, 1.0, 10.0, 21.2, 21.7, 22.7]
        found = [scale.at(moment) for moment in moments]
        self.assertEqual(sorted(found), found)
        self.assertEqual((0.0, 1.0), (found[0], round(found[-1], 6)))
        self.assertAlmostEqual(axis.BROKEN_SHARE, found[4] - found[2])
        self.assertAlmostEqual(found[1] - found[0], found[5] - found[4])
        self.assertEqual([], [tick for tick in scale.ticks() if 1.0 < tick < 21.2])

    def test_of_nothing(self):
        told = self.read()
        self.assertEqual((), told.bars)
        self.assertIn(self.uuid, page.page('nothing yet', [told]))
        self.assertEqual(0, terminal.draw(told).row_count)

    def test_terminal(self):
        self.play()
        out = io.StringIO()
        pipes.Console(file=out, width=110).print(terminal.draw(self.read(), 110))
        for step in TOLD:
            self.assertIn(step, out.getvalue())
        self.assertIn('... until two takes over', out.getvalue())
        self.assertIn(terminal.LOST, out.getvalue())
        self.assertEqual([], [line for line in out.getvalue().splitlines() if len(line) > 110])

    def test_page(self):
        killed_at = self.play()
        told = self.read(killed_at=killed_at, title='<b>&"')
        text = page.page('Title & all', [told, told])
        read = Page(text)
        self.assertEqual([], read.left)
        self.assertIn('&lt;b&gt;&amp;&quot;', text)
        self.assertNotIn('<b>&"', text)
        for step in TOLD:
            self.assertIn(step, text)
        self.assertEqual(2, text.count('<li>epoch: '))
        self.assertEqual(2, text.count('>killed<'))
        self.assertEqual(2, text.count('>taken over<'))

    def test_page_stands_alone(self):
        self.play()
        text = page.page('Alone', [self.read()])
        read = Page(text)
        self.assertEqual(set(), {'script', 'link', 'img', 'iframe'} & set(read.tags))
        self.assertNotIn('url(', text)
        self.assertNotIn('@import', text)
        links = [value for name, value in read.attributes if name in ('href', 'src')]
        targets = {f'#{value}' for name, value in read.attributes if name == 'id'}
        self.assertEqual(set(), set(links) - targets)

    def test_page_that_cannot_be_written(self):
        directory = self.useFixture(fixtures.TempDir()).path
        error = self.assertRaises(page.Unwritable, page.write, directory, 'x', [self.read()])
        self.assertIn(directory, error.message)

    def test_times_before_a_kill_that_nobody_saw(self):
        """Without the time of the kill the page shows the last event of the owner."""
        self.play()
        self.assertIn('>last event<', page.page('x', [self.read()]))


class RoundTest(testtools.TestCase):
    def test_steps_of_an_axis(self):
        wanted = {0.003: 0.005, 0.4: 0.5, 0.5: 0.5, 1.0: 1.0, 1.1: 2.0, 30.0: 50.0}
        found = {seconds: round(axis._round(seconds), 6) for seconds in wanted}
        self.assertEqual(wanted, found)
