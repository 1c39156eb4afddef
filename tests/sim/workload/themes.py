"""Themes of histories: each seed has one, and draws the rest of its plan by chance.

A history in which everything happens at once finds less than many that each leave
something out: what is left out no longer hides the rest. A theme puts together what has to
meet for a kind of defect, in a cloud that is as small as this allows.
"""

from tests.sim.kernel import streams
from tests.sim.workload import ambushes
from tests.sim.workload import devices
from tests.sim.workload import hosts
from tests.sim.workload import ingredients
from tests.sim.workload import messages
from tests.sim.workload import operations
from tests.sim.workload import outsiders
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places

RATES = (0.0005, 0.002, 0.01)
# One of so many seeds has a theme of `outsiders`. The gate runs the seeds before the second number,
# of which 6 have one: these histories take several times as long as others.
OUTSIDE, GATE_OUTSIDE, FIRST_OF_NIGHTS = 6, 28, 201
# From here on, a theme of outsiders has its share however many were added after it.
FIRST_SHARED = 20_201


def of_seed(seed):
    """The name of a seed's theme."""
    share = OUTSIDE if seed >= FIRST_OF_NIGHTS else GATE_OUTSIDE
    outside = streams.derived(seed, 'outsiders') % share == 0
    themes = outsiders.THEMES if outside else THEMES
    if outside and share == OUTSIDE:
        themes = outsiders.EVERY if seed >= FIRST_SHARED else outsiders.later(seed)
    names = [name for name, (share, *_) in themes.items() for _ in range(share)]
    return names[streams.derived(seed, 'theme') % len(names)]


def drawn(seed):
    """The plan of a history."""
    _share, size, draw = {**THEMES, **outsiders.EVERY}[of_seed(seed)]
    made = draw(streams.Stream(seed, 'plan'))
    made.size = size
    return made


def _mixed(rng):
    every = sorted(operations.EVERY)
    return plan.Plan(
        clients=rng.choice((1, 2, 3)),
        servers=rng.choice((1, 2, 4)),
        minutes=rng.choice((0.15, 0.25, 0.5)),
        pause_s=rng.choice((2.0, 4.0)),
        operations=frozenset(rng.sample(every, rng.randrange(4, len(every) + 1))),
        kills=rng.choice((0, 1, 3)),
        freezes=rng.choice((0, 0, 1)),
        leaps=rng.choice((0, 0, 1)),
        hosts_off=rng.choice((0, 0, 1)),
        ambush=rng.random() < 0.5,
        rates=_rates(rng),
        options=rng.choice((ingredients.HASTY, ingredients.HASTY, {})),
        bus_losses=rng.choice((0, 0, 2)),
        forces=True,
    )


def _rates(rng):
    """No faults of half of the kinds, few of the others."""
    return {
        kind: {fate: rng.choice(RATES) / len(fates) for fate in fates}
        for kind, fates in sorted(plan.FATES.items())
        if rng.random() < 0.5
    }


def _slow(rng):
    """Hosts that take a minute or so, from some time on, under audits every few seconds."""
    high = rng.choice((30, 90, 200))
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=0.4,
        pause_s=2.0,
        operations=frozenset(
            (*ingredients.SHELVES, *rng.choice(((), ingredients.MOVES, ('rescue', 'unrescue'))))
        ),
        options=ingredients.HASTY,
        later_profile=profiles.slow(rng.randrange(1000), high, more=', destroy: 0.1'),
    )


def _power(rng):
    """Power actions while audits compare all the time, by slow buses in most.

    No server is deleted, so that what an audit did to it is seen at the end.
    """
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=0.15,
        pause_s=0.5,
        creates=1.0,
        deletes=0.0,
        operations=frozenset(('stop', 'start', *rng.choice(ingredients.POWERED))),
        rates=rng.choice(({}, {'call': {'slow': 0.2}}, {'call': {'slow': 0.4}})),
        options=places.merged(
            ingredients.HASTY, {'compute': {'audit_interval': 1, 'stray_grace': 5}}
        ),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.01, 0.3))),
    )


def _database(rng):
    """Databases that fail, at their commits above all, while servers move."""
    rate = rng.choice((0.003, 0.01))
    kinds = rng.choice((('commit',), ('commit', 'statement')))
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=0.15,
        pause_s=1.0,
        operations=frozenset(
            (*ingredients.MOVES, *ingredients.SHELVES, *rng.choice(((), ingredients.DEVICES)))
        ),
        options=ingredients.HASTY,
        rates={'work': dict.fromkeys(ingredients.UNKNOWN, 4 * rate)}
        if rng.random() < 0.4
        else {kind: dict.fromkeys(plan.FATES[kind], rate / 3) for kind in kinds},
    )


