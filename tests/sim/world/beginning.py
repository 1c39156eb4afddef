"""The cloud with which histories begin: hosts registered, no server in it, daemons at rest."""

from nova_lite.lab.launcher import setup
from tests.sim import kernel
from tests.sim.world import cloud as cloud_module
from tests.sim.world import places as places_module
from tests.sim.world import stage

REST_S = 90
DEFAULT = 'extends: default\n'


class Beginning:
    """A cloud that has been started below the working directory.

    world: its stage.Stage, by default one with files alone; cloud: its cloud.Cloud
    events, doubled: see cloud.Cloud
    """

    def __init__(self, size, options, world=None, *, events=False, doubled=True):
        self.world = world or stage.Stage()
        profile = {'compute': {'profile': places_module.PROFILE}}
        options = places_module.merged(options, profile)
        places = places_module.made(size, options=options, databases=self.world.databases)
        self.world.install(places)
        places_module.create(places, size)
        places_module.write_profile(DEFAULT)
        self.cloud = cloud_module.Cloud(
            places, size, self.world.network, events=events, doubled=doubled
        )
        for name in self.cloud.names:
            self.cloud.start(name)
            if name == 'simcloud':
                setup.mappings(places, self.cloud.conf('scheduler'))
        with kernel.current().process('setup').entered():
            setup.hosts(places, self.cloud.conf('scheduler'))
        kernel.current().sleep(REST_S)

    def have(self, plan):
        """Apply a plan's faults and profile of hosts."""
        self.world.faults.begin(plan.rates)
        if plan.profile:
            self.cloud.behave(plan.profile)
