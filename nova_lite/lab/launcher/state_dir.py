"""The options --state-dir and --name, and the configuration found in that directory."""

import argparse
import os
import re
import shlex

from nova_lite import conf as conf_module
from nova_lite import exception

# Of the environment: the default of --state-dir.
VARIABLE = 'NOVA_LITE_STATE'

NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')

# The file of a cloud whose clock was changed; see `clocks`.
CLOCK = 'clock.json'


def default():
    """Return the default state directory of `nova-lite up`."""
    return os.environ.get(VARIABLE) or os.path.join(_base(), 'nova-lite')


def name(text):
    """Return a name that is given as an argument. Raise ArgumentTypeError for another text."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a name of up to 64 letters, digits, points, hyphens and underscores'
        )
    return text


def named(text):
    """Return the state directory of the cloud with a name. Raise ArgumentTypeError.

    It is not below the default one, whose cloud `up --fresh` deletes.
    """
    return os.path.join(parent(), name(text))


def command(verb, directory):
    """Return a command of nova-lite as a user writes it for the cloud in a state directory.

    verb: the name of the command, such as 'stop'
    """
    path = os.path.abspath(directory)
    if path == os.path.abspath(default()):
        return f'nova-lite {verb}'
    place, base = os.path.split(path)
    if place == os.path.abspath(parent()):
        return f'nova-lite {verb} --name {base}'
    return f'nova-lite {verb} --state-dir {shlex.quote(path)}'


def parent():
    """Return the directory of the state directories of clouds with a name."""
    return os.path.join(_base(), 'nova-lite-clouds')


def _base():
    return os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')


def add_option(parser):
    """Add --state-dir, and --name in its place."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        '--state-dir',
        default=default(),
        metavar='DIR',
        help='state directory of the cloud (default: %(default)s)',
    )
    add_name(where)


def add_name(group):
    """Add --name to a group with --state-dir."""
    group.add_argument(
        '--name',
        dest='state_dir',
        type=named,
        default=argparse.SUPPRESS,
        metavar='NAME',
        # argparse fills in what follows a percent sign.
        help=f'cloud with a name: its state directory is {named("NAME").replace("%", "%%")}',
    )


def existing(directory, *names):
    """Return the path of a file of the cloud in `directory`. Raise Invalid without the file."""
    path = os.path.join(directory, *names)
    if not os.path.exists(path):
        raise exception.Invalid(
            reason=f'no cloud in {directory}: {path} does not exist. '
            f'Start one with `{command("up", directory)}`, or use --state-dir or --name'
        )
    return path


def control_conf(directory):
    """Return the configuration of the control daemons of the cloud in `directory`."""
    return conf_module.make_conf(files=[existing(directory, 'etc', 'control.conf')])


def has_clock(directory):
    """Return whether the clock of the cloud in `directory` was changed (see launcher.clocks)."""
    return os.path.exists(os.path.join(directory, CLOCK))
