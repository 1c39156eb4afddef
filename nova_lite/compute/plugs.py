"""Events about ports for which builds wait. Nothing is kept over a restart."""

from collections.abc import Mapping

from nova_lite import runtime


class Plugs:
    """Events about the ports of servers that are being built here."""

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        self._events: dict[str, dict[str, str]] = {}

    def expect(self, uuid: str) -> None:
        """Keep the events of a server from now on."""
        with self._lock:
            self._events.setdefault(uuid, {})

    def note(self, uuid: str, events: Mapping[str, str]) -> bool:
        """Keep {port id: status} if the server's are expected. Return whether they are."""
        with self._lock:
            if uuid not in self._events:
                return False
            self._events[uuid].update(events)
            return True

    def of(self, uuid: str) -> dict[str, str]:
        """Return {port id: status} of a server."""
        with self._lock:
            return dict(self._events.get(uuid, {}))

    def forget(self, uuid: str) -> None:
        """Keep no events of a server any more."""
        with self._lock:
            self._events.pop(uuid, None)
