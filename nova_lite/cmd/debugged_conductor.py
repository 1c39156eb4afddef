"""The super-conductor of `nova-lite up --bus --drills`, with a debugger. No service runs it.

It is that of nova-lite-conductor, whose sagas stop at breakpoints in the API database.
"""

from collections.abc import Sequence

from oslo_config import cfg

from nova_lite.daemons import lifetime
from nova_lite.daemons import process
from nova_lite.daemons import super_conductor
from nova_lite.lab.control import process_debugger
from nova_lite.superconductor import manager


def make(conf: cfg.ConfigOpts) -> lifetime.Daemon[manager.SuperConductor]:
    """Return the daemon for a configuration."""
    daemon = super_conductor.make(conf)
    engine, database = daemon.manager.engine, daemon.manager.world.api_db
    engine.debugger = process_debugger.Following(database)
    return daemon


def main(argv: Sequence[str] | None = None) -> None:
    """Run until SIGTERM."""
    process.run(argv, 'nova-lite-conductor', make)


if __name__ == '__main__':
    main()
