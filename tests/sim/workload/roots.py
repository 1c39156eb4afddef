"""Plans of histories in which servers lose their root disks."""

from tests.sim.workload import ingredients
from tests.sim.workload import owners
from tests.sim.workload import plan
from tests.sim.workload import profiles


def rooted(owned, rng):
    """Root disks whose attachments an administrator deletes, while their servers move.

    owned: what all plans with owners have
    """
    return plan.Plan(
        **owned,
        minutes=0.4,
        pause_s=0.7,
        deletes=0.03,
        booted=0.8,
        operations=frozenset(
            (
                'reboot_hard',
                *rng.choice((ingredients.MOVES, ingredients.MOVES, ingredients.SHELVES)),
                *rng.choice(((), ('rebuild',), ('cross', 'confirm', 'revert'))),
            )
        ),
        owning=owners.OF_ROOTS,
        outside_s=rng.choice((1.0, 3.0)),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 3))),
        refusals=('No valid host',),
    )
