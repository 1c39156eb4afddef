"""nova-lite import: read a cloud through its APIs, as the file of a twin.

The twin has the hosts, flavors, aggregates, zones, server groups and servers of the cloud, each
server on its host. Names of servers, projects and images are replaced, unless --names keeps them.
Nothing is changed in the cloud, which may be a real nova or nova_lite. An administrator's
credentials are needed, of a cloud with placement and nova since Rocky. What the twin lacks is
printed and written into the file.

`nova-lite up -f FILE` starts the twin.

Example: nova-lite import --os-cloud production --output twin.yaml
"""

import argparse

from nova_lite.lab.maintenance import client
from nova_lite.lab.twin import import_command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    client.add_options(parser)
    parser.add_argument(
        '--output', metavar='FILE', help='file of the twin (default: standard output)'
    )
    parser.add_argument(
        '--names', action='store_true', help='keep the names of servers, groups and images'
    )
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        metavar='GROUP.OPTION=VALUE',
        help='configuration option of the twin, such as pci.alias or '
        'filter_scheduler.enabled_filters, which no API shows; may be repeated',
    )
    parser.add_argument(
        '--cell',
        action='append',
        default=[],
        metavar='PATTERN[,PATTERN]',
        help='hosts of a cell, by name or pattern; repeated for each cell, because no API shows '
        'cells (default: one cell)',
    )
    parser.add_argument('--force', action='store_true', help='replace an existing FILE')


def run(args: argparse.Namespace) -> None:
    """Write the file of a twin."""
    import_command.run(args)
