"""As tests.sim.world.shortcuts, of the libraries of clients, which histories do not import."""

import functools

from openstack import resource

from tests.sim.world import shortcuts


@functools.cache
def install():
    """Install all shortcuts in this process and those forked from it."""
    shortcuts.install()
    # What a resource has follows from its class. Nothing changes what is returned.
    shortcuts.replace(
        resource.Resource,
        '_get_mapping',
        lambda former: classmethod(functools.cache(former.__func__)),
    )
