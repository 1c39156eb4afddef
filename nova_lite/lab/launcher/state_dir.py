"""The options that name a cloud, and the configuration found in its state directory."""

import argparse
from collections.abc import Mapping
import os
import re
import shlex
import typing

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import deployment

# Variables that name a cloud: by its state directory, or by a file in its state directory.
VARIABLE, CLIENTS_FILE = 'NOVA_LITE_STATE', 'OS_CLIENT_CONFIG_FILE'
CONTROL_CONF = os.path.join('etc', 'control.conf')
# A file that only a state directory has, from the beginning of the first start.
MADE = 'metadata-secret'

NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')

# The file that a cloud has once its clock was changed; see `clocks`.
CLOCK = 'clock.json'

# A group of options of a parser.
Group: typing.TypeAlias = 'argparse._MutuallyExclusiveGroup | argparse._ArgumentGroup'


class NoCloud(exception.Invalid):
    msg = (
        'There is no cloud in %(directory)s: %(path)s does not exist. Start one with `%(up)s`, or name '
        'another with --state-dir or --name; `nova-lite list` lists those of this user.'
    )


class Unreadable(exception.Invalid):
    msg = (
        'The file %(path)s cannot be used: %(reason)s. Correct it, or write it again with `%(up)s`.'
    )


def default() -> str:
    """Return the directory of the cloud that commands use without an option."""
    return implied(os.environ)[0]


def implied(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return (directory of the cloud, variable that names it or '') if no option names it."""
    if environ.get(VARIABLE):
        return os.path.abspath(environ[VARIABLE]), VARIABLE
    directory = os.path.dirname(os.path.abspath(environ.get(CLIENTS_FILE) or 'none'))
    if environ.get(CLIENTS_FILE) and has_cloud(directory):
        return directory, CLIENTS_FILE
    return unnamed(), ''


def unnamed() -> str:
    """Return the default state directory, which is used if no option or variable names one."""
    return os.path.join(_base(), 'nova-lite')


def is_cloud(directory: str) -> bool:
    """Return whether a directory is the state directory of a cloud that has been started."""
    return os.path.exists(os.path.join(directory, MADE))


def has_cloud(directory: str) -> bool:
    """Return whether a directory belongs to a cloud or has the configuration of a deployment."""
    return is_cloud(directory) or deployment.is_one(directory)


def name(text: str) -> str:
    """Return `text` if it can be the name of a cloud. Raise ArgumentTypeError."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a name of up to 64 letters, digits, points, hyphens and underscores'
        )
    return text


def named(text: str) -> str:
    """Return the state directory of the cloud with a name. Raise ArgumentTypeError.

    The directory is outside the default state directory, which `up --fresh` empties.
    """
    return os.path.join(parent(), name(text))


def command(verb: str, directory: str) -> str:
    """Return a command, such as `nova-lite stop`, with options for the cloud of a directory.

    verb: the name of the command
    """
    path = os.path.abspath(directory)
    if path == os.path.abspath(default()):
        return f'nova-lite {verb}'
    place, base = os.path.split(path)
    if place == os.path.abspath(parent()):
        return f'nova-lite {verb} --name {base}'
    return f'nova-lite {verb} --state-dir {shlex.quote(path)}'


def parent() -> str:
    """Return the directory that has the state directories of clouds with names."""
    return os.path.join(_base(), 'nova-lite-clouds')


def _base() -> str:
    return os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a cloud to a parser."""
    add_names(parser.add_mutually_exclusive_group())


def add_names(group: Group) -> None:
    """Add --state-dir, --name and --config-dir to a group of options that exclude each other."""
    group.add_argument(
        '--state-dir',
        type=arguments.directory,
        metavar='DIR',
        help=f'state directory of the cloud (default: the directory in {VARIABLE}, otherwise the '
        f'directory of the file in {CLIENTS_FILE}, otherwise {_escaped(unnamed())})',
    )
    group.add_argument(
        '--name',
        dest='state_dir',
        type=named,
        default=argparse.SUPPRESS,
        metavar='NAME',
        help=f'name of the cloud, whose state directory is {_escaped(named("NAME"))}',
    )
    group.add_argument(
        '--config-dir',
        type=arguments.directory,
        metavar='DIR',
        help='directory with the configuration of a deployment, such as /etc/nova-lite',
    )


def _escaped(text: str) -> str:
    # argparse replaces the text after a percent sign.
    return text.replace('%', '%%')


def existing(directory: str, *names: str) -> str:
    """Return the path of a file of the cloud in `directory`. Raise NoCloud if it is missing."""
    path = os.path.join(directory, *names)
    if not os.path.exists(path):
        raise NoCloud(directory=directory, path=path, up=command('up', directory))
    return path


def control_conf(directory: str) -> cfg.ConfigOpts:
    """Return the configuration of the control daemons of a cloud. Raise NoCloud, Unreadable."""
    path = existing(directory, CONTROL_CONF)
    up = command('up', directory)
    try:
        found = conf_module.make_conf(files=[path])
    except (cfg.Error, UnicodeError) as error:
        raise Unreadable(path=path, reason=deployment.one_line(error), up=up) from error
    except OSError as error:
        raise Unreadable(path=path, reason=messages.cause(error), up=up) from error
    if not found.api_database.connection:
        raise Unreadable(path=path, reason='it has no [api_database]connection', up=up)
    return found


def has_clock(directory: str) -> bool:
    """Return whether the clock of the cloud in `directory` was ever changed; see `clocks`."""
    return os.path.exists(os.path.join(directory, CLOCK))
