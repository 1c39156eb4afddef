"""Whole embedded clouds, with real HTTP and the real clients."""

from tests.fixtures import hurry
from tests.sim.cases import loading

# Time that is simulated costs nothing, but each look does.
if not loading.inside:
    hurry.hurry()
