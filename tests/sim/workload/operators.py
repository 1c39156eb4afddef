"""Plans of histories with hosts that do not answer."""

from tests.sim.workload import devices
from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places


def unheard(rng):
    """Hosts that do not answer for a minute, while devices are attached and detached."""
    return plan.Plan(
        clients=2,
        servers=2,
        creates=1.0,
        deletes=0.0,
        minutes=0.5,
        pause_s=0.5,
        ports=0.3,
        networked=True,
        patient=True,
        operations=frozenset((*devices.WITHOUT_SWAPS, 'rename')),
        freezes=3,
        victims=('compute',),
        frozen_s=(12, 60),
        ambush=True,
        effects=('bus: put', 'db: committed'),
        passed=(1, 3, 6),
        options=ingredients.ASLEEP,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 2))),
    )


UNHEARD = {'unheard': (1, places.SPLIT, unheard)}
