"""Plans of histories with many clients at once, whose builds and deletions meet in batches."""

from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places


def together(rng):
    """Servers that come and go at the same time, while commits fail and daemons die.

    Slow beginnings of transactions and late answers let others wait, which then go together.
    """
    waits = {'begin': {'slow': 0.06}, 'http': {'late': 0.1}}
    failing = rng.choice(
        (
            {},
            {'commit': dict.fromkeys(plan.FATES['commit'], 0.003)},
            {'work': dict.fromkeys(ingredients.UNKNOWN, 0.02)},
            {'http': {'late': 0.1, 'lost answer': 0.01}, 'reply': {'lost': 0.01}},
        )
    )
    made = plan.Plan(
        clients=6,
        servers=9,
        creates=0.7,
        deletes=0.5,
        minutes=0.25,
        pause_s=0.05,
        operations=frozenset(('delete',)),
        groups=rng.choice((0.0, 0.5)),
        policy=rng.choice(('anti-affinity', 'soft-anti-affinity')),
        kills=rng.choice((0, 0, 2)),
        # What arrives meanwhile is done at once afterwards.
        freezes=5,
        frozen_s=(0.5, 4),
        ambush=True,
        victims=rng.choice((('super',), ('conductor', 'scheduler', 'super'))),
        rates={**waits, **failing},
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 1))),
        refusals=('No valid host',),
    )
    if rng.random() < 0.5:
        return _withdrawn(rng, made)
    # Drawn last, so that the other plans do not change.
    return _leaving(rng, made) if rng.random() < 0.5 else made


def _leaving(rng, made):
    """Delete servers with devices at the same time, as the API, a host or a conductor stands still.

    What the servers have of their users must stay, and what they have of their own must go.
    """
    made.creates, made.deletes, made.pause_s = 0.6, 0.9, 0.02
    made.ports, made.volumes, made.booted = 0.5, 0.4, 0.4
    made.kills = rng.choice((0, 0, 2))
    made.victims = rng.choice((('api',), ('compute',), ('conductor',), ('api', 'compute')))
    made.freezes, made.frozen_s = 8, (0.5, 3)
    made.passed = (1, 3)
    return made


def _withdrawn(rng, made):
    """Delete servers while a super-conductor stands still before it maps them and others."""
    made.kills, made.freezes, made.victims = 0, 12, ('super',)
    made.after, made.effects, made.passed = 'bus: put: top scheduler', ('db: BEGIN: cell',), (1, 2)
    made.frozen_s, made.creates, made.deletes = (2, 8), 0.8, 0.8
    made.rates = {'begin': {'slow': 0.03}}
    made.profile = profiles.slow(rng.randrange(1000), 0.1)
    return made


CROWDS = {'crowds': (1, places.SMALL, together)}
