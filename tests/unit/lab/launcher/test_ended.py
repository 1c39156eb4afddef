"""Incarnations that have ended: their parts are stopped, and their memory is used again."""

import gc
import weakref

import testtools

from nova_lite.lab.launcher import ended


class Part:
    """Refers to itself, as daemons do by their threads and handlers."""

    def __init__(self):
        self.stopped = []
        self.stop = lambda: self.stopped.append(self)


class EndedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        # Only what is tested collects.
        gc.disable()
        self.addCleanup(gc.enable)

    def test_cycles_are_collected(self):
        stops, parts = ended.EndedIncarnations(), []
        for _each in range(ended.COLLECT_EVERY):
            part = Part()
            parts.append(weakref.ref(part))
            stops.add([[part.stop]])
            del part
            stops.wait()
        self.assertEqual([], [part for part in parts[:-1] if part() is not None])

    def test_all_are_stopped(self):
        stops, parts = ended.EndedIncarnations(), [Part() for _each in range(3)]
        stops.add([[parts[0].stop, parts[1].stop], [parts[2].stop]])
        stops.wait()
        self.assertEqual([[part] for part in parts], [part.stopped for part in parts])
