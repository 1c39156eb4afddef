"""Plans of histories with people who do not ask the compute service: owners, administrators."""

import functools

from tests.sim.kernel import streams
from tests.sim.workload import administrators
from tests.sim.workload import crowds
from tests.sim.workload import devices
from tests.sim.workload import ingredients
from tests.sim.workload import left
from tests.sim.workload import neighbours
from tests.sim.workload import operators
from tests.sim.workload import owners
from tests.sim.workload import pinned
from tests.sim.workload import plan
from tests.sim.workload import profiles
from tests.sim.workload import roots
from tests.sim.workload import waits
from tests.sim.world import places

SNAPSHOTS = ('snapshot', 'backup')
# Of all plans with owners.
OWNED = {
    'clients': 2,
    'servers': 2,
    'creates': 0.8,
    'networked': True,
    'events': True,
    'images': True,
    'used': True,
    'options': places.merged(
        ingredients.HASTY, {'DEFAULT': {'heal_instance_info_cache_interval': 15}}
    ),
}
# Hosts are discovered, and compared with placement, every few seconds.
DISCOVERING = {
    'scheduler': {'discover_hosts_in_cells_interval': 10},
    'compute': {'resource_provider_association_refresh': 10},
}
# Requests to neighbours that fail before or after their effect.
LOSING = {'http': {'lost answer': 0.03, 'answers 503': 0.03}}


def owning(rng):
    """Owners who change, take and delete what servers have, while these move or are copied."""
    draw = rng.choice((_ports, _volumes, _images))
    return draw(rng)


def _ports(rng):
    return plan.Plan(
        **OWNED,
        minutes=0.4,
        pause_s=1.0,
        deletes=0.03,
        ports=0.3,
        operations=frozenset(
            (
                *rng.choice((ingredients.MOVES, ingredients.SHELVES)),
                *rng.choice((SNAPSHOTS, ('reboot_hard', 'rebuild'), devices.WITHOUT_SWAPS)),
                # For ports that are deleted there are others.
                'attach_interface',
            )
        ),
        owning=owners.OF_PORTS,
        outside_s=rng.choice((1.0, 3.0)),
        profile=profiles.slow(rng.randrange(1000), rng.choice((1, 4))),
        refusals=('No valid host',),
    )


def owning_in_cells(rng):
    """The same of ports of servers that move between cells."""
    return plan.Plan(
        **OWNED,
        minutes=0.5,
        pause_s=0.7,
        deletes=0.03,
        ports=0.3,
        operations=frozenset(('cross', 'resize', 'confirm', 'revert', 'attach_interface')),
        divided=rng.random() < 0.5,
        owning=owners.OF_PORTS,
        outside_s=rng.choice((1.0, 2.0)),
        profile=profiles.slow(rng.randrange(1000), rng.choice((1, 3))),
        refusals=('No valid host',),
    )


def _volumes(rng):
    return plan.Plan(
        **OWNED,
        minutes=0.4,
        pause_s=0.7,
        deletes=0.03,
        volumes=0.6,
        operations=frozenset(
            (
                *('attach_volume', 'detach_volume', 'reboot_hard', 'reboot_soft'),
                *rng.choice(((), ('snapshot',), ingredients.MOVES, ingredients.SHELVES)),
            )
        ),
        owning=owners.OF_VOLUMES,
        outside_s=rng.choice((1.0, 3.0)),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 2))),
        refusals=('No valid host',),
    )


def _images(rng):
    """Images of servers, while hosts refuse to copy disks, daemons die and requests get lost."""
    refused = rng.random() < 0.4
    return plan.Plan(
        **OWNED,
        minutes=0.5,
        pause_s=0.7,
        deletes=rng.choice((0.0, 0.05)),
        operations=frozenset((*SNAPSHOTS, *rng.choice(((), ingredients.SHELVES, ('rebuild',))))),
        owning=rng.choice(((), owners.OF_IMAGES, (*owners.OF_IMAGES, owners.DELETE_SNAPSHOT))),
        outside_s=rng.choice((1.0, 3.0)),
        kills=rng.choice((0, 0, 2)),
        victims=('api', 'super', 'compute'),
        ambush=True,
        rates=rng.choice(({}, {}, LOSING)),
        profile=profiles.refusing(rng.randrange(1000), 2, 0.4, (('snapshot', 'before'),))
        if refused
        else profiles.slow(rng.randrange(1000), rng.choice((0.1, 3))),
        refusals=('No valid host', *((profiles.UNCOPIED,) if refused else ())),
    )


