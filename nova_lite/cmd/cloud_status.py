"""nova-lite status: show whether the cloud of a state directory runs, and where.

The exit code is 0 if it runs and all daemons are healthy, 1 if it does not run, is starting
or stopping, or a daemon is not healthy.

Example: nova-lite status --json
"""

import dataclasses
import datetime
import json
import os

import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.console import faults
from nova_lite.console import tables
from nova_lite.launcher import control_client
from nova_lite.launcher import layout
from nova_lite.launcher import running
from nova_lite.launcher import state_dir

NOT_RUNNING, STARTING, RUNNING = 'not running', 'starting or stopping', 'running'
ANSWER_S = 10


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'status',
        help='show whether a cloud runs',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Print the state and return the exit code."""
    shown = _state(args.state_dir)
    if args.json:
        print(json.dumps(shown, indent=2))
    else:
        tables.show(('Field', 'Value'), [(name, _text(value)) for name, value in shown.items()])
    return 0 if shown['state'] == RUNNING and not shown['unhealthy'] else 1


def _state(directory):
    found = running.read(directory)
    urls = None if found is None else _health_urls(directory)
    if urls is None:
        pid = running.holder(directory)
        state = NOT_RUNNING if pid is None else STARTING
        return {'state': state, 'state_dir': os.path.abspath(directory), 'pid': pid}
    return {
        'state': RUNNING,
        'state_dir': os.path.abspath(directory),
        **dataclasses.asdict(found),
        'started_at': datetime.datetime.fromtimestamp(found.started_at, datetime.UTC).isoformat(
            timespec='seconds'
        ),
        'uptime_s': round(runtime.timestamp() - found.started_at),
        'unhealthy': sorted(name for name, url in urls.items() if not _is_healthy(url)),
        **_control(directory),
    }


def _control(directory):
    """Return the clock and the injected faults of an embedded cloud; {} of another."""
    client = control_client.Client(directory, timeout_s=ANSWER_S)
    try:
        clock, shown = client.get('clock'), client.get('faults')
    except (exception.Unavailable, control_client.Refused):
        return {}
    return {
        'time': clock['now'] + (' (frozen)' if clock['frozen'] else ''),
        'faults': [text for _id, text in faults.lines(shown)],
    }


def _health_urls(directory):
    """Return {daemon: URL of its health endpoint}, None if `up --fresh` has removed them."""
    try:
        with open(os.path.join(directory, layout.HEALTH)) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _is_healthy(url):
    with requests.Session() as session:
        # A proxy of the environment does not reach this machine.
        session.trust_env = False
        try:
            return session.get(f'{url}/healthcheck', timeout=ANSWER_S).ok
        except requests.RequestException:
            return False


def _text(value):
    if value is None:
        return ''
    return ', '.join(value) if isinstance(value, list | tuple) else str(value)
