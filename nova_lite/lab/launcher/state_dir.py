"""The options that name a cloud, and the configuration found in its state directory."""

import argparse
from collections.abc import Mapping
import os
import re
import shlex

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import deployment

# Variables that name a cloud: by its state directory, or by a file in that.
VARIABLE, CLIENTS_FILE = 'NOVA_LITE_STATE', 'OS_CLIENT_CONFIG_FILE'
CONTROL_CONF = os.path.join('etc', 'control.conf')
# A cloud that has begun to start has it, and no directory of another program.
MADE = 'metadata-secret'

NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')

# The file of a cloud whose clock was changed; see `clocks`.
CLOCK = 'clock.json'


class NoCloud(exception.Invalid):
    msg = (
        'There is no cloud in %(directory)s: %(path)s does not exist. Start one with `%(up)s`, or name '
        'another with --state-dir or --name; `nova-lite list` lists those of this user.'
    )


class Unreadable(exception.Invalid):
    msg = (
        'The file %(path)s cannot be used: %(reason)s. Correct it, or write it again with `%(up)s`.'
    )


def default():
    """Return the directory of the cloud that commands use without an option."""
    return implied(os.environ)[0]


def implied(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return (directory of the cloud, the variable that names it or ''), without an option."""
    if environ.get(VARIABLE):
        return os.path.abspath(environ[VARIABLE]), VARIABLE
    directory = os.path.dirname(os.path.abspath(environ.get(CLIENTS_FILE) or 'none'))
    if environ.get(CLIENTS_FILE) and has_cloud(directory):
        return directory, CLIENTS_FILE
    return unnamed(), ''


def unnamed():
    """Return the state directory of the cloud that nothing names."""
    return os.path.join(_base(), 'nova-lite')


def is_cloud(directory: str) -> bool:
    """Return whether a directory is the state directory of a cloud that has been started."""
    return os.path.exists(os.path.join(directory, MADE))


def has_cloud(directory: str) -> bool:
    """Return whether a directory is that of a cloud or of the configuration of a deployment."""
    return is_cloud(directory) or deployment.is_one(directory)


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
    """Add the options that name the cloud."""
    add_names(parser.add_mutually_exclusive_group())


def add_names(group):
    """Add --state-dir, --name and --config-dir to a group of which one may be used."""
    group.add_argument(
        '--state-dir',
        type=arguments.directory,
        metavar='DIR',
        help=f'state directory of the cloud (default: that of {VARIABLE}, else of '
        f'{CLIENTS_FILE}, else {_escaped(unnamed())})',
    )
    group.add_argument(
        '--name',
        dest='state_dir',
        type=named,
        default=argparse.SUPPRESS,
        metavar='NAME',
        help=f'cloud with a name: its state directory is {_escaped(named("NAME"))}',
    )
    group.add_argument(
        '--config-dir',
        type=arguments.directory,
        metavar='DIR',
        help='deployment, by the directory of its configuration, such as /etc/nova-lite',
    )


def _escaped(text):
    # argparse fills in what follows a percent sign.
    return text.replace('%', '%%')


def existing(directory, *names):
    """Return the path of a file of the cloud in `directory`. Raise NoCloud without the file."""
    path = os.path.join(directory, *names)
    if not os.path.exists(path):
        raise NoCloud(directory=directory, path=path, up=command('up', directory))
    return path


def control_conf(directory):
    """Return the configuration of control daemons of the cloud in `directory`. Raise Invalid."""
    path = existing(directory, CONTROL_CONF)
    up = command('up', directory)
    try:
        found = conf_module.make_conf(files=[path])
    except (cfg.Error, UnicodeError) as error:
        raise Unreadable(path=path, reason=deployment.one_line(error), up=up) from error
    if not found.api_database.connection:
        raise Unreadable(path=path, reason='it has no [api_database]connection', up=up)
    return found


def has_clock(directory):
    """Return whether the clock of the cloud in `directory` was changed (see launcher.clocks)."""
    return os.path.exists(os.path.join(directory, CLOCK))
