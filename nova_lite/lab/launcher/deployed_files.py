"""Files of a deployment on this machine: guests of simulated hosts, and logs."""

import glob
import os
import typing

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite.daemons import compute as compute_daemon
from nova_lite.db.cell import services
from nova_lite.lab.launcher import deployment

# The pattern of the configuration files of compute processes.
COMPUTES = 'compute*.conf'
GUESTS = 'guests.sqlite'


class Compute(typing.NamedTuple):
    """A compute process of this machine: its hosts, and the file with their guests."""

    hosts: frozenset[str]
    guests: str

    def is_readable(self) -> bool:
        """Return whether this user can read the guests."""
        return os.access(self.guests, os.R_OK)


def computes(directory: str) -> list[Compute]:
    """Return the compute processes whose configuration is in a directory. Raise Unreadable."""
    common = os.path.join(directory, deployment.COMMON)
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), COMPUTES))):
        conf = deployment.read(directory, [*([common] if os.path.exists(common) else []), path])
        hosts = compute_daemon.expand(conf.compute.hosts) or [conf.host]
        found.append(Compute(frozenset(hosts), os.path.join(conf.state_path, GUESTS)))
    return found


def hosts_of(cells: cells_module.Cells) -> set[str]:
    """Return the names of the compute hosts in all cells that answer."""
    answers, _silent = cells_module.split(cells.scatter(_hosts))
    return {host for hosts in answers.values() for host in hosts}


def _hosts(connection: typing.Any) -> list[str]:
    return [row.host for row in services.every(connection, binary=services.COMPUTE)]


def logs(directory: str, conf: cfg.ConfigOpts) -> tuple[str, ...]:
    """Return patterns of the log files of daemons, () if they log elsewhere.

    conf: of a control daemon
    """
    if conf.log_dir:
        return (os.path.join(glob.escape(conf.log_dir), '*.log'),)
    found = set()
    for path in sorted(glob.glob(os.path.join(glob.escape(directory), '*.conf'))):
        file = deployment.read(directory, [path]).log_file
        found.update([glob.escape(file)] if file else [])
    return tuple(sorted(found))
