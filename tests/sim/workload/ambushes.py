"""Plans of histories in which one process is struck where it hurts most.

Each is for one constellation of which chance alone makes too few; themes draw them besides
their other histories.
"""

from tests.sim.workload import plan


def overtaken(rng, **given):
    """Builds that hosts refuse, while a conductor stands still until another one has them.

    It is about to change what placement holds for one of them.
    """
    return plan.Plan(
        clients=2,
        servers=10,
        minutes=0.35,
        pause_s=rng.choice((1.0, 2.0)),
        creates=1.0,
        deletes=0.0,
        operations=frozenset(('rename',)),
        freezes=1,
        frozen_s=(32, 60),
        victims=('conductor',),
        effects=('http: send',),
        passed=(1, 3),
        ambush=True,
        single=True,
        **given,
    )


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
