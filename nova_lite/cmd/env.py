"""nova-lite env: print shell commands that make clients use the cloud of a state directory.

The shell commands set NOVA_LITE_STATE for nova-lite, the variables OS_* for tools that do not read
clouds.yaml, as a project's openrc file does, and OS_CLIENT_CONFIG_FILE and OS_CLOUD for tools that
do. `openstack` prefers these variables to the cloud that `--os-cloud` names: run `nova-lite env`
again with --cloud to act as another user.

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


def run(args: argparse.Namespace) -> None:
    """Print the variables."""
    path = openrc.clouds_yaml(args.which)
    variables = {state_dir.VARIABLE: args.which.directory, **openrc.variables(path, args.cloud)}
    if args.json:
        print(json.dumps(variables, indent=2))
        return
    print(f'unset {" ".join(openrc.UNSET)}')
    for name, value in variables.items():
        print(f'export {name}={shlex.quote(value)}')
