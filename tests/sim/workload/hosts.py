"""Plans of histories about the hosts of servers: groups, named and isolated hosts, cells."""

from tests.sim.workload import ambushes
from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places

POLICIES = ('affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity')
ISOLATING = {'scheduler': {'enable_isolated_aggregate_filtering': True}}


def groups(rng):
    """Members of an anti-affinity group that come, go and move at the same time."""
    high = rng.choice((3, 20))
    creates, deletes = rng.choice(((0.6, 0.05), (0.8, 0.4)))
    return plan.Plan(
        clients=2,
        # With as many as there are hosts none can move.
        servers=rng.choice((2, 2, 3)),
        minutes=0.3 + high / 40,
        pause_s=rng.choice((1.0, 2.0)),
        operations=_moves_and_deletes(rng),
        options=ingredients.HASTY,
        creates=creates,
        deletes=deletes,
        groups=1.0,
        refusals=profiles.REFUSED,
        profile=profiles.slow_or_refusing(rng, high, share=0.4),
    )


def policies(rng):
    """The same of a group of any policy in two cells; anti-affinity allows two on a host."""
    high = rng.choice((1, 10))
    return plan.Plan(
        clients=2,
        servers=rng.choice((2, 4)),
        minutes=0.3 + high / 40,
        pause_s=1.0,
        operations=_moves_and_deletes(rng) | {'cross'},
        options=ingredients.HASTY,
        creates=0.6,
        deletes=rng.choice((0.1, 0.4)),
        groups=1.0,
        policy=rng.choice(POLICIES),
        most_on_host=2,
        refusals=profiles.REFUSED,
        profile=profiles.slow_or_refusing(rng, high, share=0.4),
    )


def _moves_and_deletes(rng):
    shelves = rng.choice(((), ingredients.SHELVES))
    return frozenset((*ingredients.MOVES, 'delete', *shelves))


def named(rng):
    """Hosts that are named for servers, and one that is isolated, while servers move."""
    return plan.Plan(
        clients=2,
        servers=4,
        minutes=0.25,
        pause_s=1.0,
        creates=0.6,
        operations=frozenset((*ingredients.MOVES, 'cross', *rng.choice(((), ingredients.SHELVES)))),
        requested=rng.choice((0.0, 0.5)),
        targets=0.4,
        isolated=True,
        rates=rng.choice(({}, {'call': dict.fromkeys(('twice', 'late'), 0.01)})),
        options=places.merged(ingredients.HASTY, ISOLATING),
        profile=profiles.slow_or_refusing(rng, 3, share=0.3),
        refusals=profiles.REFUSED,
    )


def crossing(rng):
    made = _crossing(rng)
    # Drawn last, so that the other plans do not change.
    return ambushes.takeovers(rng, options=ingredients.HASTY) if rng.random() < 0.35 else made


def _crossing(rng):
    """Servers that move between two cells, while daemons that serve the cells die or freeze."""
    more = rng.choice(((), ('stop', 'start'), ingredients.DEVICES))
    return plan.Plan(
        clients=2,
        servers=rng.choice((1, 2)),
        minutes=0.4,
        pause_s=1.0,
        creates=0.5,
        deletes=rng.choice((0.02, 0.1)),
        operations=frozenset(('resize', 'cross', 'confirm', 'revert', 'rename', *more)),
        divided=rng.random() < 0.5,
        kills=rng.choice((0, 0, 2)),
        freezes=rng.choice((0, 0, 1)),
        ambush=True,
        victims=rng.choice((('super',), ('super', 'conductor', 'compute'))),
        rates=rng.choice(
            ({}, ingredients.SLUGGISH, {'commit': dict.fromkeys(ingredients.UNKNOWN, 0.003)})
        ),
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 3))),
        bus_losses=rng.choice((0, 0, 1)),
        refusals=('No valid host',),
    )
