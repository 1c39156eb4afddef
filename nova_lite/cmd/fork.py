"""nova-lite fork: start a second cloud that continues as the running one is now.

The new cloud has a state directory and a port of its own, and the same servers, users and
passwords. From then on each of them goes its own way. It is ready when the command returns, and
`nova-lite stop --state-dir TO` stops it. Clouds with --bus or --db cannot be forked.

The exit code is 2 if the running cloud cannot be read or the new one does not start.

Example: nova-lite fork ./what-if
"""

from nova_lite.cmd import subcommands
from nova_lite.daemons import leash
from nova_lite.lab.launcher import branches
from nova_lite.lab.launcher import foreground

HELP = 'start a second cloud from a running one'


def add_arguments(parser):
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.add_argument('to', metavar='TO', help='state directory of the new cloud')
    parser.add_argument(
        '--port',
        type=int,
        default=0,
        metavar='P',
        help='port of the new cloud; 0 for any that is free (default: %(default)s)',
    )
    parser.add_argument('--fresh', action='store_true', help='delete a former cloud in TO first')
    parser.add_argument(
        '--until-exit',
        type=leash.process,
        metavar='PID',
        help='stop the new cloud when this process ends',
    )


def run(args):
    """Take a snapshot and start a cloud from it."""
    ready = branches.begin(
        args.state_dir, args.to, port=args.port, fresh=args.fresh, until_exit=args.until_exit
    )
    foreground.show(ready, args.to, as_json=args.json)
