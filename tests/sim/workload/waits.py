"""Plans of histories in which servers wait: for a build, a confirmation, or a time to pass."""

from tests.sim.workload import administrators
from tests.sim.workload import ingredients
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import places

# For how many seconds a saved state is kept, and the times that must not pass meanwhile. Servers
# that were deleted are gone at the end of a history.
STORED_S = 7200
WINDOWS = {
    'resize_confirm_window': 5000,
    'shelved_offload_time': 5000,
    'reclaim_instance_interval': 300,
}


def waiting(rng):
    draw = rng.choice((_reset, _restored))
    return draw(rng)


def _reset(rng):
    """States that are reset of servers whose moves wait to be confirmed."""
    return plan.Plan(
        clients=2,
        servers=2,
        creates=0.8,
        deletes=0.05,
        minutes=0.5,
        pause_s=0.7,
        operations=frozenset(
            (
                *('resize', 'migrate', 'confirm', 'revert'),
                *rng.choice(((), ('stop', 'start'), ('live_migrate',), ('reboot_hard', 'rebuild'))),
            )
        ),
        administration=administrators.OF_WAITING,
        outside_s=rng.choice((1.0, 3.0)),
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 2))),
        refusals=('No valid host',),
    )


def built(rng):
    """States that are reset of servers that are being built, while their hosts are killed.

    Some hosts refuse to build a server, which another host of its cell builds then.
    """
    refusing = rng.random() < 0.3
    return plan.Plan(
        clients=2,
        servers=4,
        creates=0.6,
        deletes=0.2,
        minutes=0.5,
        pause_s=1.0,
        networked=True,
        volumes=0.4,
        ports=0.2,
        operations=frozenset(('delete', *rng.choice(((), ('stop', 'start', 'reboot_hard'))))),
        administration=administrators.OF_BUILDS,
        outside_s=rng.choice((0.5, 1.0)),
        kills=rng.choice((2, 5)),
        ambush=rng.random() < 0.5,
        victims=rng.choice(
            (('compute',), ('compute',), ('compute', 'conductor'), ('api', 'super'))
        ),
        options=ingredients.HASTY,
        profile=profiles.refusing(rng.randrange(1000), 3, 0.4, (('spawn', 'before'),))
        if refusing
        else profiles.slow(rng.randrange(1000), rng.choice((2, 8))),
        refusals=profiles.REFUSED,
    )


def _restored(rng):
    """A cloud whose state is saved, and restored long afterwards."""
    return plan.Plan(
        clients=2,
        servers=4,
        creates=0.7,
        deletes=0.1,
        minutes=0.5,
        pause_s=0.7,
        operations=frozenset(
            (
                *('resize', 'migrate', 'shelve', 'stop', 'start', 'delete', 'restore'),
                *rng.choice(((), ('confirm', 'revert', 'unshelve'))),
            )
        ),
        stored_s=STORED_S,
        options=places.merged(ingredients.HASTY, {'DEFAULT': WINDOWS}),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 1))),
        refusals=('No valid host',),
    )


WAITING = {'waiting': (1, places.SPLIT, waiting)}
BUILT = {'builds': (1, places.SPLIT, built)}
