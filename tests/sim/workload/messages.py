"""Plans of histories in which messages and requests that change something often fail."""

from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles

# What a request to placement meets before its effect, and after it.
BEFORE, AFTER = ('refused', 'lost request', 'answers 503'), ('lost answer',)


def failing(rng):
    """Replies are lost, messages come twice, and placement fails: two of these at a time."""
    rate = rng.choice((0.02, 0.06))
    kinds = {
        'reply': {'lost': rate, 'twice': rate, 'late': rate / 2},
        'call': {'twice': 2 * rate, 'late': rate / 2},
        'placement': {**dict.fromkeys(BEFORE, rate), **dict.fromkeys(AFTER, 3 * rate)},
    }
    return plan.Plan(
        clients=2,
        servers=3,
        minutes=0.4,
        pause_s=1.0,
        creates=0.5,
        operations=frozenset(
            (*ingredients.MOVES, *rng.choice((ingredients.SHELVES, ingredients.DEVICES)))
        ),
        rates={kind: kinds[kind] for kind in sorted(rng.sample(sorted(kinds), 2))},
        options=ingredients.HASTY,
        refusals=profiles.REFUSED,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 2))),
    )
