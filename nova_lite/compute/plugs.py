"""Events about ports for which builds wait. Nothing is kept over a restart."""

from collections.abc import Mapping
import typing

from nova_lite import runtime

# The host that builds a server, and the server's uuid: a server may be built on another
# host of the same process before its first build has ended.
Key: typing.TypeAlias = tuple[str, str]


class Plugs:
    """Events about the ports of servers that are being built here."""

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        self._events: dict[Key, dict[str, str]] = {}

    def expect(self, key: Key) -> None:
        """Keep the events of a server from now on."""
        with self._lock:
            self._events.setdefault(key, {})

    def note(self, key: Key, events: Mapping[str, str]) -> bool:
        """Keep {port id: status} if the server's are expected. Return whether they are."""
        with self._lock:
            if key not in self._events:
                return False
            self._events[key].update(events)
            return True

    def of(self, key: Key) -> dict[str, str]:
        """Return {port id: status} of a server."""
        with self._lock:
            return dict(self._events.get(key, {}))

    def forget(self, key: Key) -> None:
        """Keep no events of a server any more."""
        with self._lock:
            self._events.pop(key, None)
