"""The cloud that settings ask for, and where the process that runs it logs."""

import logging
import sys

from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite.daemons import process


def cloud(settings):
    """Return the cloud object for these settings: embedded without a bus of its own."""
    if settings.bus:
        from nova_lite.lab.launcher import processes

        return processes.ProcessCloud(settings)
    from nova_lite.lab.launcher import embedded

    return embedded.EmbeddedCloud(settings)


def log_to_file(path, debug):
    """Send this process's log to a file: the terminal is for people."""
    conf = conf_module.make_conf(['--log-file', path, *(['--debug'] if debug else [])], files=[])
    log.set_defaults(default_log_levels=[*log.get_default_log_levels(), *process.QUIET])
    log.setup(conf, 'nova_lite')
    logging.captureWarnings(True)
    # On a full disk each line would print a traceback.
    logging.raiseExceptions = False
    # oslo.log writes uncaught errors to the log only; users look at the terminal.
    sys.excepthook = sys.__excepthook__


def stop_logging():
    """Close the log file, before its directory goes away."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.addHandler(logging.NullHandler())
