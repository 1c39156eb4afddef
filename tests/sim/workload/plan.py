"""The plan of a history; `themes` draws it from the seed."""

import dataclasses

from tests.sim.workload import isolation
from tests.sim.workload import operations
from tests.sim.world import places
from tests.sim.world import sqlite

FLAVORS = ('1', '2')
# Kinds of faults, and what may befall one thing of a kind.
FATES = {
    'commit': tuple(sqlite.COMMITS),
    'begin': ('slow',),
    'work': ('lost before', 'lost after', 'killed after'),
    'statement': tuple(sqlite.STATEMENTS),
    'http': ('refused', 'lost request', 'lost answer', 'answers 503', 'late'),
    'call': ('twice', 'late'),
    'reply': ('lost', 'late', 'twice'),
}

# Seconds after the last request by which all must be well: each time is one to look. What two
# audits of allocations find is given up, and by default there is one every half an hour. What
# a scheduler may claim after a build was withdrawn is released a little later than that.
AUDIT = 'allocation_audit_interval'
OFTEN_S = (
    *(15.0, 30.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0, 360.0, 450.0, 540.0, 660.0, 780.0),
    *(900.0, 1100.0, 1300.0, 1600.0, 1900.0, 1930.0),
)
SETTLE_S = (*OFTEN_S[:-2], 3600.0, 3630.0)


# What counts for an ambush.
EFFECTS = ('db: COMMIT', 'db: committed', 'http: send', 'http: answer', 'bus: put')


