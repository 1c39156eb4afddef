"""What a history is made of, drawn from its seed: not everything in each.

A history in which everything happens at once finds less than many that each leave
something out: what is left out no longer hides the rest.
"""

import dataclasses

from tests.sim.workload import client

# Options of the daemons under which races are more frequent.
HASTY = {
    'DEFAULT': {'rpc_response_timeout': 10, 'report_interval': 5},
    'conductor': {
        'lease_s': 8,
        'build_lease_s': 20,
        'sweep_interval_s': 2.0,
        'audit_interval': 5,
        'allocation_audit_interval': 5,
    },
    'compute': {'audit_interval': 10, 'stray_grace': 10},
}


@dataclasses.dataclass
class Plan:
    """operations: names; kills, freezes: how many; rates: see faults.Faults"""

    clients: int = 3
    servers: int = 8
    minutes: float = 5.0
    pause_s: float = 4.0
    operations: frozenset = frozenset(client.EVERY)
    kills: int = 0
    freezes: int = 0
    leaps: int = 0
    hosts_off: int = 0
    rates: dict = dataclasses.field(default_factory=dict)
    settle_s: float = 1800.0
    options: dict = dataclasses.field(default_factory=dict)


# Kinds of faults, and what may befall one thing of a kind.
FATES = {
    'commit': ('lost before', 'lost after', 'conflict', 'busy', 'read-only', 'killed after'),
    'statement': ('lost', 'conflict', 'busy'),
    'http': ('refused', 'lost request', 'lost answer', 'answers 503'),
    'call': ('twice', 'late'),
    'reply': ('lost', 'late', 'twice'),
}
RATES = (0.0005, 0.002, 0.01)


def drawn(rng):
    """A plan by chance."""
    every = sorted(client.EVERY)
    return Plan(
        clients=rng.choice((1, 2, 3)),
        servers=rng.choice((2, 5, 10)),
        minutes=rng.choice((1.0, 1.0, 2.0, 4.0)),
        pause_s=rng.choice((0.5, 2.0, 6.0)),
        operations=frozenset(rng.sample(every, rng.randrange(4, len(every) + 1))),
        kills=rng.choice((0, 2, 5)),
        freezes=rng.choice((0, 0, 2)),
        leaps=rng.choice((0, 0, 2)),
        hosts_off=rng.choice((0, 0, 1)),
        rates=_rates(rng),
        settle_s=rng.choice((180.0, 180.0, 1800.0)),
        options=rng.choice((HASTY, HASTY, {})),
    )


def _rates(rng):
    """No faults of half of the kinds, few of the others."""
    return {
        kind: {fate: rng.choice(RATES) / len(fates) for fate in fates}
        for kind, fates in sorted(FATES.items())
        if rng.random() < 0.5
    }
