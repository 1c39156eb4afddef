"""The faults of a cloud whose daemons share this process."""

from collections.abc import Callable
from collections.abc import Sequence

from nova_lite import exception
from nova_lite import incarnation as incarnation_module
from nova_lite.lab import memory_broker
from nova_lite.lab.control import faults
from nova_lite.rpc import transport
from nova_lite.virt import driver as virt_driver
from nova_lite.virt.sim import driver as sim
from nova_lite.virt.sim import rules

# The method of a broker that leads to each state of a bus.
SWITCHES = {
    faults.CUT: memory_broker.Broker.cut,
    faults.FROZEN: memory_broker.Broker.freeze,
    faults.HEALED: memory_broker.Broker.heal,
}


class Embedded(faults.Faults):
    """Injects faults into the cloud in this process.

    cells: as in Faults
    drivers: function that returns the drivers of the compute processes
    incarnation: function that returns the current Incarnation of the cloud
    """

    def __init__(
        self,
        cells: Callable[[], Sequence[faults.Cell]],
        drivers: Callable[[], Sequence[virt_driver.Driver]],
        incarnation: Callable[[], incarnation_module.Incarnation],
    ) -> None:
        super().__init__(cells)
        self._drivers, self._incarnation = drivers, incarnation

    def require(self, *, of_service: bool) -> None:
        if not (of_service or all(isinstance(each, sim.SimDriver) for each in self._drivers())):
            raise exception.NotImplementedHere(reason='only simulated hosts have injected faults')

    def inject(self, failures: Sequence[tuple[faults.Shown, rules.FailureRule]]) -> None:
        found = tuple(rule for _entry, rule in failures)
        for driver in self._drivers():
            if isinstance(driver, sim.SimDriver):
                driver.inject(lambda: found)

    def strike_database(self, cell: faults.Cell, *, up: bool) -> None:
        found = self._incarnation()
        (found.bring_up if up else found.take_down)(cell.database)

    def strike_bus(self, cell: faults.Cell, state: str) -> None:
        broker = memory_broker.broker(transport.embedded_name(cell.bus, self._incarnation()))
        # A broker that is frozen can be cut as well: the new state replaces both.
        broker.heal()
        SWITCHES[state](broker)
