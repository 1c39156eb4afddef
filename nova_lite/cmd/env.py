"""nova-lite env: print shell commands that make clients use the cloud of a state directory.

The shell commands set NOVA_LITE_STATE for nova-lite, and OS_CLIENT_CONFIG_FILE and OS_CLOUD for
clients; `openstack --os-cloud NAME` acts as another user of that file. They unset variables that
clients prefer to the file, such as OS_USERNAME. With --openrc they set these, the password among
them, as a project's openrc file does: for programs that do not read clouds.yaml.

Example: eval "$(nova-lite env --cloud nova-lite-demo)"
"""

import argparse
import json
import shlex

from nova_lite.cmd import subcommands
from nova_lite.lab.launcher import openrc
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.set_defaults(**which_cloud.NOT_COMPARED)
    parser.add_argument(
        '--cloud',
        default='nova-lite',
        metavar='NAME',
        help='name of a cloud in its clouds.yaml: nova-lite for the administrator, '
        'nova-lite-demo for a member (default: %(default)s)',
    )
    parser.add_argument(
        '--openrc',
        action='store_true',
        help='also set OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and others, for programs that do not '
        'read clouds.yaml; clients prefer these to --os-cloud',
    )


def run(args: argparse.Namespace) -> None:
    """Print the variables."""
    path = openrc.clouds_yaml(args.which)
    found = (openrc.variables if args.openrc else openrc.selection)(path, args.cloud)
    variables = {state_dir.VARIABLE: args.which.directory, **found}
    if args.json:
        print(json.dumps(variables, indent=2))
        return
    print(f'unset {" ".join(openrc.UNSET)}')
    for name, value in variables.items():
        print(f'export {name}={shlex.quote(value)}')
