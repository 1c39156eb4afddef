"""The driver that [compute]driver names: the simulated one, or one of another package.

Another package names a `Maker` in an entry point of `GROUP`.
"""

from collections.abc import Callable
from collections.abc import Sequence
import importlib.metadata

from oslo_config import cfg

from nova_lite.virt import driver
from nova_lite.virt.sim import driver as sim
from nova_lite.virt.sim import failures_file

GROUP = 'nova_lite.compute.drivers'
# The type of functions that create a driver from the configuration and the names of the hosts.
Maker = Callable[[cfg.ConfigOpts, Sequence[str]], driver.Driver]


def load(conf: cfg.ConfigOpts, hosts: Sequence[str]) -> driver.Driver:
    """Create the driver that the configuration names. Raise ValueError if it is unknown."""
    return _maker(conf.compute.driver)(conf, hosts)


def make_simulated(conf: cfg.ConfigOpts, hosts: Sequence[str]) -> driver.Driver:
    """Create the driver of simulated hosts from the configuration of their compute process."""
    path, options = f'{conf.state_path.rstrip("/")}/guests.sqlite', conf.compute
    made = sim.SimDriver(path, hosts, options.profile, speed=options.speed)
    if options.failures_file:
        made.inject(failures_file.FailuresFile(options.failures_file))
    return made


def _maker(name: str) -> Maker:
    if name == sim.NAME:
        return make_simulated
    points = importlib.metadata.entry_points(group=GROUP)
    for point in points.select(name=name):
        try:
            maker: Maker = point.load()
        except (ImportError, AttributeError) as error:
            raise ValueError(f'{GROUP}: {point.value} cannot be loaded: {error}') from error
        return maker
    known = ', '.join([sim.NAME, *sorted(points.names)])
    raise ValueError(f'[compute]driver: unknown {name}; known are {known}')
