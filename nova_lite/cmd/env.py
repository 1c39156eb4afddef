"""nova-lite env: print shell commands that make clients use the cloud of a state directory.

They set the variables OS_* for tools that do not read clouds.yaml, as a project's openrc file
does, and OS_CLIENT_CONFIG_FILE and OS_CLOUD for those that do.

Example: eval "$(nova-lite env --cloud nova-lite-demo)"
"""

import json
import os
import shlex

import yaml

from nova_lite import exception
from nova_lite.launcher import state_dir

# Variables of former shells that would come before ours, or name another scope besides it.
UNSET = (
    'OS_TOKEN',
    'OS_AUTH_TYPE',
    'OS_PROJECT_ID',
    'OS_TENANT_ID',
    'OS_TENANT_NAME',
    'OS_USER_ID',
    'OS_DOMAIN_ID',
    'OS_DOMAIN_NAME',
    'OS_SYSTEM_SCOPE',
    'OS_TRUST_ID',
)


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'env',
        help='print the settings of clients',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    state_dir.add_option(parser)
    parser.add_argument(
        '--cloud',
        default='nova-lite',
        metavar='NAME',
        help='name of a cloud in its clouds.yaml: nova-lite for the administrator, '
        'nova-lite-demo for a member (default: %(default)s)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Print the variables."""
    variables = variables_of(os.path.abspath(args.state_dir), args.cloud)
    if args.json:
        print(json.dumps(variables, indent=2))
        return
    print(f'unset {" ".join(UNSET)}')
    for name, value in variables.items():
        print(f'export {name}={shlex.quote(value)}')


def variables_of(directory, name):
    """Return {variable: value}. Raise Invalid unless there is a cloud of this name."""
    path = state_dir.existing(directory, 'clouds.yaml')
    with open(path) as file:
        clouds = yaml.safe_load(file)['clouds']
    if name not in clouds:
        raise exception.Invalid(reason=f'{path} has no cloud {name}, only {", ".join(clouds)}')
    chosen = clouds[name]
    return {
        'OS_CLIENT_CONFIG_FILE': path,
        'OS_CLOUD': name,
        **{f'OS_{key.upper()}': value for key, value in chosen['auth'].items()},
        'OS_REGION_NAME': chosen['region_name'],
        'OS_IDENTITY_API_VERSION': chosen['identity_api_version'],
    }
