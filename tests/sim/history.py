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
from tests.sim.workload import themes
from tests.sim.world import cloud as cloud_module
from tests.sim.world import nemesis as nemesis_module
from tests.sim.world import places as places_module
from tests.sim.world import stage

START_S = 20
PROFILE = 'cloud/profile.yaml'


class History:
    """template: a directory that places.copy takes, of a cloud of the size of the seed's theme"""

    def __init__(self, template):
        self.template = template

    def run(self):
        """Live through it; what is found ends it as failed. The body of kernel.run."""
        now = kernel.current()
        plan = themes.drawn(now.seed, now.stream('plan'))
        now.log('plan', str(plan))
        places_module.copy(self.template)
        options = plan.options
        if plan.profile:
            with open(PROFILE, 'w') as file:
                file.write(plan.profile)
            options = places_module.merged(options, {'compute': {'profile': PROFILE}})
        places = places_module.made(plan.size, options=options)
        places_module.write_configs(places, plan.size)
        world = stage.Stage(plan.rates)
        world.install(places)
        world.disk.watch(guests.Guests([places.guests_path(cell) for cell in places.cell_names]))
        if plan.groups:
            urls = [places.database_url(cell) for cell in places.cell_names]
            world.disk.watch(groups.Groups([url.removeprefix('sqlite:///') for url in urls]))
        cloud = cloud_module.Cloud(places, plan.size, world.network)
        for name in cloud.names:
            cloud.start(name)
        ledger = ledger_module.Ledger(excuses.Excuses(world.faults, plan.refusals))
        now.sleep(START_S)
        self._race(cloud, world, ledger, plan)
        with now.process('oracle', machine=cloud_module.HYPERVISORS).entered():
            caller = caller_module.Caller(world.network, ledger, 'oracle', _apis(plan))
            ending.Ending(cloud, ledger, caller).check(plan.moments(now.time()))

    def _race(self, cloud, world, ledger, plan):
        now = kernel.current()
        until = now.time() + plan.minutes * 60
        hosts = [host for cell in cloud.places.cell_names for host in cloud.places.hosts(cell)]
        world.faults.quiet = False
        threads = []
        for number in range(plan.clients):
            who = f'client-{number}'
            with now.process(who).entered():
                caller = caller_module.Caller(world.network, ledger, who, _apis(plan))
                made = client_module.Client(caller, ledger, plan, hosts)
                threads.append(runtime.spawn(made.run, until, name=who))
        nemesis_module.Nemesis(cloud, world.faults, plan).run(until)
        world.faults.quiet = True
        for thread in threads:
            thread.join()


def _apis(plan):
    return [f'{name}.sim' for name in plan.size.apis]