def _neighbours(rng):
    made = _unanswering(rng)
    # Drawn last, so that the other plans do not change.
    return ambushes.left_to_clean(rng, options=ingredients.HASTY) if rng.random() < 0.5 else made


def _unanswering(rng):
    """Neighbours that do not answer for minutes, while devices are attached and detached."""
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=1.0,
        pause_s=4.0,
        operations=frozenset(
            (*ingredients.DEVICES, *rng.choice(((), (*ingredients.MOVES, *ingredients.SHELVES))))
        ),
        options=ingredients.HASTY,
        outages=2,
        ambush=True,
        settle_s=ambushes.CLEANED_S,
    )


def _deaths(rng):
    """Daemons that die or stand still in the middle of something, hosts that refuse."""
    share = rng.choice((0, 0.5))
    high = rng.choice((3, 10))
    kills = rng.choice((0, 2, 4))
    every = plan.Plan.victims
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=0.5,
        pause_s=1.0,
        creates=0.5,
        operations=frozenset(
            rng.choice(
                (
                    ('delete',),
                    ingredients.MOVES,
                    (*ingredients.MOVES, 'stop', 'start'),
                    (*ingredients.SHELVES, *ingredients.DEVICES),
                )
            )
        ),
        kills=kills,
        freezes=rng.choice((0, 1, 2)) if kills else 2,
        outages=rng.choice((0, 1, 2)),
        outage_s=(5, 60),
        ambush=True,
        victims=rng.choice((every, ('super',), ('api', 'super'), ('conductor', 'scheduler'))),
        single=True,
        rates=rng.choice(({}, ingredients.SLUGGISH)),
        options=ingredients.HASTY,
        refusals=profiles.REFUSED if share else (),
        profile=profiles.refusing(rng.randrange(1000), high, share),
        bus_losses=rng.choice((0, 0, 1, 3)),
    )


def _clocks(rng):
    """Clocks that leap or drift, while servers move; nothing else goes wrong."""
    return plan.Plan(
        clients=2,
        servers=3,
        minutes=0.3,
        pause_s=1.0,
        operations=frozenset(
            (*ingredients.MOVES, *rng.choice((ingredients.SHELVES, ingredients.DEVICES)))
        ),
        leaps=rng.choice((0, 3)),
        drift=rng.choice((0.0, 0.02, 0.2)),
        # A clock that is wrong by half a minute may take hosts for down.
        options=places.merged(ingredients.HASTY, {'DEFAULT': {'service_down_time': 20}}),
        profile=profiles.slow(rng.randrange(1000), 5),
        settle_s=(30.0, 60.0, 150.0, 180.0, 240.0),
    )


def _devices(rng):
    made = (
        _attaching(rng) if rng.random() < 0.6 else ambushes.reboots(rng, options=ingredients.HASTY)
    )
    # Drawn last, so that the other plans do not change.
    return _sharing(rng) if rng.random() < 0.3 else made


def _attaching(rng):
    """Devices that come and go while guests are rebooted, rebuilt, or lost and made again."""
    return plan.Plan(
        clients=2,
        servers=rng.choice((1, 2)),
        minutes=0.12,
        pause_s=0.3,
        operations=frozenset((*ingredients.DEVICES, 'reboot_hard', 'reboot_soft', 'rebuild')),
        guests_lost=rng.choice((0, 0, 8)),
        ports=0.3,
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), 3),
    )


def _sharing(rng):
    """Shares that come and go while guests are off, or lost, and daemons die."""
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=0.4,
        pause_s=0.3,
        creates=0.5,
        deletes=0.05,
        operations=frozenset((*devices.SHARES, 'stop', 'start')),
        kills=rng.choice((0, 2, 4)),
        ambush=True,
        victims=('api', 'super', 'compute'),
        guests_lost=rng.choice((0, 2)),
        outages=rng.choice((0, 0, 1)),
        outage_s=(5, 60),
        rates=rng.choice(({}, ingredients.SLUGGISH)),
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 1))),
    )


def _boots(rng):
    return (
        _booting(rng) if rng.random() < 0.6 else ambushes.withdrawn(rng, options=ingredients.HASTY)
    )


