"""Live through histories of the simulated cloud: python -m tests.sim --help."""
# ruff: noqa: E402 what is imported after the patch gets the simulated primitives

from tests.sim.kernel import patch

patch.reexecute()
patch.apply()

import logging
import sys

from tests.sim import command
from tests.sim import session
from tests.sim.workload import themes

# Virtual seconds after which a history has no end.
LIMIT_S = 4 * 3600

if __name__ == '__main__':
    logging.basicConfig(level=logging.CRITICAL)
    sys.exit(command.main(session.prepared, theme_of=themes.of_seed, limit_s=LIMIT_S))
