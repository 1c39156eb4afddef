"""The choice of the thread that runs next, and for how many scheduling points.

A chooser has `next(ready, running, points)`: it returns one of the threads in `ready` (a list
that is not empty; `running` may not be in it) and after how many points it wants to be asked
again; `points` counts those so far. `started(thread)` hears of each new thread. `urgent` is
true when the chooser wants to be asked as soon as another thread becomes ready.
"""

from tests.sim.kernel import streams

# Powers of two up to which the sticky chooser lets a thread run on.
LONGEST = 8
# Powers of two of the number of points between two new orders of priorities.
STRETCHES = range(4, 13)


class Uniform:
    """Every ready thread with the same probability at every point."""

    urgent = False

    def __init__(self, stream):
        self._random = stream.random

    def started(self, thread):
        """Every thread is like another."""

    def next(self, ready, running, points):
        return ready[int(self._random() * len(ready))], 1


class Sticky(Uniform):
    """A random thread that runs on for a while: mostly short, at times long.

    A switch costs more than a point, and defects in which one thread does a lot between
    two steps of another are as frequent as those that need both to alternate.
    """

    def next(self, ready, running, points):
        bound = 2 << int(self._random() * LONGEST)
        return ready[int(self._random() * len(ready))], 1 + int(self._random() * bound)


class Priorities:
    """PCT: the ready thread of the highest priority runs, and some points change priorities.

    Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs"
    (2010): a defect that needs d ordered events in n threads and k points is found with a
    probability of at least 1/(n·k^(d-1)). A history of the whole cloud is long, so that the
    points of change come per stretch of points instead of per history; stretches are short
    and long, and at the end of each every thread is given a new priority.
    """

    urgent = True

    def __init__(self, stream, changes=3):
        self._random = stream.random
        self._changes = changes
        self._known = []
        self._lowest = 0
        self._due = self._plan(0)

    def _plan(self, start):
        """Return the points at which something changes in the stretch from `start`."""
        stretch = 1 << STRETCHES[int(self._random() * len(STRETCHES))]
        at = [start + 1 + int(self._random() * stretch) for _ in range(self._changes)]
        return [*sorted(at), start + stretch + 1]

    def started(self, thread):
        self._known.append(thread)
        thread.priority = self._random()

    def next(self, ready, running, points):
        while points >= self._due[0]:
            self._change(running, self._due.pop(0))
        return max(ready, key=_priority), self._due[0] - points

    def _change(self, running, point):
        if self._due:
            self._lowest -= 1
            running.priority = self._lowest
            return
        self._known = [thread for thread in self._known if not thread.stopped()]
        for thread in self._known:
            thread.priority = self._random()
        self._lowest = 0
        self._due = self._plan(point)


def _priority(thread):
    return thread.priority


CHOOSERS = {'uniform': Uniform, 'sticky': Sticky, 'pct': Priorities}


def of_seed(seed):
    """Return the name of the chooser that a history has unless it is given one."""
    share = streams.derived(seed, 'chooser') % 10
    return 'uniform' if share == 0 else 'pct' if share < 4 else 'sticky'
