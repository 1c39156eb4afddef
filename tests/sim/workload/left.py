"""Plans of histories in which failures of moves stay as in nova. Nothing else goes wrong."""

from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places

# Operations of hosts that fail in the middle, each of which a row of the table is about.
VERBS = (
    'migrate_out',
    'finish_migration',
    'revert_migration',
    'confirm_migration',
    'live_migrate',
    'snapshot',
    'attach_volume',
)
RULES = tuple((verb, 'during') for verb in VERBS)


def left(rng):
    """Servers that move, are shelved and rebuilt, on hosts that fail often."""
    return plan.Plan(
        clients=2,
        servers=rng.choice((2, 4)),
        minutes=0.5,
        pause_s=0.7,
        creates=0.5,
        deletes=rng.choice((0.02, 0.1)),
        operations=frozenset(
            (
                *('resize', 'migrate', 'confirm', 'revert', 'reboot_hard'),
                *rng.choice((('cross',), ('live_migrate',), ('shelve', 'unshelve'))),
                *rng.choice(((), ('attach_volume', 'detach_volume'))),
            )
        ),
        left=True,
        options=places.merged(ingredients.HASTY, {'conductor': {'failures': 'nova'}}),
        profile=profiles.refusing(rng.randrange(1000), 1, rng.choice((0.15, 0.4)), RULES),
        refusals=(*profiles.REFUSED, profiles.INJECTED, *(f'{verb} of guest' for verb in VERBS)),
    )


LEFT = {'left as nova': (1, places.CELLS, left)}
