"""The notifier: builds messages of changed records and sends each to its bus.

Each process that sends notifications has one such thread. Records wait in a bounded queue, so that
no transaction waits. An event on a host goes to the bus of the host's cell, any other event to the
bus of this process.
"""

import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.notify import envelope
from nova_lite.notify import hub
from nova_lite.notify import outlets
from nova_lite.notify import watch
from nova_lite.rpc import transport
from nova_lite.runtime import workers

LOG = log.getLogger(__name__)

CLOSE_S = 2.0
# Seconds for which the cell of a host is cached.
HOME_S = 60.0

Json: typing.TypeAlias = dict[str, typing.Any]
# The name and the URL of a bus.
Home: typing.TypeAlias = tuple[str, str]


class Cell(typing.Protocol):
    """The part of cells.Cell that this module uses."""

    @property
    def is_cell0(self) -> bool: ...

    @property
    def bus_url(self) -> str: ...


class Cells(typing.Protocol):
    """The part of cells.Cells that this module uses; processes of one cell do not import it."""

    def of_host(self, host: str, /) -> Cell:
        """Return the cell of a compute host. Raise HostMappingNotFound."""


class Notifier:
    """Creates and sends the notifications of a daemon.

    own: URL of the daemon's own bus; cells: cells.Cells, for a daemon that knows all cells
    hub: hub.Hub of listeners in this process; parts_of: see envelope.Builder
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        own: str,
        hub: hub.Hub,
        *,
        parts_of: envelope.PartsOf,
        cells: Cells | None = None,
    ) -> None:
        self._conf, self._hub, self._cells = conf, hub, cells
        self._sends = bool(outlets.drivers(conf))
        self._builder = envelope.Builder(conf, parts_of)
        self._own = (transport.name_of(own), own)
        self._outlets: dict[str, outlets.Outlet] = {}
        self._homes: dict[str, tuple[Home, float]] = {}
        self._line = workers.Line(conf.notifications.queue_size)
        self._dropped = 0

    def is_wanted(self) -> bool:
        """Return whether notifications are enabled or have a listener."""
        return self._sends or self._hub.is_wanted

    def take(self, cell: Cell | None, found: list[watch.Change]) -> None:
        """Queue changes of the database of a cell for notification."""
        if not self._line.put(self._send, cell, found):
            self._dropped += len(found)

    def close(self) -> None:
        """Send the waiting notifications and close the outlets, in a few seconds at most."""
        self._line.finish(lambda: None, CLOSE_S)
        for outlet in list(self._outlets.values()):
            outlet.close()

    # ---- the thread ----

    def _send(self, cell: Cell | None, found: list[watch.Change]) -> None:
        if self._dropped:
            LOG.warning('Dropped %s notifications because the queue was full', self._dropped)
            self._dropped = 0
        for change in found:
            try:
                for host, body, legacy in self._builder.bodies(change):
                    self._hand_on(self._home(host, cell), change, body, legacy)
            except Exception:
                # An error of one notification must not end the thread and lose the others.
                LOG.exception('Cannot create a notification of %s', change.note.what)

    def _hand_on(self, home: Home, change: watch.Change, body: Json, legacy: Json | None) -> None:
        name, url = home
        self._hub.publish(name, body)
        if not self._sends:
            return
        if name not in self._outlets:
            self._outlets[name] = outlets.Outlet(self._conf, name, url)
        self._outlets[name].send(outlets.Message(body, legacy, self._builder.context_of(change)))

    # ---- the bus of an event ----

    def _home(self, host: str | None, cell: Cell | None) -> Home:
        """Return (name, URL) of the bus for an event on `host` (None: on no host)."""
        if host is None or host == self._conf.host or self._cells is None:
            return self._own
        home, until = self._homes.get(host, (self._own, 0.0))
        if runtime.monotonic() >= until:
            home = self._find_home(self._cells, host, cell)
            self._homes[host] = (home, runtime.monotonic() + HOME_S)
        return home

    def _find_home(self, cells: Cells, host: str, cell: Cell | None) -> Home:
        """Return the bus of the host's cell or, if that is unknown, of the record's cell."""
        try:
            found: Cell | None = cells.of_host(host)
        except exception.NovaLiteError as error:
            LOG.info('Cannot find the cell of host %s: %s', host, error)
            found = cell
        return (
            self._own
            if found is None or found.is_cell0
            else (transport.name_of(found.bus_url), found.bus_url)
        )
