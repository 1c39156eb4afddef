"""The verdict of `verify` on the cloud of a state directory, running or stopped."""

import contextlib

from nova_lite.lab.launcher import audits
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import stopped
from nova_lite.verify import age_limits
from nova_lite.verify import reader as reader_module
from nova_lite.verify import settling


def find(directory, *, settle_s=10.0, ages=None, say=lambda text: None):
    """Return the settling.Verdict on the cloud of `directory`.

    ages: age_limits.AgeLimits; say: called with what is being read
    """
    with stopped.reachable(directory) as (conf, running):
        opened = reader_module.Reader(conf, directory, running=running, say=say)
        with contextlib.closing(opened) as reader:
            if running:
                verdict = settling.look(reader, settle_s=settle_s, ages=ages, say=say)
            else:
                ages = (ages or age_limits.AgeLimits()).of_stopped()
                verdict = settling.look(reader, settle_s=0, ages=ages)
    audits.record(directory, verdict)
    return verdict


def open_reader(directory):
    """Return a Reader of the running cloud of `directory`, to be closed."""
    return reader_module.Reader(state_dir.control_conf(directory), directory)
