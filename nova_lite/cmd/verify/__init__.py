"""nova-lite verify: read everything and print what breaks the invariants.

The invariants are in the package `nova_lite.verify`. A cloud at work is never seen all at once, so a finding
counts only when it is still there in a later picture. A cloud that is stopped can
be looked at too; nothing changes in it, so one picture is enough.
"""

import contextlib
import json
import math
import sys

from nova_lite.cmd import progress
from nova_lite.cmd import state_dir
from nova_lite.cmd.verify import stopped
from nova_lite.verify import picture
from nova_lite.verify import settling


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'verify', help='check that a cloud is consistent', description=__doc__
    )
    state_dir.add_option(parser)
    parser.add_argument(
        '--settle',
        type=float,
        default=10.0,
        metavar='SECONDS',
        help='how long a finding must stay to count (default: %(default)s)',
    )
    parser.add_argument(
        '--bound',
        type=float,
        default=300.0,
        metavar='SECONDS',
        help='age at which a task state or a saga is stuck (default: %(default)s)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def find(directory, *, settle_s=10.0, bound_s=300.0, tell=lambda text: None):
    """What breaks an invariant in the cloud of `directory`, as a list of Finding.

    tell: called with what is looked at
    """
    with stopped.reachable(directory) as (conf, running):
        with contextlib.closing(picture.Reader(conf, directory, tell=tell)) as reader:
            if running:
                return settling.look(reader, settle_s=settle_s, bound_s=bound_s, tell=tell)
            # Work that stands still with the whole cloud is not stuck.
            return settling.look(reader, settle_s=0, bound_s=math.inf)


def open_reader(directory):
    """A Reader of the running cloud of `directory`, to be closed."""
    return picture.Reader(state_dir.control_conf(directory), directory)


def run(args):
    """Print the findings; 0 when there is none, 1 otherwise."""
    with progress.Steps('Looking', stream=sys.stderr, passing=True) as steps:
        found = find(args.state_dir, settle_s=args.settle, bound_s=args.bound, tell=steps.begin)
    if args.json:
        print(json.dumps([finding._asdict() for finding in found], indent=2))
    else:
        for finding in found:
            print(f'{finding.invariant}  {finding.what}  {finding.detail}')
        print(f'{len(found)} findings' if found else 'Nothing breaks an invariant.')
    return 1 if found else 0
