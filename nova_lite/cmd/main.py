"""nova-lite: the command for people. Each subcommand is a module beside this one.

Exit codes: 0 done; 1 done, and something did not hold (a finding, a failure);
2 not done: wrong arguments, or something is missing, away or in use. As shells have it:
130 interrupted; 141 whoever read the output wants no more of it.
"""

import argparse
import importlib
import logging
import os
import sys

from nova_lite import exception

NOT_DONE, INTERRUPTED, UNREAD = 2, 130, 141
COMMANDS = (
    'up',
    'demo',
    'verify',
    'saga',
    'why',
    'events',
    'drain-host',
    'undrain',
    'evacuate-host',
    'bench',
)


def parser(commands=COMMANDS):
    """The argument parser with these subcommands."""
    top = argparse.ArgumentParser(
        prog='nova-lite', description='A Nova-compatible compute cloud over simulated hosts.'
    )
    added = top.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name in commands:
        module = name.replace('-', '_')
        importlib.import_module(f'nova_lite.cmd.{module}').add_parser(added)
    return top


def main(argv=None):
    """Run the subcommand; returns its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    # To load what all of them need takes seconds.
    wanted = argv[:1] if argv and argv[0] in COMMANDS else COMMANDS
    args = parser(wanted).parse_args(argv)
    # What goes wrong is told once, at the end; `up` and `demo` log to a file.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return args.run(args) or 0
    except (exception.NovaLiteError, ValueError) as error:
        print(f'nova-lite {args.command}: {error}', file=sys.stderr)
        return NOT_DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # What is left to be written at the exit goes nowhere, without another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


if __name__ == '__main__':
    sys.exit(main())
