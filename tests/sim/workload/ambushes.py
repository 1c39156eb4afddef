"""Plans of histories for one constellation each, of which chance alone makes too few.

As a rule an ambush strikes one process where it hurts most.
"""

from tests.sim.workload import devices
from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places

POWER = ('stop', 'start')
REBOOTS = ('reboot_soft', 'pause', 'unpause')
# Seconds after the last request at which to look: cleaning pauses for up to 600.
CLEANED_S = (60.0, 90.0, 300.0, 600.0, 900.0, 1800.0)


def withdrawn(rng, **given):
    """Builds that are deleted while the scheduler stands still and super-conductors die.

    The scheduler claims for them when it goes on.
    """
    return plan.Plan(
        clients=2,
        servers=4,
        minutes=0.5,
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


def alternates(rng, options):
    """Moves of servers with volumes that half of the hosts do not reach.

    Another host is claimed then. Who claims may hear no answer, and asks for none twice.
    """
    return plan.Plan(
        clients=2,
        servers=3,
        minutes=0.3,
        pause_s=0.4,
        creates=1.0,
        deletes=0.0,
        volumes=1.0,
        operations=frozenset(('migrate', 'confirm')),
        rates={'http': {'lost answer': rng.choice((0.1, 0.15))}},
        single=True,
        refusals=(*profiles.REFUSED, profiles.UNREACHED),
        profile=profiles.slow(rng.randrange(1000), 1) + _UNREACHED,
        options=places.merged(options, {'placement': {'connect_retries': 0}}),
    )


def successors(rng, **given):
    """Builds that hosts refuse, while a conductor stands still before it claims again."""
    return plan.Plan(
        clients=2,
        servers=10,
        minutes=0.35,
        pause_s=1.0,
        creates=1.0,
        deletes=0.0,
        operations=frozenset(('rename',)),
        freezes=1,
        victims=('conductor',),
        frozen_s=(32, 60),
        effects=('http: send',),
        passed=(1, 3),
        ambush=True,
        single=True,
        claimed=True,
        refusals=profiles.REFUSED,
        profile=profiles.refusing(rng.randrange(1000), 2, 0.5, (('spawn', 'before'),)),
        **given,
    )


def begins(rng, **given):
    """Moves whose API stands still once they are recorded, while others stop the servers."""
    return plan.Plan(
        clients=6,
        servers=2,
        minutes=0.7,
        pause_s=0.5,
        creates=1.0,
        deletes=0.0,
        operations=frozenset(('migrate', 'confirm', *rng.choice((POWER, REBOOTS)))),
        freezes=3,
        victims=('api',),
        frozen_s=(12, 20),
        effects=('db: committed: api',),
        passed=(1,),
        ambush=True,
        profile=profiles.slow(rng.randrange(1000), 9, low=6),
        **given,
    )


def takeovers(rng, **given):
    """Moves whose super-conductor stands still before it calls a host, and goes on later.

    Its call comes when another one has taken the saga over.
    """
    return plan.Plan(
        clients=2,
        servers=3,
        minutes=0.6,
        pause_s=0.5,
        creates=1.0,
        deletes=0.03,
        operations=frozenset(
            (*ingredients.MOVES, *rng.choice((('cross',), ('shelve', 'unshelve'), devices.DEVICES)))
        ),
        freezes=4,
        victims=rng.choice((('super',), ('super', 'compute'))),
        frozen_s=(10, 40),
        effects=('bus: put: cell',),
        passed=(1, 3, 6),
        ambush=True,
        rates=rng.choice(({}, {'call': {'late': 0.02}})),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 3))),
        refusals=('No valid host',),
        **given,
    )


def returns(rng, **given):
    """Machines that wake while the API stands still that evacuates their servers.

    Their guests go on at once, and their hosts count as up again.
    """
    return plan.Plan(
        clients=4,
        servers=4,
        minutes=0.7,
        pause_s=0.7,
        creates=1.0,
        deletes=0.0,
        operations=frozenset(('evacuate', 'rename')),
        suspends=2,
        suspended_s=(12, 20),
        freezes=2,
        victims=('api',),
        frozen_s=(6, 15),
        effects=('db: committed: api',),
        passed=(1, 2),
        ambush=True,
        refusals=('No valid host',),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 5))),
        **given,
    )


def left_to_clean(rng, options):
    """Neighbours that die while hosts unshelve servers, for longer than they are asked again.

    The images of these servers are then left to be deleted after the ends of the sagas.
    """
    return plan.Plan(
        clients=2,
        servers=2,
        minutes=1.0,
        pause_s=0.5,
        creates=1.0,
        deletes=0.05,
        operations=frozenset(('shelve', 'unshelve', *rng.choice(((), devices.DEVICES)))),
        outages=1,
        neighbours=('simcloud',),
        outage_s=(120, 400),
        watched=('super',),
        effects=('bus: put: cell1 compute',),
        passed=(1, 2, 6),
        ambush=True,
        options=options,
        profile=profiles.slow(rng.randrange(1000), 1),
        settle_s=CLEANED_S,
    )


def reboots(rng, **given):
    """Guests that are lost while the host stands still that is to reboot them.

    It knew the devices by then, and others are detached meanwhile.
    """
    return plan.Plan(
        clients=3,
        servers=1,
        minutes=0.5,
        pause_s=0.3,
        creates=1.0,
        deletes=0.0,
        operations=frozenset((*devices.DEVICES, 'reboot_hard')),
        guests_lost=30,
        freezes=8,
        victims=('compute',),
        frozen_s=(1, 4),
        effects=('bus: put: cell1 conductor',),
        passed=(1,),
        ambush=True,
        rates=rng.choice(({}, {'http': {'late': 0.1}})),
        profile=profiles.slow(rng.randrange(1000), 1),
        **given,
    )


_UNREACHED = "  - {match: '*-host[12]', volume_types: [none]}\n"