def _booting(rng):
    """Servers that come, with volumes of their own, and go, while daemons die or freeze."""
    return plan.Plan(
        clients=2,
        servers=4,
        minutes=0.35,
        pause_s=1.0,
        creates=0.6,
        deletes=0.3,
        operations=frozenset(('delete',)),
        volumes=0.6,
        ports=0.3,
        kills=2,
        freezes=rng.choice((0, 1, 2)),
        ambush=True,
        victims=('api', 'scheduler', 'super'),
        rates=rng.choice(({}, ingredients.SLUGGISH)),
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), 1),
    )


def _ambushes(rng):
    draw = rng.choice((ambushes.alternates, ambushes.successors, ambushes.begins))
    return draw(rng, options=ingredients.HASTY)


def _evacuations(rng):
    return (
        _evacuating(rng)
        if rng.random() < 0.8
        else ambushes.returns(rng, options=ingredients.ASLEEP)
    )


def _evacuating(rng):
    """Hosts without power, or asleep, that come back while their servers are rebuilt elsewhere."""
    off = rng.choice((0, 1, 2))
    return plan.Plan(
        clients=2,
        servers=4,
        minutes=1.0,
        pause_s=1.0,
        creates=0.6,
        operations=frozenset(
            ('evacuate', 'start', *rng.choice(((), ingredients.MOVES, ingredients.SHELVES)))
        ),
        hosts_off=off,
        off_s=(25, 70),
        targets=0.4,
        forces=rng.random() < 0.5,
        # When all machines of the cell sleep, there is no other host.
        suspends=0 if off == 2 else 1,
        rates=rng.choice(({}, ingredients.SLUGGISH)),
        kills=rng.choice((0, 0, 2)),
        ambush=True,
        victims=('super', 'conductor', 'compute'),
        options=ingredients.ASLEEP,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 10))),
        refusals=('No valid host',),
    )


def _quota(rng):
    """A quota of servers or cores that racing clients reach often. Each has one core."""
    most = rng.choice((2, 3))
    return plan.Plan(
        clients=3,
        servers=most + 2,
        minutes=0.12,
        pause_s=0.5,
        creates=0.5,
        deletes=0.5,
        operations=frozenset(('delete', *rng.choice(((), ingredients.SHELVES)))),
        quota=most,
        kills=rng.choice((0, 2)),
        ambush=True,
        victims=('api', 'super', 'scheduler'),
        options=places.merged(
            ingredients.HASTY, {'quota': {rng.choice(('instances', 'cores')): most}}
        ),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 3))),
    )


def _cells(rng):
    """Two cells, one of which has hosts that do not answer: the other one must not care.

    Servers come at once and stay, so that both cells have some when hosts stop to answer. No
    client waits for a live migration, and a saga waits longer for a host than a client does
    for a device: what such sagas are in the way of is seen to fail.
    """
    return plan.Plan(
        clients=3,
        servers=6,
        minutes=0.3,
        pause_s=0.7,
        creates=1.0,
        deletes=0.0,
        operations=frozenset(
            (*ingredients.DEVICES, 'live_migrate', *rng.choice(((), ('abort', 'force'))))
        ),
        freezes=2,
        frozen_s=(30, 90),
        victims=rng.choice((('compute-cell1',), ('compute-cell2',))),
        apart=True,
        options=places.merged(
            ingredients.HASTY,
            {
                'DEFAULT': {'rpc_response_timeout': 20},
                'conductor': {'saga_threads': 2},
                'api': {'device_timeout': 8},
            },
        ),
        profile=profiles.slow(rng.randrange(1000), 0.3),
    )


# {name: (how many of so many seeds have it, size, how its plan is drawn)}
THEMES = {
    'mixed': (2, places.LARGE, _mixed),
    'messages': (1, places.SMALL, messages.failing),
    'slow': (1, places.SMALL, _slow),
    'groups': (1, places.SMALL, hosts.groups),
    'policies': (1, places.CELLS, hosts.policies),
    'crossing': (2, places.CROSSED, hosts.crossing),
    'power': (1, places.SMALL, _power),
    'database': (1, places.SMALL, _database),
    'neighbours': (1, places.SMALL, _neighbours),
    'deaths': (1, places.PAIRED, _deaths),
    'ambushes': (1, places.PAIRED, _ambushes),
    'clocks': (1, places.SMALL, _clocks),
    'devices': (1, places.SMALL, _devices),
    'boots': (1, places.SMALL, _boots),
    'evacuations': (2, places.SPLIT, _evacuations),
    'places': (1, places.SMALL, hosts.named),
    'cells': (1, places.CELLS, _cells),
    'quota': (1, places.SMALL, _quota),
}
