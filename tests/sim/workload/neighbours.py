"""Plans of histories in which neighbours refuse what they used to allow, or stall."""

from tests.sim.workload import ingredients
from tests.sim.workload import outside
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.world import denials
from tests.sim.world import places

# Servers leave their hosts as soon as they are shelved, and some lose them.
LEAVING = places.merged(ingredients.ASLEEP, {'DEFAULT': {'shelved_offload_time': 0}})


def releases(rng):
    """Neighbours that refuse to give up what servers have, for a while or until all else is over.

    Some servers are deleted by their hosts, others are on none, or on one that is down.
    """
    lasting = rng.random() < 0.6
    return plan.Plan(
        clients=2,
        servers=4,
        creates=0.7,
        deletes=0.3,
        minutes=0.6,
        pause_s=0.7,
        networked=True,
        volumes=0.5,
        ports=0.2,
        operations=frozenset(
            (
                *('delete', 'shelve', 'unshelve'),
                *rng.choice(((), ('stop', 'start'), ('migrate', 'confirm', 'revert'))),
            )
        ),
        denials=rng.choice((1, 2)),
        denied=tuple(denials.RELEASES),
        denied_by=0.4,
        denied_s=(280, 320) if lasting else (20, 60),
        hosts_off=rng.choice((0, 1)),
        off_by=0.5,
        off_s=(20, 40),
        options=LEAVING,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 2))),
        refusals=('No valid host',),
    )


def uploads(rng):
    """An image service that stalls while images of servers are uploaded.

    Meanwhile servers are deleted, and their states are reset.
    """
    return plan.Plan(
        clients=2,
        servers=3,
        creates=0.8,
        deletes=rng.choice((0.0, 0.15)),
        minutes=0.6,
        pause_s=0.7,
        operations=frozenset(
            ('snapshot', 'backup', *rng.choice(((), ('shelve', 'unshelve'), ('rebuild',))))
        ),
        stalls=rng.choice((1, 2)),
        administration=rng.choice(((), (outside.RESET,))),
        outside_s=3.0,
        images=True,
        options=ingredients.HASTY,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.3, 2))),
        refusals=('No valid host',),
    )


RELEASES = {'releases': (1, places.SMALL, releases)}
UPLOADS = {'uploads': (1, places.SPLIT, uploads)}
