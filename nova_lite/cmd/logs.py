"""nova-lite logs: print the log of a cloud, running or not.

The records of all files are merged by their times, each with its traceback. A cloud in one process
has one file; there --daemon selects the records that the modules of a daemon wrote. The daemons of
a deployment log to the journal unless their configuration has log_dir or log_file.

Examples: nova-lite logs -f --daemon scheduler
          nova-lite logs --server web -n 20
          nova-lite logs --request req-3f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10
"""

import argparse
import json

from nova_lite.cmd import subcommands
from nova_lite.lab import server_names
from nova_lite.lab.console import arguments
from nova_lite.lab.console import log_records
from nova_lite.lab.launcher import log_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser, json='print each record as one line of JSON')
    parser.add_argument('-f', '--follow', action='store_true', help='go on until interrupted')
    parser.add_argument(
        '-n', '--lines', type=arguments.count, metavar='N', help='only the last N records'
    )
    parser.add_argument(
        '--daemon',
        metavar='DAEMON',
        help=f'only records of this daemon: {", ".join(log_records.PACKAGES)}; with --bus also one of '
        'a cell, such as conductor.cell1',
    )
    parser.add_argument(
        '--request',
        type=arguments.request_id,
        metavar='ID',
        help='only records with this request id',
    )
    parser.add_argument(
        '--server',
        metavar='SERVER',
        help='only records with the uuid of this server (uuid or name)',
    )


def run(args: argparse.Namespace) -> None:
    """Print the records."""
    server = args.server and server_names.find(args.which.conf, args.server)
    wanted = log_files.Wanted(args.daemon, args.request, server)
    show_one = _show_json if args.json else _show
    log_files.show(args.which, wanted, last=args.lines, follow=args.follow, show_one=show_one)


def _show(record: log_records.Record, is_one_of_several: bool) -> None:
    prefix = f'{record.file:<18} ' if is_one_of_several else ''
    for line in record.lines:
        print(f'{prefix}{line}', flush=True)


def _show_json(record: log_records.Record, _is_one_of_several: bool) -> None:
    print(json.dumps({'file': record.file, 'at': record.at, 'lines': record.lines}), flush=True)
