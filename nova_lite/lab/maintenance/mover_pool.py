"""Move many servers off a host, a limited number at a time, until done or interrupted.

After the first Ctrl-C (or SIGTERM) no further move is started. The second Ctrl-C also ends the
polling of the moves in progress, which continue in the cloud.
"""

from collections.abc import Callable
import typing

from nova_lite import runtime
from nova_lite.lab.console import interrupts
from nova_lite.lab.maintenance import mover
from nova_lite.lab.maintenance import plan

BEGAN, NOTE, ENDED, INTERRUPTED = 'began', 'note', 'ended', 'interrupted'


# A function of the kind of an event, its entry, and a text, an Outcome or the entries in progress.
Heard: typing.TypeAlias = Callable[[str, plan.Entry | None, typing.Any], None]
# A kind of event, its entry, and a text or the future of a move.
News: typing.TypeAlias = tuple[str, plan.Entry | None, typing.Any]


class MoverPool:
    """Runs a Mover for each entry.

    heard(kind, entry, said): called in the thread of `work` for each event; said is a text, an
        Outcome, or the entries in progress
    """

    def __init__(self, one: mover.Mover, most: int, heard: Heard) -> None:
        self._mover, self._most, self._heard = one, most, heard
        # The method put of a SimpleQueue, unlike that of other queues, is safe in a signal handler.
        self._news: runtime.SimpleQueue[News] = runtime.SimpleQueue()
        self.interrupted = 0

    def work(self, entries: list[plan.Entry]) -> list[mover.Outcome]:
        """Move the servers of the entries. Return the outcomes in the order of completion."""
        outcomes: list[mover.Outcome] = []
        with runtime.executor(self._most) as pool, interrupts.handled(self._note):
            futures = {}
            for each in entries:
                future = pool.submit(self._one, each)
                futures[future] = each
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

    def _one(self, entry: plan.Entry) -> mover.Outcome:
        self._news.put((BEGAN, entry, None))
        return self._mover.move(entry, lambda about, text: self._news.put((NOTE, about, text)))

    def _interrupt(
        self, futures: dict[runtime.Future[mover.Outcome], plan.Entry]
    ) -> list[plan.Entry]:
        """Cancel moves that were not started. Return the entries in progress."""
        self.interrupted += 1
        if self.interrupted > 1:
            self._mover.leaving.set()
        return [
            entry for future, entry in futures.items() if not (future.cancel() or future.done())
        ]

    def _note(self, _number: int, _frame: object) -> None:
        self._news.put((INTERRUPTED, None, None))


def _outcome(entry: plan.Entry, future: runtime.Future[mover.Outcome]) -> mover.Outcome:
    if not future.cancelled():
        return future.result()
    reason = 'not started: the command was interrupted'
    return mover.Outcome(entry, mover.What.LEFT, entry.how, reason=reason)
