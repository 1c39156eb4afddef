"""First uses of code by each history, done once before all of them.

SQLAlchemy compiles each statement once per process, modules are imported when they are first
needed, and libraries prepare what they parse. The process that rehearses is forked for the
starts of all histories.
"""

from tests.sim import history
from tests.sim import kernel
from tests.sim.workload import devices
from tests.sim.workload import ingredients
from tests.sim.workload import operations
from tests.sim.workload import plan
from tests.sim.world import beginning
from tests.sim.world import places

# What processes held is given up soon after they were killed.
END_S = 1
# Daemons of all kinds, and servers that move between cells.
SIZE = places.CROSSED
PLAN = plan.Plan(
    clients=2,
    servers=3,
    minutes=0.2,
    pause_s=0.5,
    creates=0.3,
    operations=frozenset((*operations.EVERY, *devices.SHARES)),
    options=ingredients.HASTY,
)


def rehearse():
    """Live through a short history without faults, whose cloud is gone afterwards."""
    begun = beginning.Beginning(SIZE, PLAN.options)
    history.History(begun, PLAN).run()
    for name in begun.cloud.names:
        begun.cloud.kill(name)
    kernel.current().sleep(END_S)
    begun.world.disk.close_all()
