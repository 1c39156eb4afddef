"""The hub: passes the notifications of this process to its listeners.

An embedded cloud has its buses in its own memory, so `nova-lite events` uses a listener of the hub,
through the cloud's local endpoint. A listener that does not keep up loses the oldest notifications
and receives their number.
"""

import collections
import typing

from nova_lite import runtime

KEPT = 5000

Json: typing.TypeAlias = dict[str, typing.Any]

_hubs: dict[str, 'Hub'] = {}
_hubs_lock = runtime.Lock()


def of(state_path: str) -> 'Hub':
    """Return the hub of the cloud with this state directory. The first call creates it."""
    with _hubs_lock:
        return _hubs.setdefault(state_path.rstrip('/'), Hub())


class Hub:
    """Listeners of one cloud."""

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        self._listeners: tuple[Listener, ...] = ()

    @property
    def is_wanted(self) -> bool:
        """Return whether there is a listener."""
        return bool(self._listeners)

    def listen(self) -> 'Listener':
        """Return a new Listener. The caller must close it."""
        listener = Listener(self)
        with self._lock:
            self._listeners = (*self._listeners, listener)
        return listener

    def publish(self, bus: str, message: Json) -> None:
        """Give a message of the bus `bus` to all listeners."""
        for listener in self._listeners:
            listener.put({'bus': bus, **message})

    def drop(self, listener: 'Listener') -> None:
        """Remove a listener."""
        with self._lock:
            self._listeners = tuple(each for each in self._listeners if each is not listener)


class Listener:
    """A queue of the newest `KEPT` messages of a hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._waiting: collections.deque[Json] = collections.deque()
        self._arrived = runtime.Condition(idle=True)
        self._dropped = 0

    def put(self, message: Json) -> None:
        with self._arrived:
            self._waiting.append(message)
            if len(self._waiting) > KEPT:
                self._waiting.popleft()
                self._dropped += 1
            self._arrived.notify_all()

    def take(self, seconds: float) -> tuple[list[Json], int]:
        """Return (waiting messages, number of lost messages) after at most `seconds`."""
        with self._arrived:
            if not self._waiting:
                self._arrived.wait(seconds)
            found, self._waiting = list(self._waiting), collections.deque()
            dropped, self._dropped = self._dropped, 0
            return found, dropped

    def close(self) -> None:
        self._hub.drop(self)
