"""Plans of histories whose servers have CPUs, pages and devices for themselves."""

from tests.fixtures import fleet
from tests.sim.workload import ingredients
from tests.sim.workload import isolation
from tests.sim.workload import operations
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places


def pinned(rng):
    """Servers with CPUs, pages and devices, on hosts that have too few of them for all."""
    return plan.Plan(
        clients=2,
        servers=rng.choice((3, 5)),
        minutes=0.4,
        pause_s=1.0,
        creates=0.5,
        deletes=0.1,
        pinned=isolation.PINNED,
        ports=0.4,
        operations=frozenset(
            (
                *('attach_interface', 'detach_interface'),
                *ingredients.MOVES,
                *rng.choice((ingredients.SHELVES, ('cross',), ('reboot_hard', 'rebuild'))),
                'rescue',
                'unrescue',
                operations.CONSOLE,
            )
        ),
        kills=rng.choice((0, 0, 2)),
        hosts_off=rng.choice((0, 1)),
        ambush=True,
        victims=rng.choice((('super',), ('conductor', 'compute'))),
        rates=rng.choice(({}, ingredients.SLUGGISH, {'reply': {'lost': 0.02, 'late': 0.02}})),
        options=places.merged(
            {**ingredients.HASTY, **isolation.ALIASES}, rng.choice(({}, isolation.FILTERED))
        ),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 3))) + isolation.NODES,
        # Another guest may have been faster.
        refusals=(*profiles.REFUSED, *profiles.OCCUPIED, profiles.NO_DEVICE),
    )


def filled(rng):
    """The same on 24 hosts of the bundled profiles, which are filled at the end."""
    return plan.Plan(
        clients=4,
        servers=rng.choice((25, 40)),
        minutes=0.6,
        pause_s=0.5,
        creates=0.7,
        deletes=0.15,
        booted=0.0,
        pinned=fleet.FLAVORS,
        filled=True,
        operations=frozenset(
            (
                *ingredients.MOVES,
                *rng.choice((ingredients.SHELVES, ('cross',), ('reboot_hard', 'rebuild'))),
            )
        ),
        kills=rng.choice((1, 3)),
        freezes=rng.choice((0, 1)),
        hosts_off=rng.choice((0, 1)),
        ambush=True,
        victims=rng.choice((('super', 'scheduler'), ('conductor', 'compute'))),
        rates=rng.choice(({}, ingredients.SLUGGISH, {'reply': {'lost': 0.02, 'late': 0.02}})),
        options=places.merged(ingredients.HASTY, fleet.options(report=rng.choice((False, True)))),
        profile=fleet.PROFILE.format(seed=rng.randrange(1000), high=rng.choice((0.3, 3))),
        # Another guest may have been faster.
        refusals=(*profiles.REFUSED, *profiles.OCCUPIED, profiles.NO_DEVICE),
    )


FLEET_SIZE = places.Size(fleet.CELLS, fleet.HOSTS, ('super-1',), ('api-1',))
PINNED = {'pinned': (1, places.CELLS, pinned)}
FLEET = {'fleets': (1, FLEET_SIZE, filled)}
