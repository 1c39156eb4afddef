"""Events about ports for which builds wait. They are lost in a restart."""

from collections.abc import Mapping

from nova_lite import runtime
from nova_lite.compute import guest_work


class Plugs:
    """Events about the ports of servers that this process builds.

    key: that of the build's work: a host and a server, because a server may be built on another
        host of the same process before its first build has ended
    """

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        self._events: dict[guest_work.Key, dict[str, str]] = {}

    def expect(self, key: guest_work.Key) -> None:
        """Keep the events of a server from now on."""
        with self._lock:
            self._events.setdefault(key, {})

    def note(self, key: guest_work.Key, events: Mapping[str, str]) -> bool:
        """Keep {port id: status} if the server's events are expected. Return whether they are."""
        with self._lock:
            if key not in self._events:
                return False
            self._events[key].update(events)
            return True

    def of(self, key: guest_work.Key) -> dict[str, str]:
        """Return {port id: status} of a server."""
        with self._lock:
            return dict(self._events.get(key, {}))

    def forget(self, key: guest_work.Key) -> None:
        """Stop keeping events of a server."""
        with self._lock:
            self._events.pop(key, None)