def administering(rng):
    draw = rng.choice((_states, _services, _records))
    return draw(rng)


def _states(rng):
    """States that are reset while servers move, are shelved or rebuilt."""
    return plan.Plan(
        clients=2,
        servers=2,
        creates=0.8,
        deletes=0.12,
        minutes=0.5,
        pause_s=0.7,
        operations=frozenset(
            (
                *rng.choice((ingredients.MOVES, ingredients.SHELVES, ingredients.SHELVES)),
                *rng.choice(((), ('stop', 'start'), ('rebuild', 'reboot_hard'), SNAPSHOTS)),
            )
        ),
        administration=administrators.OF_STATES,
        images=True,
        outside_s=rng.choice((2.0, 4.0)),
        options=rng.choice((ingredients.HASTY, ingredients.OFFLOADING)),
        profile=profiles.slow(rng.randrange(1000), rng.choice((1, 4))),
        refusals=('No valid host',),
    )


def _services(rng):
    """Services and providers that are deleted, of hosts that live, die or were evacuated."""
    made = plan.Plan(
        clients=2,
        servers=3,
        creates=0.8,
        deletes=0.3,
        minutes=1.0,
        pause_s=1.0,
        operations=frozenset(
            ('evacuate', 'start', *rng.choice(((), ingredients.MOVES, ingredients.SHELVES)))
        ),
        administration=administrators.OF_HOSTS,
        outside_s=rng.choice((2.0, 4.0)),
        hosts_off=rng.choice((0, 1)),
        # Their servers can be evacuated, and their services deleted.
        off_by=0.3,
        off_s=(25, 60),
        kills=rng.choice((0, 1)),
        victims=('compute',),
        options=places.merged(ingredients.ASLEEP, DISCOVERING),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 2))),
        refusals=('No valid host',),
    )
    if made.hosts_off:
        # Servers live on after their evacuation.
        made.deletes = 0.05
    return made


def _records(rng):
    """Records that are archived, and quotas that shrink, while servers come and go."""
    return plan.Plan(
        clients=3,
        servers=4,
        creates=0.6,
        deletes=0.4,
        groups=1.0,
        policy='soft-anti-affinity',
        minutes=0.3,
        pause_s=0.7,
        operations=frozenset(('delete', *rng.choice(((), ('migrate', 'confirm', 'revert'))))),
        administration=administrators.OF_RECORDS,
        outside_s=rng.choice((1.0, 3.0)),
        kills=rng.choice((0, 1)),
        ambush=True,
        victims=('api', 'super'),
        options=ingredients.HASTY,
        refusals=('No valid host',),
    )


def keeping(rng):
    """Servers that are kept for a while after their deletion, some of hosts without power."""
    return plan.Plan(
        clients=2,
        servers=3,
        creates=0.6,
        deletes=0.5,
        minutes=0.6,
        pause_s=0.7,
        operations=frozenset(
            (
                *('delete', 'restore', 'force_delete', 'stop', 'start'),
                *rng.choice((('pause', 'unpause'), ('shelve', 'unshelve'), ('rescue', 'suspend'))),
            )
        ),
        hosts_off=rng.choice((0, 1)),
        off_by=0.4,
        off_s=(15, 30),
        kills=rng.choice((0, 0, 2)),
        victims=('api', 'conductor', 'compute'),
        ambush=True,
        options=places.merged(
            ingredients.ASLEEP,
            {'DEFAULT': {'reclaim_instance_interval': 15, 'shelved_offload_time': -1}},
        ),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 2))),
    )


def silent(rng):
    """A bus that accepts and does not answer for up to three times as long as makes hosts down."""
    return plan.Plan(
        clients=3,
        servers=4,
        creates=0.6,
        deletes=0.1,
        minutes=0.5,
        pause_s=rng.choice((0.5, 1.0)),
        operations=frozenset(
            (
                *('stop', 'start', 'snapshot', 'reboot_hard'),
                *rng.choice(
                    (ingredients.MOVES, devices.WITHOUT_SWAPS, ingredients.SHELVES, ('rebuild',))
                ),
            )
        ),
        silences=rng.choice((1, 1, 2)),
        silent_s=rng.choice(((5, 15), (15, 33))),
        prompt=True,
        images=True,
        options=places.merged(ingredients.ASLEEP, {'DEFAULT': {'shelved_offload_time': 10}}),
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 2))),
    )