@dataclasses.dataclass
class Plan:
    """operations: names; rates: see faults.Faults

    profile: of the hosts, as YAML; later_profile: the one they have from some time on

    kills, freezes, leaps, hosts_off, outages, suspends: how many; outages are of neighbours
    guests_lost: how often a hypervisor loses a guest
    bus_losses: how often a process loses its connections to a bus
    silences: how often a bus does not answer; silent_s: for how many seconds
    denials: how often neighbours refuse requests of a kind; denied_s: for how many seconds
    denied: the kinds, of denials.KINDS or RELEASES; all of KINDS if it is empty
    stalls: how often the image service does not answer; stalled_s: for between how many seconds,
        one of several pairs
    blackouts: how often the database of a cell does not answer; dark_s: for how many seconds
    lacking: the share of new servers that need a device which no host has
    prompt: whether all requests must be answered soon
    patient: whether accepted changes of devices wait for hosts that do not answer
    images: whether images of servers are judged
    suspends: of the machines of compute processes, whose hosts are evacuated meanwhile
    drift: how many seconds a clock may gain or lose in a second; not those of hypervisors
    ambush: whether those who are killed or frozen are at work for a request just then
    effects, passed: at which one of these an ambush strikes, as what a log says begins:
        fewer than one of the numbers are let pass
    after: how an effect begins that must have come before these; empty: none
    victims: how the names of those begin who are killed and frozen
    freezable: the same of those who are frozen, if they are others
    neighbours: how the names begin of those that outages are of
    watched: the same of those in the middle of whose work an outage begins; it begins in
        that of the neighbour itself if there are none
    creates, deletes: the chances that the next operation creates a server, while there are
        fewer than `servers`, and that it deletes one
    groups, volumes, ports: the shares of new servers that are in a server group, that are given
        a volume that there is already, a port that there is already
    booted: the share of new servers that boot from a volume
    policy, most_on_host: of the server group; how many of it a host may have if that is
        anti-affinity
    networked: whether each server has ports, and not only half of them
    lists: the chance that a client reads the list of servers instead of asking for something
    requested: the share of new servers for which a host is named
    targets: the share of moves, evacuations and unshelvings for which a host is named
    forces: whether half of these are live migrations and evacuations without the scheduler
    quota: how many servers there may be; None when the limit is out of reach
    owning, administration: the names of what owners of ports, volumes and images, and
        administrators do, each drawn as often as it is named
    used: whether all servers are rebooted, moved, evacuated and deleted at the end
    outside_s: seconds between two operations of one of these, on average
    events: whether the network and volume services report what owners do
    single: whether no server may hold resources of two hosts, but for a move that holds
        those of its source
    claimed: whether what a server needs must be claimed on its node, when nothing is under way
    apart: whether servers stay in their cells, and trouble of one excuses nothing in another
    isolated: whether isolation.HOST only takes servers of isolation.FLAVOR
    divided: whether each flavor is for the hosts of one cell: to resize is to cross
    pinned: {flavor: (CPUs, MiB, extra specs)} of all servers, for which `profile` must have hosts
    filled: whether all that hosts have free at the end is given to servers
    left: whether failures of moves stay as in nova, and are judged by their table
    settle_s: seconds after the last request at which to look whether all is well
    rest_s: for how long all must be well then
    stored_s: how long before its restore the state of the cloud is saved; 0: it is not
    frozen_s, outage_s: for how many seconds processes are frozen, neighbours do not answer
    off_by, denied_by: the part of the history in which hosts lose their power, refusals begin
    off_s, suspended_s: for how many seconds the power of a host is off, a machine sleeps
    refusals: how the fault of a server in ERROR may begin though nothing went wrong
    """

    size: places.Size = places.LARGE
    clients: int = 3
    servers: int = 8
    minutes: float = 5.0
    pause_s: float = 4.0
    operations: frozenset = frozenset(operations.EVERY)
    kills: int = 0
    freezes: int = 0
    leaps: int = 0
    drift: float = 0.0
    hosts_off: int = 0
    outages: int = 0
    suspends: int = 0
    bus_losses: int = 0
    silences: int = 0
    denials: int = 0
    blackouts: int = 0
    stalls: int = 0
    guests_lost: int = 0
    ambush: bool = False
    rates: dict = dataclasses.field(default_factory=dict)
    options: dict = dataclasses.field(default_factory=dict)
    profile: str = ''
    later_profile: str = ''
    creates: float = 0.2
    deletes: float = 0.08
    groups: float = 0.0
    policy: str = 'anti-affinity'
    most_on_host: int = 1
    volumes: float = 0.0
    ports: float = 0.0
    lacking: float = 0.0
    networked: bool = False
    booted: float = 0.3
    lists: float = 0.1
    requested: float = 0.0
    targets: float = 0.2
    forces: bool = False
    quota: int | None = None
    owning: tuple = ()
    administration: tuple = ()
    outside_s: float = 2.0
    events: bool = False
    used: bool = False
    single: bool = False
    claimed: bool = False
    apart: bool = False
    isolated: bool = False
    divided: bool = False
    pinned: dict = dataclasses.field(default_factory=dict)
    filled: bool = False
    left: bool = False
    frozen_s: tuple = (0.5, 90)
    # Some outages of a neighbour last longer than its clients retry.
    outage_s: tuple = (20, 300)
    off_by: float = 1.0
    off_s: tuple = (0.1, 40)
    # A host that sleeps for longer counts as down, and is evacuated.
    suspended_s: tuple = (12, 60)
    silent_s: tuple = (5, 33)
    # Longer than nova_lite tries steps again.
    denied_s: tuple = (20, 400)
    stalled_s: tuple = ((6, 11), (60, 200))
    denied: tuple = ()
    denied_by: float = 1.0
    dark_s: tuple = (5, 25)
    prompt: bool = False
    patient: bool = False
    images: bool = False
    victims: tuple = ('super', 'conductor', 'compute', 'scheduler', 'api')
    effects: tuple = EFFECTS
    passed: tuple = (2, 6, 20)
    after: str = ''
    freezable: tuple = ()
    neighbours: tuple = ('simcloud', 'placement')
    watched: tuple = ()
    refusals: tuple = ()
    settle_s: tuple = ()
    rest_s: float = 0.0
    stored_s: float = 0.0

    @property
    def flavors(self):
        """Ids of those that servers have."""
        if self.divided:
            return (*isolation.DIVIDED,)
        if self.pinned:
            return (*self.pinned,)
        return (*FLAVORS, isolation.FLAVOR) if self.isolated else FLAVORS

    def moments(self, end):
        """The virtual times at which to look whether all is well."""
        often = AUDIT in self.options.get('conductor', {})
        return [end + after for after in self.settle_s or (OFTEN_S if often else SETTLE_S)]
