"""nova-lite: the command for people. Each subcommand is a module in this package.

Exit codes: 0 success; 1 the command ran and found a problem (a finding, a failure);
2 the command could not run: its arguments are wrong, or a cloud, file or service that it needs is
missing, unreachable or in use. As in shells: 130 interrupted; 141 the reader of the output closed
the pipe.
"""

import argparse
from collections.abc import Iterable
from collections.abc import Sequence
import contextlib
import importlib
import logging
import os
import sys

from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import state_dir

NOT_DONE, INTERRUPTED, UNREAD = 2, 130, 141
COMMANDS = (
    'up',
    'status',
    'list',
    'env',
    'reset',
    'snapshot',
    'fork',
    'stop',
    'demo',
    'verify',
    'clock',
    'fault',
    'host',
    'cell',
    'bus',
    'saga',
    'why',
    'events',
    'config-drive',
    'drain-host',
    'undrain',
    'evacuate-host',
    'bench',
)
# {subcommand: its module, if that has another name}
MODULES = {'status': 'cloud_status'}


def module_of(name: str) -> str:
    """Return the name of a subcommand's module in this package."""
    return MODULES.get(name, name.replace('-', '_'))


def parser(commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the argument parser with these subcommands."""
    top = arguments.Parser(
        prog='nova-lite', description='A Nova-compatible compute cloud over simulated hosts.'
    )
    added = top.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name in commands:
        module = importlib.import_module(f'nova_lite.cmd.{module_of(name)}')
        command = added.add_parser(
            name,
            help=module.HELP,
            description=arguments.described(module.__doc__ or ''),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=module.run)
        module.add_arguments(command)
    return top


def _clock(args: argparse.Namespace) -> contextlib.AbstractContextManager[object]:
    """Return a context with the time of the cloud whose files the subcommand reads."""
    is_start = args.command in ('up', 'fork')
    directory = None if is_start else getattr(args, 'state_dir', None)
    if directory is None or not state_dir.has_clock(directory):
        return contextlib.nullcontext()
    # Few clouds have another time.
    from nova_lite.lab.launcher import clocks

    clock: contextlib.AbstractContextManager[object] = clocks.installed(directory)
    return clock


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand and return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    # Importing the modules of all subcommands takes seconds.
    wanted = argv[:1] if argv and argv[0] in COMMANDS else COMMANDS
    args = parser(wanted).parse_args(argv)
    # Errors are printed once, below; `up` and `demo` log to a file.
    logging.getLogger().addHandler(logging.NullHandler())
    os.environ.update(proxies.exempt())
    try:
        with _clock(args):
            return args.run(args) or 0
    except (exception.NovaLiteError, ValueError) as error:
        print(f'nova-lite {args.command}: {error}', file=sys.stderr)
        return NOT_DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Discard the rest of the output at exit, without a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


if __name__ == '__main__':
    sys.exit(main())
