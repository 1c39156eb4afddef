"""Servers leave a host so many at a time, and not after an interruption."""

import signal

import testtools

from nova_lite import runtime
from nova_lite.lab.maintenance import mover
from nova_lite.lab.maintenance import mover_pool
from nova_lite.lab.maintenance import plan

LIMIT_S = 30


class Gated:
    """A mover whose moves end when `go` is set, or `leaving` is."""

    def __init__(self):
        self.leaving, self.go = runtime.Event(), runtime.Event()
        self.lock = runtime.Lock()
        self.now = self.most = 0

    def move(self, entry, tell):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        tell(entry, 'begun')
        runtime.wait(self.go, LIMIT_S)
        with self.lock:
            self.now -= 1
        what = mover.What.LEFT if self.leaving.is_set() else mover.What.MOVED
        return mover.Outcome(entry, what, entry.how)


def entries(count):
    return [plan.Entry(f'u{n}', f's{n}', 'ACTIVE', plan.How.LIVE) for n in range(count)]


class CrewTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.one, self.told = Gated(), []

    def work(self, count, most, heard=lambda kind: None):
        def listen(kind, entry, said):
            self.told.append((kind, entry and entry.name, said))
            heard(kind)

        found = mover_pool.MoverPool(self.one, most, listen).work(entries(count))
        return {outcome.entry.name: outcome for outcome in found}

    def test_so_many_at_a_time(self):
        def heard(_kind):
            if self.one.most == 2:
                self.one.go.set()

        found = self.work(5, 2, heard)
        self.assertEqual({f's{n}' for n in range(5)}, set(found))
        self.assertEqual({mover.What.MOVED}, {each.what for each in found.values()})
        self.assertEqual(2, self.one.most)
        kinds = [kind for kind, _name, _said in self.told]
        self.assertEqual((5, 5, 5), tuple(map(kinds.count, ('began', 'note', 'ended'))))

    def test_nothing_to_do(self):
        self.assertEqual({}, self.work(0, 2))

    def test_what_goes_wrong_is_not_hidden(self):
        self.one.move = None
        self.assertRaises(TypeError, self.work, 1, 1)

    def test_interrupted(self):
        def heard(kind):
            if kind == 'note':
                signal.raise_signal(signal.SIGINT)
            elif kind == 'interrupted':
                self.one.go.set()

        before = signal.getsignal(signal.SIGINT)
        found = self.work(3, 1, heard)
        self.assertEqual(before, signal.getsignal(signal.SIGINT))
        self.assertEqual(mover.What.MOVED, found['s0'].what)
        for name in ('s1', 's2'):
            self.assertEqual(
                (mover.What.LEFT, 'not started: the command was interrupted'),
                (found[name].what, found[name].reason),
            )
        under_way = [said for kind, _name, said in self.told if kind == 'interrupted']
        self.assertEqual([['s0']], [[entry.name for entry in each] for each in under_way])

    def test_interrupted_twice(self):
        def heard(kind):
            if kind in ('note', 'interrupted') and not self.one.leaving.is_set():
                signal.raise_signal(signal.SIGTERM)
            elif kind == 'interrupted':
                self.one.go.set()

        self.assertEqual(mover.What.LEFT, self.work(1, 1, heard)['s0'].what)
