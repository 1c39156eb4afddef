"""The cloud that each history begins with: hosts registered, nothing in it."""

from nova_lite.cmd.cloud import setup
from tests.sim import kernel
from tests.sim.world import cloud as cloud_module
from tests.sim.world import places as places_module
from tests.sim.world import stage

# Histories begin when a template that is made has been at rest for a while.
BEFORE_S = 600


def make(size):
    """Make the files of a cloud of that size below the working directory, in virtual time."""
    world = stage.Stage({})
    places = places_module.made(size)
    world.install(places)
    places_module.create(places, size)
    cloud = cloud_module.Cloud(places, size, world.network)
    for name in cloud.names:
        cloud.start(name, offset=-BEFORE_S)
        if name == 'simcloud':
            setup.mappings(places, cloud.conf('scheduler'))
    with kernel.current().process('setup', offset=-BEFORE_S).entered():
        setup.hosts(places, cloud.conf('scheduler'))
        kernel.current().sleep(90)
    for name in reversed(cloud.names):
        cloud.kill(name)
