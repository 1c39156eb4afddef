"""The state of the cloud of a state directory: whether it runs, where, and its health."""

import contextlib
import dataclasses
import datetime
import json
import os

import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import breakpoints
from nova_lite.lab.console import injected_faults
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import running

NOT_RUNNING, STARTING, RUNNING = 'not running', 'starting or stopping', 'running'
ANSWER_S = 10
# A file system with less space is full: SQLite cannot write the smallest change.
LEAST_FREE_BYTES = 64 * 1024


def state_of(directory):
    """Return whether the cloud of a state directory runs, without asking its daemons."""
    if running.read(directory) is not None:
        return RUNNING
    return NOT_RUNNING if lock.holder(directory) is None else STARTING


def read(directory):
    """Return the state, URLs, unhealthy daemons, and as `_control`, in JSON's terms."""
    found = running.read(directory)
    urls = None if found is None else _health_urls(directory)
    if urls is None:
        pid = lock.holder(directory)
        state = NOT_RUNNING if pid is None else STARTING
        shown = {'state': state, 'state_dir': os.path.abspath(directory), 'pid': pid}
        return {**shown, **_disk(directory)}
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
        **_disk(directory),
    }


def _disk(directory):
    """Return the problem of a file system without space for the state directory; {} else."""
    try:
        found = os.statvfs(directory)
    except FileNotFoundError:
        return {}
    is_full = found.f_bavail * found.f_frsize < LEAST_FREE_BYTES
    # Some file systems do not count their files.
    is_full = is_full or (found.f_files > 0 and found.f_favail == 0)
    return {'problem': f'disk full: {os.path.abspath(directory)}'} if is_full else {}


def _control(directory):
    """Return the problem, clock, faults and stopped moves of an embedded cloud; {} of another.

    problem: why it refuses all requests, None while it does not
    """
    client = control_client.Client(directory, timeout_s=ANSWER_S)
    found = {}
    with contextlib.suppress(exception.Unavailable, control_client.Refused):
        found['problem'] = client.get('problem')['problem']
        clock, shown = client.get('clock'), client.get('faults')
        found['time'] = clock['now'] + (' (frozen)' if clock['frozen'] else '')
        found['faults'] = [text for _id, text in injected_faults.lines(shown)]
        found['stopped'] = breakpoints.lines(client.get('breakpoints'))
    return found


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
