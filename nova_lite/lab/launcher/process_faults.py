"""The faults of a cloud with a process for each daemon.

Hosts read their power and their failures from files. With --drills, buses and databases are reached
through relays, and requests to services pass through this process.
"""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import os

from nova_lite import exception
from nova_lite.lab.control import abilities
from nova_lite.lab.control import faults
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import relay
from nova_lite.virt.sim import rules

DRILLS = (
    'A cloud with --bus has %s only with `nova-lite up --drills`. Stop the cloud, and start it so'
)
OF_FILES = (
    'The databases of this cloud are files, which stay: use --bus alone, or start it with --db'
)
# The abilities that --drills gives.
STRUCK = (abilities.DEBUGGER, abilities.REQUESTS, abilities.BUSES, abilities.DATABASES)


class ProcessFaults(faults.Faults):
    """Injects faults into the processes of a cloud.

    relays: {'bus' or 'database': {name of the top or of a cell: relays}}; empty without --drills
    """

    def __init__(
        self,
        places: layout.Layout,
        cells: Callable[[], Sequence[faults.Cell]],
        relays: Mapping[str, Mapping[str, Sequence[relay.Relay]]],
    ) -> None:
        super().__init__(cells)
        self._places, self._relays = places, relays

    def unable(self) -> dict[str, str]:
        """Return {ability that control.abilities names: why the cloud lacks it}."""
        found = {}
        if not self._places.settings.drills:
            for ability in STRUCK:
                found[ability] = DRILLS % ability
        if self._places.settings.database is None:
            found[abilities.DATABASES] = OF_FILES
        return found

    def _require(self, ability: str) -> None:
        reason = self.unable().get(ability)
        if reason is not None:
            raise exception.NotImplementedHere(reason=reason)

    def require(self, *, of_service: bool) -> None:
        if of_service:
            self._require(abilities.REQUESTS)

    def inject(self, failures: Sequence[tuple[faults.Shown, rules.FailureRule]]) -> None:
        found = [{'identity': rule.identity, 'entry': entry} for entry, rule in failures]
        for cell in self._places.cell_names:
            path = self._places.failures_path(cell)
            if found or os.path.exists(path):
                layout.write(path, json.dumps(found))

    def strike_database(self, cell: faults.Cell, *, up: bool) -> None:
        self._require(abilities.DATABASES)
        self._switch(faults.DATABASE, cell.name, faults.HEALED if up else faults.CUT)

    def strike_bus(self, cell: faults.Cell, state: str) -> None:
        self._require(abilities.BUSES)
        self._switch(faults.BUS, cell.name, state)

    def _switch(self, kind: str, name: str, state: str) -> None:
        for each in self._relays[kind][name]:
            each.switch(state)
