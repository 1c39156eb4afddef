"""Many servers that leave a host, so many at a time, until done or interrupted.

The first Ctrl-C (or SIGTERM) keeps further ones from being begun; the second also ends
the watch over those that are under way, which go on without it.
"""

import contextlib
import signal

from nova_lite import runtime
from nova_lite.maintenance import mover

BEGAN, NOTE, ENDED, INTERRUPTED = 'began', 'note', 'ended', 'interrupted'


class Crew:
    """Has a Mover work through entries.

    heard(kind, entry, said): called in the caller's thread for all that happens; said is
        a text, the Outcome, or the entries that are under way
    """

    def __init__(self, one, most, heard):
        self._mover, self._most, self._heard = one, most, heard
        # Its put may be called in a signal handler, as no other queue's.
        self._news = runtime.SimpleQueue()
        self.interrupted = 0

    def work(self, entries):
        """The Outcomes, in the order in which they came."""
        outcomes = []
        with runtime.executor(self._most) as pool, self._signals():
            futures = {}
            for entry in entries:
                future = pool.submit(self._one, entry)
                futures[future] = entry
                future.add_done_callback(lambda done: self._news.put((ENDED, None, done)))
            while len(outcomes) < len(futures):
                kind, entry, said = self._news.get()
                if kind == INTERRUPTED:
                    said = self._interrupt(futures)
                elif kind == ENDED:
                    entry = futures[said]
                    said = _outcome(entry, said)
                    outcomes.append(said)
                self._heard(kind, entry, said)
        return outcomes

    def _one(self, entry):
        self._news.put((BEGAN, entry, None))
        return self._mover.move(entry, lambda about, text: self._news.put((NOTE, about, text)))

    def _interrupt(self, futures):
        """Cancel what was not begun; the entries that are under way."""
        self.interrupted += 1
        if self.interrupted > 1:
            self._mover.leaving.set()
        return [
            entry for future, entry in futures.items() if not (future.cancel() or future.done())
        ]

    @contextlib.contextmanager
    def _signals(self):
        def note(_number, _frame):
            self._news.put((INTERRUPTED, None, None))

        before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _outcome(entry, future):
    if not future.cancelled():
        return future.result()
    reason = 'not begun: interrupted'
    return mover.Outcome(entry, mover.What.LEFT, entry.how, reason=reason)
