"""One history: a cloud, clients that race, a nemesis, and the account at the end."""

from nova_lite import runtime
from tests.sim import kernel
from tests.sim.oracle import ending
from tests.sim.oracle import excuses
from tests.sim.oracle import groups
from tests.sim.oracle import guests
from tests.sim.workload import caller as caller_module
from tests.sim.workload import client as client_module
from tests.sim.workload import ledger as ledger_module
from tests.sim.world import cloud as cloud_module
from tests.sim.world import nemesis as nemesis_module

# Histories begin at other moments between two rounds of periodic work.
BEGIN_S = (0, 20)


class History:
    """begun: a world.beginning.Beginning; plan: a workload.plan.Plan"""

    def __init__(self, begun, plan):
        self._begun, self._plan = begun, plan

    def run(self):
        """Live through it; what is found ends it as failed."""
        now, plan = kernel.current(), self._plan
        now.log('plan', str(plan))
        world, cloud = self._begun.world, self._begun.cloud
        self._begun.have(plan)
        self._watch(world.disk, cloud.places)
        ledger = ledger_module.Ledger(excuses.Excuses(world.faults, plan.refusals))
        now.sleep(now.stream('begin').uniform(*BEGIN_S))
        self._race(cloud, world, ledger, plan)
        with now.process('oracle', machine=cloud_module.HYPERVISORS).entered():
            caller = caller_module.Caller(world.network, ledger, 'oracle', _apis(plan))
            ending.Ending(cloud, ledger, caller).check(plan.moments(now.time()))

    def _watch(self, disk, places):
        disk.watch(guests.Guests([places.guests_path(cell) for cell in places.cell_names]))
        if self._plan.groups:
            urls = [places.database_url(cell) for cell in places.cell_names]
            disk.watch(groups.Groups([url.removeprefix('sqlite:///') for url in urls]))

    def _race(self, cloud, world, ledger, plan):
        now = kernel.current()
        until = now.time() + plan.minutes * 60
        world.faults.quiet = False
        threads = []
        for number in range(plan.clients):
            who = f'client-{number}'
            with now.process(who).entered():
                caller = caller_module.Caller(world.network, ledger, who, _apis(plan))
                made = client_module.Client(caller, ledger, plan, cloud)
                threads.append(runtime.spawn(made.run, until, name=who))
        nemesis_module.Nemesis(cloud, world.faults, plan).run(until)
        world.faults.quiet = True
        for thread in threads:
            thread.join()


def _apis(plan):
    return [f'{name}.sim' for name in plan.size.apis]
