"""The cloud of settings, and the log of the process that runs it."""

from collections.abc import Callable
import logging
import sys
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite.daemons import process
from nova_lite.lab.launcher import layout
from nova_lite.lab.testclock import control


class Cloud(typing.Protocol):
    """A cloud that this process runs: in this process, or as a process for each daemon.

    confs: {daemon: configuration}, after `start`
    clock: changes the clock of the cloud; None if the clock cannot be changed
    """

    places: layout.Layout
    confs: dict[str, cfg.ConfigOpts]
    clock: control.Control | None

    def start(
        self,
        *,
        fresh: bool = False,
        progress: Callable[[str], None] = ...,
        fill: Callable[[], None] | None = None,
    ) -> None:
        """Start the daemons. progress: called with a line of text for each part

        fill: function that creates the first objects of a new cloud, through its APIs
        """

    def reload(self) -> list[str]:
        """Make the daemons read their configuration again. Return messages of errors."""

    def stop(self) -> None:
        """Stop the daemons. Work in progress continues at the next start."""


def cloud(settings: layout.Settings) -> Cloud:
    """Return the cloud of settings: embedded, unless the settings have buses.

    A new embedded cloud saves its first state as `fresh`.
    """
    if settings.bus:
        from nova_lite.lab.launcher import processes

        return processes.ProcessCloud(settings)
    from nova_lite.lab.launcher import embedded

    return embedded.EmbeddedCloud(settings, keep=True)


def log_to_file(path: str, debug: bool) -> None:
    """Write the log of this process to a file: the terminal is for people."""
    conf = conf_module.make_conf(['--log-file', path, *(['--debug'] if debug else [])], files=[])
    log.set_defaults(default_log_levels=[*log.get_default_log_levels(), *process.QUIET])
    log.setup(conf, 'nova_lite')
    logging.captureWarnings(True)
    # With a full disk, each line would print a traceback.
    logging.raiseExceptions = False
    # oslo.log writes uncaught errors only to the log; users read the terminal.
    sys.excepthook = sys.__excepthook__


def stop_logging() -> None:
    """Close the log file, before its directory is deleted."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.addHandler(logging.NullHandler())
