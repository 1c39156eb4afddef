"""The sagas that wait for a thread, and the choice of the next saga.

A saga runs in lanes: those of the cells and of the hosts that it uses. The sagas of a lane
may use only a part of the threads, so a host that hangs, or a slow cell, holds up only its
own sagas. Cells take turns.

A saga that needs two busy cells rarely finds a free place in both at once, while sagas that need
one of these cells pass it. After a number of such sagas it may use one extra place in each of its
cells. Hosts have no extra place, because a host that hangs would occupy it.

Not thread-safe: the engine's lock protects it.
"""

import collections
import collections.abc
import typing

# Maximum length of the queue. The journal has the other sagas, and the sweep submits them later.
BOUND = 10_000
CELL, HOST = 'cell', 'host'
# The fraction of the threads that one lane of a kind may occupy.
SHARES = {CELL: 2, HOST: 4}
# How many sagas may pass a saga before it gets the extra place of its cells.
MOST_PASSED = 20


class Lane(typing.NamedTuple):
    """A cell or a host with a limited number of threads. kind: CELL or HOST"""

    kind: str
    name: str


class Entry:
    """A saga that waits or runs.

    lanes: the lanes that the saga is known to need, that of its cell first
    passed: how often a later saga was taken before this one
    """

    def __init__(self, uuid: str, lanes: collections.abc.Iterable[Lane]) -> None:
        self.uuid, self.lanes = uuid, tuple(dict.fromkeys(lanes))
        self.passed = 0


class Queue:
    """The waiting sagas, each once, by their first lane, and the occupied places of the lanes.

    threads: maximum number of sagas that run at the same time
    """

    def __init__(self, threads: int, bound: int = BOUND) -> None:
        self._threads, self._bound = threads, bound
        self._groups: collections.OrderedDict[tuple[Lane, ...], collections.deque[Entry]] = (
            collections.OrderedDict()
        )
        self._waiting: set[str] = set()
        self._used: collections.Counter[Lane] = collections.Counter()

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, uuid: object) -> bool:
        return uuid in self._waiting

    def put(self, uuid: str, lanes: collections.abc.Iterable[Lane]) -> bool:
        """Add a saga. Return False if it already waits, or if the queue is full."""
        if uuid in self._waiting or len(self._waiting) >= self._bound:
            return False
        entry = Entry(uuid, lanes)
        self._waiting.add(uuid)
        self._groups.setdefault(entry.lanes[:1], collections.deque()).append(entry)
        return True

    def take(self) -> Entry | None:
        """Take a place in the lanes for the next Entry that fits. Return it, or None."""
        passed = []
        for key, entries in self._groups.items():
            for entry in entries:
                if not self._has_room(entry.lanes, late=entry.passed >= MOST_PASSED):
                    passed.append(entry)
                else:
                    for other in passed:
                        other.passed += 1
                    entries.remove(entry)
                    self._groups.move_to_end(key)
                    if not entries:
                        del self._groups[key]
                    self._waiting.discard(entry.uuid)
                    self._used.update(entry.lanes)
                    return entry
        return None

    def widen(self, entry: Entry, lanes: collections.abc.Iterable[Lane]) -> bool:
        """Take a place in further lanes for a running saga. Return False if one is full."""
        more = [lane for lane in dict.fromkeys(lanes) if lane not in entry.lanes]
        if not self._has_room(more):
            return False
        entry.lanes += tuple(more)
        self._used.update(more)
        return True

    def leave(self, entry: Entry) -> None:
        """Release the places of a saga that no longer runs."""
        self._used.subtract(entry.lanes)
        self._used += collections.Counter()

    def _has_room(self, lanes: collections.abc.Iterable[Lane], *, late: bool = False) -> bool:
        return all(self._used[lane] < self._limit(lane, late) for lane in lanes)

    def _limit(self, lane: Lane, late: bool) -> int:
        extra = late and lane.kind == CELL
        return max(1, self._threads // SHARES[lane.kind]) + extra
