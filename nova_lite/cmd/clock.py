"""nova-lite clock: freeze, advance or speed up the time of a running embedded cloud.

While the clock is advanced, the cloud does all that becomes due: periodic tasks, timeouts and
simulated work. Time never goes back: also the next `nova-lite up` keeps the clock ahead.

Examples: nova-lite clock advance 24h
          nova-lite clock rate 1000
"""

import json
import re

from nova_lite.console import tables
from nova_lite.launcher import control_client
from nova_lite.launcher import state_dir

UNITS = {'d': 86400, 'h': 3600, 'm': 60, 's': 1}
DURATION = re.compile(r'(\d+(?:\.\d+)?)([dhms])')
TIMEOUT_S = 3600


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'clock',
        help='change the time of a running cloud',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    for name, text in (
        ('show', 'show the time of the cloud, and how it passes'),
        ('freeze', 'stop time: nothing becomes due'),
        ('resume', 'let time pass at its usual rate'),
        ('advance', 'move time ahead and wait until the cloud has done what became due'),
        ('rate', 'let time pass faster while the cloud has nothing to do'),
    ):
        action = actions.add_parser(
            name, help=text, description=__doc__, formatter_class=state_dir.Formatter
        )
        if name == 'advance':
            action.add_argument('duration', metavar='DURATION', help='such as 90s, 1h30m or 2d')
        if name == 'rate':
            action.add_argument('rate', type=float, metavar='N', help='1 to 100000')
        state_dir.add_option(action)
        action.add_argument('--json', action='store_true', help='print JSON')
        action.set_defaults(run=run)


def seconds_of(text):
    """Return the seconds of a duration such as 1h30m. Raise ValueError."""
    if DURATION.sub('', text) or not text:
        raise ValueError(f'{text!r} is not a duration such as 90s, 1h30m or 2d')
    return sum(float(number) * UNITS[unit] for number, unit in DURATION.findall(text))


def run(args):
    """Change the clock and print what it shows."""
    client = control_client.Client(args.state_dir, timeout_s=TIMEOUT_S)
    if args.action == 'show':
        shown = client.get('clock')
    elif args.action == 'advance':
        shown = client.post('clock', action='advance', seconds=seconds_of(args.duration))
    elif args.action == 'rate':
        shown = client.post('clock', action='rate', rate=args.rate)
    else:
        shown = client.post('clock', action=args.action)
    if args.json:
        print(json.dumps(shown, indent=2))
    else:
        tables.show(('Field', 'Value'), [(name, str(value)) for name, value in shown.items()])