def refused(rng):
    """Neighbours that refuse requests of a kind for good, and servers that no host can take."""
    made = plan.Plan(
        clients=2,
        servers=3,
        creates=0.7,
        deletes=0.05,
        minutes=0.4,
        pause_s=0.7,
        networked=True,
        volumes=0.4,
        ports=0.2,
        lacking=rng.choice((0.0, 0.2)),
        operations=frozenset(
            (
                *rng.choice((ingredients.SHELVES, ingredients.MOVES)),
                *rng.choice((devices.WITHOUT_SWAPS, SNAPSHOTS, ('rebuild', 'reboot_hard'))),
            )
        ),
        denials=rng.choice((1, 2, 3)),
        denied_s=rng.choice(((20, 60), (150, 400))),
        images=True,
        options=ingredients.HASTY,
        # An arrival is tried three times: half of them fail.
        profile=profiles.refusing(rng.randrange(1000), 2, 0.8, ((profiles.ARRIVAL, 'before'),)),
        # Hosts notice only when they claim it that they lack the device of a port.
        refusals=(*profiles.NO_HOST, profiles.UNSTARTED),
    )
    if made.operations.issuperset(SNAPSHOTS):
        # More servers boot from volumes, and their images are refused.
        made.volumes, made.booted, made.denied = 0.0, 0.7, ('images', 'images', 'snapshots')
    elif made.operations.issuperset(ingredients.SHELVES):
        # Servers leave their hosts at once, so that some are on no host when a refusal begins, and
        # have ports with which they are refused.
        made.options, made.minutes, made.servers, made.pause_s = ingredients.OFFLOADING, 0.7, 5, 1.0
        made.operations = made.operations - {'detach_interface', 'stop', 'start'}
        made.denied = rng.choice((('attachments', 'bindings', 'volume actions'), ('bindings',)))
    else:
        # Live migrations come to their last step.
        made.operations = made.operations - {'abort'} | {'force'}
    return made


def darkened(rng):
    """The database of one of two cells does not answer, while servers come, move and go."""
    return plan.Plan(
        clients=3,
        servers=5,
        creates=0.7,
        deletes=0.1,
        minutes=0.5,
        pause_s=rng.choice((0.5, 1.0)),
        operations=frozenset(
            (
                *('stop', 'start', 'rename'),
                *rng.choice((ingredients.MOVES, ('cross', 'confirm', 'revert'))),
                *rng.choice(((), devices.WITHOUT_SWAPS, ingredients.SHELVES)),
            )
        ),
        blackouts=rng.choice((1, 2)),
        options=ingredients.ASLEEP,
        profile=profiles.slow(rng.randrange(1000), rng.choice((0.1, 2))),
    )


THEMES = {
    'silent': (2, places.SMALL, silent),
    'kept': (1, places.SMALL, keeping),
    'administrators': (3, places.SPLIT, administering),
    'owners': (4, places.SMALL, owning),
    'owners in cells': (1, places.CELLS, owning_in_cells),
}
FURTHER = {
    'refused': (1, places.SMALL, refused),
    'blackouts': (1, places.CELLS, darkened),
}
# Of the seeds of nights with a theme of outsiders, one of so many has one of these, and of the rest
# one of so many has one of the next. Other seeds keep their themes. The text names the draw.
LATER = (
    ('further', 5, FURTHER),
    ('pinned', 6, pinned.PINNED),
    ('boot disks', 12, {'rooted': (1, places.CELLS, functools.partial(roots.rooted, OWNED))}),
    ('states that wait', 12, waits.WAITING),
    ('refused releases', 10, neighbours.RELEASES),
    ('uploads', 10, neighbours.UPLOADS),
    ('unheard', 10, operators.UNHEARD),
    ('mappings', 3, operators.MAPPINGS),
    ('reset builds', 4, waits.BUILT),
    ('fleets', 12, pinned.FLEET),
    ('crowds', 3, crowds.CROWDS),
    ('left as nova', 6, left.LEFT),
)
EVERY = {**THEMES, **{name: made for *_, made_all in LATER for name, made in made_all.items()}}


def later(seed):
    """The themes of a seed of nights."""
    for name, share, made in LATER:
        if streams.derived(seed, name) % share == 0:
            return made
    return THEMES
