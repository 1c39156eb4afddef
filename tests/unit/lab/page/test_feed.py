"""Viewers of the live page, and the interval of its readings."""

import json

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.page import feed
from tests.fixtures import clock

LONG_S = 60


class Reader:
    """Counts how often it is asked; answers what `found` is."""

    def __init__(self):
        self.asked, self.found = 0, {'cells': []}
        self.asking = runtime.Semaphore(0)

    def __call__(self):
        self.asked += 1
        self.asking.release()
        if isinstance(self.found, Exception):
            raise self.found
        return dict(self.found)

    def wait_asked(self):
        assert self.asking.acquire(timeout=LONG_S)


class Costly(runtime.Runtime):
    """All that is done takes a minute of a processor."""

    spent_s = 0.0

    def cpu_time(self):
        self.spent_s += LONG_S
        return self.spent_s


class TestFeed(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.reader = Reader()

    def feed(self, *, most=feed.MOST_VIEWERS, **options):
        seats = runtime.Semaphore(most)
        made = feed.Feed(self.reader, seats, **{'pause_s': 0.001, 'beat_s': LONG_S, **options})
        self.addCleanup(made.wait_ended)
        self.addCleanup(made.end)
        return made

    def watch(self, of):
        """A viewer that was greeted."""
        viewer = of.watch()
        self.addCleanup(viewer.close)
        self.assertEqual(f'retry: {feed.RETRY_MS}\n\n'.encode(), next(viewer))
        return viewer

    def document(self, viewer):
        event, data, *rest = next(viewer).decode().split('\n')
        self.assertEqual(['event: document', '', ''], [event, *rest])
        return json.loads(data.removeprefix('data: '))

    def test_a_viewer_gets_what_changes(self):
        viewer = self.watch(self.feed())
        self.assertEqual({'cells': []}, self.document(viewer))
        self.reader.found = {'cells': [1]}
        self.assertEqual({'cells': [1]}, self.document(viewer))

    def test_viewers_share_readings(self):
        shared = self.feed(pause_s=LONG_S)
        for viewer in [self.watch(shared) for _number in range(3)]:
            self.assertEqual({'cells': []}, self.document(viewer))
        self.assertEqual(1, self.reader.asked)

    def test_nothing_is_read_while_no_one_looks(self):
        idle = self.feed()
        self.assertEqual(0, self.reader.asked)
        viewer = self.watch(idle)
        self.document(viewer)
        viewer.close()
        idle.wait_ended()
        self.reader.found = {'cells': [2]}
        self.assertEqual({'cells': [2]}, self.document(self.watch(idle)))

    def test_who_comes_and_goes_causes_no_more_readings(self):
        idle = self.feed(pause_s=LONG_S)
        for _number in range(5):
            viewer = self.watch(idle)
            self.assertEqual({'cells': []}, self.document(viewer))
            viewer.close()
        self.assertEqual(1, self.reader.asked)

    def test_a_costly_reading_is_followed_by_a_long_pause(self):
        self.useFixture(clock.Installed(Costly()))
        viewer = self.watch(self.feed(beat_s=0.01))
        self.assertEqual({'cells': []}, self.document(viewer))
        self.assertEqual([feed.BEAT] * 3, [next(viewer) for _number in range(3)])
        self.assertEqual(1, self.reader.asked)

    def test_a_viewer_that_leaves_twice_counts_once(self):
        small = self.feed(most=2)
        first, second = self.watch(small), self.watch(small)
        first.close()
        first.close()
        self.watch(small)
        self.assertIsNone(small.watch())
        second.close()

    def test_a_beat_shows_whether_a_viewer_is_there(self):
        viewer = self.watch(self.feed(beat_s=0.001, pause_s=LONG_S))
        self.reader.wait_asked()
        found = {next(viewer) for _number in range(50)}
        self.assertIn(feed.BEAT, found)

    def test_too_many_viewers(self):
        small = self.feed(most=1)
        viewer = self.watch(small)
        self.assertIsNone(small.watch())
        viewer.close()
        self.assertIsNotNone(self.watch(small))

    def test_the_end(self):
        ended = self.feed()
        viewer = self.watch(ended)
        ended.end()
        self.assertEqual([], list(viewer))
        self.assertIsNone(ended.watch())
        ended.wait_ended()

    def test_the_end_wakes_a_viewer_that_waits(self):
        ended = self.feed(pause_s=LONG_S)
        viewer = self.watch(ended)
        self.document(viewer)
        rest = []
        waiting = runtime.spawn(lambda: rest.extend(viewer))
        ended.end()
        waiting.join()
        self.assertEqual([], rest)

    def test_no_data(self):
        self.reader.found = exception.Unavailable(service='The cloud', reason='it was reset')
        viewer = self.watch(self.feed())
        self.assertEqual(self.reader.found.message, self.document(viewer)['problem'])
        self.reader.found = {'cells': []}
        self.assertEqual({'cells': []}, self.document(viewer))

    def test_an_unexpected_error(self):
        self.reader.found = KeyError('secret')
        problem = self.document(self.watch(self.feed()))['problem']
        self.assertIn('Unexpected KeyError', problem)
        self.assertNotIn('secret', problem)

    def test_a_document_that_is_not_plain(self):
        self.reader.found = {'cells': object()}
        self.assertIn('Unexpected TypeError', self.document(self.watch(self.feed()))['problem'])
