"""nova-lite: the command for people. Each subcommand is a module in this package.

Exit codes: 0 success; 1 the command ran and found a problem (a finding, a failure);
2 the command could not run: its arguments are wrong, or a cloud, file or service that it needs is
missing, unreachable or in use. As in shells: 130 interrupted; 141 the reader of the output closed
the pipe.
"""

import argparse
from collections.abc import Collection
from collections.abc import Sequence
import contextlib
import importlib
import importlib.metadata
import logging
import os
import sys

from nova_lite import exception
from nova_lite import versions
from nova_lite.lab.console import arguments
from nova_lite.lab.console import messages
from nova_lite.lab.console import output
from nova_lite.lab.console import programs
from nova_lite.lab.launcher import deployed
from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud

NOT_DONE, INTERRUPTED, UNREAD = 2, programs.INTERRUPTED, output.UNREAD
COMMANDS = {
    'up': 'start a cloud',
    'status': 'show whether a cloud runs',
    'list': 'list the clouds of this user',
    'env': 'print the settings of clients',
    'openstack': 'run the client `openstack` with a cloud',
    'reset': 'return a cloud to a saved state',
    'snapshot': 'write a cloud to a file',
    'fork': 'start a second cloud from a running one',
    'stop': 'stop a cloud, or delete it',
    'demo': 'show the main features',
    'verify': 'check that a cloud is consistent',
    'clock': 'change the time of a running cloud',
    'fault': 'let operations of hosts or requests to services fail',
    'host': 'power a host off or on',
    'cell': 'take a cell down or up',
    'bus': 'cut, freeze or heal message buses',
    'daemon': 'kill, stop or start daemons of a cloud with --bus',
    'saga': 'show moves and their progress, or debug them',
    'why': 'explain the last scheduling decision',
    'repair-guide': 'show how an operator of nova repairs a server',
    'events': 'print notifications as they are sent',
    'logs': 'print the log of a cloud',
    'config-drive': 'show the config drive of a server',
    'drain-host': 'move all servers off a host',
    'undrain': 'enable a host after drain-host or evacuate-host',
    'evacuate-host': 'rebuild the servers of a failed host',
    'bench': 'measure a running cloud',
    'replay': 'compare scheduler settings with a trace of virtual machines',
    'scenario': 'run drills by name',
    'import': 'read a cloud as the file of a twin',
    'twin': 'try what a cloud can take on a copy of it',
    'completion': 'print a script that completes commands in a shell',
}
# {subcommand: its module, if that has another name}
MODULES = {'status': 'cloud_status', 'import': 'import_cloud'}


# `nova-lite help up` is `nova-lite up --help`.
HELP = 'help'
# They start a cloud, or compare no times with those of a cloud.
TIMELESS = ('up', 'fork', 'stop', 'env', 'openstack', 'logs')


def module_of(name: str) -> str:
    """Return the name of a subcommand's module in this package."""
    return MODULES.get(name, name.replace('-', '_'))


def parser(wanted: Collection[str] = ()) -> arguments.Parser:
    """Return the argument parser. wanted: the subcommands that may be run; others have no module"""
    top = arguments.Parser(
        prog='nova-lite', description='A Nova-compatible compute cloud over simulated hosts.'
    )
    top.add_argument('--version', action='version', version=_version())
    added = top.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, text in COMMANDS.items():
        command = added.add_parser(name, help=text)
        if name in wanted:
            module = importlib.import_module(f'nova_lite.cmd.{module_of(name)}')
            command.description = arguments.described(module.__doc__ or '')
            command.formatter_class = argparse.RawDescriptionHelpFormatter
            command.set_defaults(run=module.run)
            module.add_arguments(command)
    return top


def _version() -> str:
    api = list(versions.RELEASES.values())[-1]['api']
    return f'nova-lite {importlib.metadata.version("nova-lite")}, Compute API {api}'


def _choose(args: argparse.Namespace) -> None:
    """Find the cloud that the subcommand means and print it. Raise Invalid, Conflict.

    args.which: the which_cloud.Cloud, None without one; args.state_dir: None for a deployment
    """
    args.which = which_cloud.of(args)
    if args.which is None:
        return
    if args.which.deployed:
        deployed.require(args)
    print(args.which, file=sys.stderr, flush=True)
    args.state_dir = None if args.which.deployed else args.which.directory


def _clock(args: argparse.Namespace) -> contextlib.AbstractContextManager[object]:
    """Return a context with the time of the cloud whose files the subcommand reads."""
    directory = None if args.command in TIMELESS else getattr(args, 'state_dir', None)
    if directory is None or not state_dir.has_clock(directory):
        return contextlib.nullcontext()
    # Few clouds have another time.
    from nova_lite.lab.launcher import clocks

    clock: contextlib.AbstractContextManager[object] = clocks.installed(directory)
    return clock


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand and return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] == HELP:
        argv = [*argv[1:], '--help']
    # Importing the modules of all subcommands takes seconds.
    args = parser(argv[:1]).parse_args(argv)
    # Errors are printed once, below; `up` and `demo` log to a file.
    logging.getLogger().addHandler(logging.NullHandler())
    os.environ.update(proxies.exempt())
    try:
        _choose(args)
        with _clock(args):
            return args.run(args) or 0
    except (exception.NovaLiteError, ValueError) as error:
        print(f'nova-lite {args.command}: {messages.of(error)}', file=sys.stderr)
        return NOT_DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        output.discard()
        return UNREAD
    except Exception as error:
        text = messages.of_library(error)
        if text is not None:
            print(f'nova-lite {args.command}: {text}', file=sys.stderr)
            return NOT_DONE
        raise


def program() -> int:
    """Run the subcommand that the arguments of the process name. Return its exit code."""
    return programs.run(main, name='nova-lite', failed=NOT_DONE)


if __name__ == '__main__':
    sys.exit(program())
