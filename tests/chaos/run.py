"""One run of the chaos test: start everything, wait, stop everything, account for it."""

import contextlib
import os
import tempfile

from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir
from tests.chaos import accounting
from tests.chaos import clients
from tests.chaos import ledger as ledger_module
from tests.chaos import nemesis
from tests.chaos import watchers
from tests.fixtures import fleet
from tests.fixtures import process_cloud

CLIENTS, CELLS, HOSTS = 6, 2, 3
POLICIES = ('affinity', 'anti-affinity')
# A client that waits for an answer and a nemesis that waits for recovery end by then.
END_S = 300
# What is lost is missed soon, and a guest that a deletion without its host has left is
# removed while verify still waits; the quota is real, so that racing creations meet it.
OPTIONS = {
    'compute': {'audit_interval': 5, 'stray_grace': 10, 'late_requests_s': 0},
    'conductor': {'lease_s': 8, 'build_lease_s': 20, 'sweep_interval_s': 1},
    'quota': {'instances': 40, 'cores': 30, 'ram': -1},
}


def cloud(database, profile='default', *, hosts=HOSTS, options=None):
    """Return the cloud to be run against, not set up yet. database: a fixture of a server"""
    return process_cloud.ProcessCloud(
        database,
        own_brokers=(layout.TOP, 'cell1', 'cell2'),
        cells=CELLS,
        hosts=hosts,
        profile=profile,
        options={**OPTIONS, **(options or {})},
    )


@contextlib.contextmanager
def fleet_cloud(database):
    """Set up a cloud whose hosts have NUMA nodes, pages and GPUs, and the flavors for them."""
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as profile:
        profile.write(fleet.PROFILE.format(seed=1, high=0.5))
        profile.flush()
        options = fleet.options(report=True)
        with cloud(database, profile.name, hosts=fleet.HOSTS, options=options) as made:
            for name, (vcpus, ram, specs) in fleet.FLAVORS.items():
                compute = made.admin.compute
                flavor = compute.create_flavor(name=name, vcpus=vcpus, ram=ram, disk=1)
                compute.create_flavor_extra_specs(flavor, specs)
            yield made


class Run:
    """cloud: one that is set up; path: of the file for requests and faults

    is_fleet: whether the cloud is that of `fleet_cloud`, which is filled at the end
    """

    def __init__(self, cloud, *, seed, path, is_fleet=False):
        self.cloud, self._is_fleet = cloud, is_fleet
        self.ledger = ledger_module.Ledger(path)
        self._stop, self._stop_harm = runtime.Event(), runtime.Event()
        self.nemesis = nemesis.Nemesis(cloud, self.ledger, seed=seed, stop=self._stop_harm)
        flavors = (*fleet.FLAVORS,) if is_fleet else clients.FLAVORS
        world = clients.World(_hosts(cloud), _groups(cloud), flavors)
        self._clients = [
            clients.Client(cloud, self.ledger, number, seed=seed, stop=self._stop, world=world)
            for number in range(CLIENTS)
        ]
        self.lister = watchers.Lister(cloud, self.ledger, self._stop)
        self.census = watchers.Census(cloud, self.ledger, self._stop)

    def run(self, seconds):
        """Race for so long, and account for everything; returns the violations."""
        actors = [*self._clients, self.lister, self.census]
        threads = [runtime.spawn(actor.run, name='chaos') for actor in actors]
        harm = runtime.spawn(self.nemesis.run, name='nemesis')
        runtime.sleep(seconds)
        # What is broken is mended before the clients stop.
        self._stop_harm.set()
        self._join(harm, 'the nemesis')
        self._stop.set()
        for thread in threads:
            self._join(thread, 'a client or watcher')
        self._account()
        self._require('complete lists', self.lister.rounds)
        self._require('faults', self.nemesis.done)
        self.ledger.close()
        return self.ledger.violations

    def _join(self, thread, who):
        thread.join(END_S)
        if thread.is_alive():
            self.ledger.violation('defect of the test', f'{who} did not end in {END_S} s')

    def _require(self, what, found):
        if not found:
            self.ledger.violation('defect of the test', f'there were no {what}')

    def _account(self):
        conf = state_dir.control_conf(self.cloud.state_dir)
        api_db = transactions.Database(conf.api_database.connection)
        try:
            account = accounting.Accounting(self.cloud, self.ledger, api_db)
            account.check()
            if self._is_fleet:
                account.fill()
            account.delete_all()
        finally:
            api_db.dispose()

    def summary(self):
        """Return lines that say what was done and found."""
        counts = self.ledger.counts
        lines = [
            '%5d  %-18s %s' % (sum(codes.values()), what, _codes(codes))
            for what, codes in sorted(counts.items())
        ]
        lines += [f'fault: {name}' for name in self.nemesis.done]
        requests = sum(sum(codes.values()) for codes in counts.values())
        lines.append(
            f'{requests} requests, {len(self.ledger.known())} servers, '
            f'{self.lister.rounds} complete lists, {self.census.rounds} looks at the guests'
        )
        lines += self.ledger.remarks
        lines += [str(violation) for violation in self.ledger.violations]
        lines.append(f'{len(self.ledger.violations)} violations')
        return lines


def _hosts(cloud):
    places = cloud.cloud.places
    return [host for cell in places.cell_names for host in places.hosts(cell)]


def _groups(cloud):
    """Make a server group of each policy that can be broken, and return their ids."""
    make = cloud.admin.compute.create_server_group
    return [make(name=policy, policy=policy).id for policy in POLICIES]


def _codes(codes):
    return ', '.join(f'{code}: {count}' for code, count in sorted(codes.items(), key=str))


def log_directory(cloud):
    """Return where the daemons' logs are."""
    return os.path.join(cloud.state_dir, 'log')
