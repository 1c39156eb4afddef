"""The state directory of a cloud, as commands are told of it."""

import os

from nova_lite import conf as conf_module
from nova_lite import exception


def default():
    """Where `nova-lite up` keeps its state unless told otherwise."""
    base = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    return os.environ.get('NOVA_LITE_STATE') or os.path.join(base, 'nova-lite')


def add_option(parser):
    """Add --state-dir."""
    parser.add_argument(
        '--state-dir',
        default=default(),
        metavar='DIR',
        help='directory of the cloud (default: %(default)s)',
    )


def control_conf(directory):
    """The configuration of the control daemons of the cloud in `directory`."""
    path = os.path.join(directory, 'etc', 'control.conf')
    if not os.path.exists(path):
        raise exception.Invalid(
            reason=f'there is no cloud in {directory}: {path} is missing; '
            'start one with `nova-lite up`, or say --state-dir'
        )
    return conf_module.make_conf(files=[path])
