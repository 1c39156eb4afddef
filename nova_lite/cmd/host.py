"""nova-lite host: cut the power of a simulated host of a running cloud, or give it back.

The guests of a host without power are shut down. Its servers can be evacuated once the cloud
considers the host down.

Example: nova-lite host off cell1-host1
"""

from nova_lite.console import faults
from nova_lite.launcher import control_client
from nova_lite.launcher import state_dir


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'host',
        help='power a host off or on',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    parser.add_argument('power', choices=('off', 'on'))
    parser.add_argument('name', metavar='NAME', help='name of the host')
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Switch the host, and print all faults."""
    client = control_client.Client(args.state_dir)
    faults.show(client.post('host', name=args.name, power=args.power), as_json=args.json)
