"""Plans of histories in which one process is struck where it hurts most.

Each is for one constellation of which chance alone makes too few; a theme draws it besides
its other histories.
"""

from tests.sim.workload import plan


def withdrawn(rng, **given):
    """Builds that are deleted while the scheduler stands still and super-conductors die.

    The scheduler claims for them when it goes on.
    """
    return plan.Plan(
        clients=2,
        servers=4,
        minutes=0.6,
        pause_s=rng.choice((0.5, 1.0)),
        creates=0.8,
        deletes=0.8,
        operations=frozenset(('delete',)),
        kills=2,
        victims=('super',),
        freezes=1,
        freezable=('scheduler',),
        frozen_s=(50, 80),
        effects=('http: send', 'bus: put'),
        passed=(1, 3),
        ambush=True,
        **given,
    )
