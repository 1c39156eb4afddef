"""Plans of histories with hosts and cells that are not mapped, or do not answer."""

from tests.sim.workload import administrators
from tests.sim.workload import devices
from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places

# Hosts are discovered from time to time.
DISCOVERING = places.merged(
    ingredients.ASLEEP, {'scheduler': {'discover_hosts_in_cells_interval': 20}}
)
CROSSINGS = ('migrate', 'cross', 'confirm', 'revert')


def mappings(rng):
    """Mappings of hosts and cells that are deleted and made again while servers come and move."""
    does = rng.choice(((), ingredients.MOVES, CROSSINGS, ingredients.SHELVES, ('evacuate',)))
    return plan.Plan(
        clients=3,
        # Most hosts have no server, so that their mappings can be deleted.
        servers=rng.choice((1, 2)),
        creates=0.7,
        deletes=rng.choice((0.1, 0.2)) if does else 0.6,
        minutes=0.7,
        pause_s=0.7,
        operations=frozenset((*does, 'delete')),
        hosts_off=rng.choice((0, 0, 1)),
        # Their servers can be evacuated.
        off_s=(25, 60),
        # Mappings are deleted while a super-conductor stands still that has read them.
        freezes=12,
        victims=('super',),
        frozen_s=(0.5, 4),
        after='bus: put: top scheduler',
        effects=('db: BEGIN: cell',),
        passed=(1, 1, 2, 4),
        ambush=True,
        administration=administrators.OF_MAPPINGS,
        outside_s=rng.choice((0.3, 0.7)),
        rates={'begin': {'slow': rng.choice((0.0, 0.0, 0.005))}},
        options=DISCOVERING,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 1))),
        refusals=(*profiles.NO_HOST, *profiles.UNMAPPED),
    )


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
MAPPINGS = {'mappings': (1, places.CELLS, mappings)}
