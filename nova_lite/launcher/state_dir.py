"""The option --state-dir and the configuration found in that directory."""

import contextlib
import os

from nova_lite import conf as conf_module
from nova_lite import exception

# Of the environment: the default of --state-dir.
VARIABLE = 'NOVA_LITE_STATE'

# The file of a cloud whose clock was changed; see `clocks`.
CLOCK = 'clock.json'


def default():
    """Return the default state directory of `nova-lite up`."""
    base = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    return os.environ.get(VARIABLE) or os.path.join(base, 'nova-lite')


def add_option(parser):
    """Add --state-dir."""
    parser.add_argument(
        '--state-dir',
        default=default(),
        metavar='DIR',
        help='state directory of the cloud (default: %(default)s)',
    )


def existing(directory, *names):
    """Return the path of a file of the cloud in `directory`. Raise Invalid without the file."""
    path = os.path.join(directory, *names)
    if not os.path.exists(path):
        raise exception.Invalid(
            reason=f'no cloud in {directory}: {path} does not exist. '
            'Start one with `nova-lite up`, or use --state-dir'
        )
    return path


def control_conf(directory):
    """Return the configuration of the control daemons of the cloud in `directory`."""
    return conf_module.make_conf(files=[existing(directory, 'etc', 'control.conf')])


def clock(directory):
    """Return a context in which this process has the time of the cloud in `directory`."""
    if not os.path.exists(os.path.join(directory, CLOCK)):
        return contextlib.nullcontext()
    # Few clouds have another time.
    from nova_lite.launcher import clocks

    return clocks.installed(directory)
