"""The kernel of the simulation: threads, clocks and chance that follow from a seed.

`patch.reexecute()` and `patch.apply()` come first in the program. `run` then lives through one
history in a child process, and code inside it talks to `current()`.
"""

from tests.sim.kernel import core
from tests.sim.kernel import runner
from tests.sim.kernel import zygote

History = runner.History
Outcome = runner.Outcome
readable = runner.readable
run = runner.run
run_many = runner.run_many
Zygotes = zygote.Zygotes


def current():
    """Return the kernel of the history that runs; None outside of one."""
    return core.active
