"""The faults that are injected into a running cloud.

They end with the process of `nova-lite up`, except that a host without power stays off.
"""

import abc
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import fnmatch
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.control import request_faults
from nova_lite.virt.sim import hostpower
from nova_lite.virt.sim import profile
from nova_lite.virt.sim import rules

LOG = log.getLogger(__name__)

PARTS = DATABASE, BUS = 'database', 'bus'
# The states of a bus.
CUT, FROZEN, HEALED = 'cut', 'frozen', 'healed'


# An entry of a fault, or all faults.
Shown: typing.TypeAlias = dict[str, typing.Any]


class Cell(typing.NamedTuple):
    """The parts of a cell that a fault can strike; of the top, only the bus.

    guests: path of the file with the guests of the hosts
    database, bus: URLs
    """

    name: str
    bus: str
    database: str = ''
    guests: str = ''
    hosts: Sequence[str] = ()


class Unknown(exception.NotFound):
    msg = '%(what)s %(name)r does not exist. Use one of: %(known)s.'


class Faults(abc.ABC):
    """Injects faults into a cloud. A subclass strikes the parts of one kind of cloud.

    cells: function that returns the top and the cells; called when the cloud has its files
    """

    def __init__(self, cells: Callable[[], Sequence[Cell]]) -> None:
        self._cells = cells
        self._lock = runtime.RLock()
        self.requests = request_faults.RequestFaults()
        # {id: (entry as it was given, what is injected)}
        self._failures: dict[int, tuple[Shown, rules.FailureRule | request_faults.Fault]] = {}
        self._number = 0
        self._databases: set[str] = set()
        # {name: state} of the buses that are not healed
        self._buses: dict[str, str] = {}

    def show(self) -> Shown:
        """Return {failures, hosts_off, databases_down, buses_cut, buses_frozen}."""
        with self._lock:
            return {
                'failures': [
                    {'id': number, **entry} for number, (entry, _rule) in self._failures.items()
                ],
                'hosts_off': [
                    host
                    for cell in self._cells()
                    if cell.guests
                    for host in hostpower.list_off(cell.guests)
                ],
                'databases_down': sorted(self._databases),
                'buses_cut': self._buses_that_are(CUT),
                'buses_frozen': self._buses_that_are(FROZEN),
            }

    def _buses_that_are(self, state: str) -> list[str]:
        return sorted(name for name, found in self._buses.items() if found == state)

    # ---- operations of hosts, and requests to services ----

    def add(self, entry: Shown) -> int:
        """Inject a failure, and return its id. Raise ProfileError, Unknown, Invalid.

        entry: as in the `failures` of a profile, or as in request_faults.SCHEMA
        """
        with self._lock:
            of_service = request_faults.SERVICE in entry
            self.require(of_service=of_service)
            number = self._number + 1
            rule = request_faults.parse(number, entry) if of_service else self._parse(entry)
            self._number = number
            self._failures[number] = entry, rule
            self._inject()
            LOG.warning('Fault %s was added: %s', number, entry)
            return number

    @abc.abstractmethod
    def require(self, *, of_service: bool) -> None:
        """Raise NotImplementedHere unless a failure can be injected.

        of_service: whether it is one of requests to services, or of operations of hosts
        """

    @abc.abstractmethod
    def inject(self, failures: Sequence[tuple[Shown, rules.FailureRule]]) -> None:
        """Replace the failures of operations of hosts. failures: (entry, rule)"""

    @abc.abstractmethod
    def strike_database(self, cell: Cell, *, up: bool) -> None:
        """Take the database of a cell down or up. Raise NotImplementedHere."""

    @abc.abstractmethod
    def strike_bus(self, cell: Cell, state: str) -> None:
        """Cut, freeze or heal a bus. Raise NotImplementedHere."""

    def _parse(self, entry: Shown) -> rules.FailureRule:
        rule = profile.parse_failure(entry, f'injected-{runtime.new_uuid()}')
        hosts = list(self._hosts())
        if not fnmatch.filter(hosts, rule.match.host):
            raise Unknown(what='Host', name=rule.match.host, known=', '.join(hosts))
        return rule

    def clear(self, number: int | None = None) -> None:
        """Remove the injected failure with an id, or all failures. Raise Unknown."""
        with self._lock:
            if number is None:
                self._failures.clear()
            elif self._failures.pop(number, None) is None:
                known = ', '.join(str(each) for each in self._failures) or 'there is none'
                raise Unknown(what='Fault', name=number, known=known)
            self._inject()
            if number is None:
                LOG.warning('All injected failures were cleared')
            else:
                LOG.warning('Fault %s was cleared', number)

    def _inject(self) -> None:
        injected = list(self._failures.values())
        self.requests.inject(
            each for _entry, each in injected if isinstance(each, request_faults.Fault)
        )
        self.inject(
            [(entry, each) for entry, each in injected if isinstance(each, rules.FailureRule)]
        )

    # ---- hosts ----

    def switch_host(self, name: str, *, on: bool) -> None:
        """Switch the power of a host on or off. Raise Unknown."""
        hosts = self._hosts()
        if name not in hosts:
            raise Unknown(what='Host', name=name, known=', '.join(hosts))
        switch = hostpower.power_on if on else hostpower.power_off
        switch(hosts[name], name)
        LOG.warning('Host %s was powered %s', name, 'on' if on else 'off')

    def _hosts(self) -> dict[str, str]:
        """Return {host: path of the file with its guests}."""
        return {host: cell.guests for cell in self._cells() for host in cell.hosts}

    @staticmethod
    def _find(what: str, name: str, found: Iterable[Cell]) -> Cell:
        known = {cell.name: cell for cell in found}
        if name not in known:
            raise Unknown(what=what, name=name, known=', '.join(known))
        return known[name]

    # ---- cells and buses ----

    def switch_cell(self, name: str, *, up: bool, parts: Iterable[str] = PARTS) -> None:
        """Take the database and the bus of a cell down, or up again. Raise Unknown.

        parts: DATABASE, BUS or both
        """
        cell = self._find('Cell', name, [each for each in self._cells() if each.database])
        with self._lock:
            if DATABASE in parts:
                self._switch_database(cell, up)
            if BUS in parts:
                self._switch_bus(cell, HEALED if up else CUT)

    def switch_bus(self, state: str, name: str | None = None) -> None:
        """Cut, freeze or heal the bus of the top or of a cell. Raise Unknown.

        name: None for all buses
        """
        cells = self._cells()
        with self._lock:
            for cell in cells if name is None else [self._find('Bus', name, cells)]:
                self._switch_bus(cell, state)

    def heal(self) -> None:
        """Remove all faults except that hosts stay off: daemons need their buses to stop."""
        if self._failures:
            self.clear()
        with self._lock:
            for cell in self._cells():
                if cell.name in self._databases:
                    self._switch_database(cell, True)
                if cell.name in self._buses:
                    self._switch_bus(cell, HEALED)

    @contextlib.contextmanager
    def healed(self) -> Iterator[None]:
        """Remove all faults as `heal`. Requests for new faults wait for the end of the block."""
        with self._lock:
            self.heal()
            yield

    def _switch_database(self, cell: Cell, up: bool) -> None:
        self.strike_database(cell, up=up)
        (self._databases.discard if up else self._databases.add)(cell.name)
        LOG.warning('The database of %s was taken %s', cell.name, 'up' if up else 'down')

    def _switch_bus(self, cell: Cell, state: str) -> None:
        self.strike_bus(cell, state)
        self._buses.pop(cell.name, None)
        if state != HEALED:
            self._buses[cell.name] = state
        LOG.warning('The bus of %s was %s', cell.name, state)
