"""One history: a cloud, clients that race, a nemesis, and the account at the end."""

from nova_lite import runtime
from tests.sim import kernel
from tests.sim.oracle import ending
from tests.sim.oracle import guests
from tests.sim.workload import caller as caller_module
from tests.sim.workload import client as client_module
from tests.sim.workload import ledger as ledger_module
from tests.sim.workload import plan as plan_module
from tests.sim.world import cloud as cloud_module
from tests.sim.world import nemesis as nemesis_module
from tests.sim.world import places as places_module
from tests.sim.world import stage

START_S = 20


class History:
    """template: a directory that places.copy takes; plan: None draws one"""

    def __init__(self, template, plan=None):
        self.template, self.plan = template, plan

    def run(self):
        """Live through it; what is found ends it as failed. The body of kernel.run."""
        now = kernel.current()
        plan = self.plan or plan_module.drawn(now.stream('plan'))
        now.log('plan', str(plan))
        places_module.copy(self.template)
        places = places_module.made(options=plan.options)
        places_module.write_configs(places)
        world = stage.Stage(plan.rates)
        world.install(places)
        world.disk.watch(guests.Guests([places.guests_path(cell) for cell in places.cell_names]))
        cloud = cloud_module.Cloud(places, world.network)
        for name in cloud.names:
            cloud.start(name)
        ledger = ledger_module.Ledger(world.faults)
        now.sleep(START_S)
        self._race(cloud, world, ledger, plan)
        now.sleep(plan.settle_s)
        apis = [f'{name}.sim' for name in places_module.APIS]
        with now.process('oracle').entered():
            caller = caller_module.Caller(world.network, ledger, 'oracle', apis)
            ending.Ending(cloud, ledger, caller).check()

    def _race(self, cloud, world, ledger, plan):
        now = kernel.current()
        until = now.time() + plan.minutes * 60
        apis = [f'{name}.sim' for name in places_module.APIS]
        hosts = [host for cell in cloud.places.cell_names for host in cloud.places.hosts(cell)]
        world.faults.quiet = False
        threads = []
        for number in range(plan.clients):
            who = f'client-{number}'
            with now.process(who).entered():
                caller = caller_module.Caller(world.network, ledger, who, apis)
                made = client_module.Client(caller, ledger, plan, hosts)
                threads.append(runtime.spawn(made.run, until, name=who))
        nemesis_module.Nemesis(cloud, world.faults, plan).run(until)
        world.faults.quiet = True
        for thread in threads:
            thread.join()
