"""The state of the cloud of a state directory: whether it runs, where, and its health."""

import contextlib
import dataclasses
import datetime
import json
import os
import typing

import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import breakpoints
from nova_lite.lab.console import injected_faults
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import state_dir

NOT_RUNNING, STARTING, RUNNING = 'not running', 'starting or stopping', 'running'
ANSWER_S = 10
# With less space SQLite cannot write the smallest change: the file system counts as full.
LEAST_FREE_BYTES = 64 * 1024

Json: typing.TypeAlias = dict[str, typing.Any]


def state_of(directory: str) -> str:
    """Return whether the cloud of a state directory runs, without requests to its daemons."""
    if running.read(directory) is not None:
        return RUNNING
    return NOT_RUNNING if lock.holder(directory) is None else STARTING


def read(directory: str) -> Json:
    """Return the state and URLs of a cloud, its problem, and what is not healthy, as JSON.

    A cloud that runs also has its time, faults and stopped moves.
    health_urls, metrics_urls: by process; that of a cloud in one process is called all
    """
    found = running.read(directory)
    urls = None if found is None else _health_urls(directory)
    if found is None or urls is None:
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
        'health_urls': {name: f'{url}/healthcheck' for name, url in urls.items()},
        'metrics_urls': {name: f'{url}/metrics' for name, url in urls.items()},
        'unhealthy': [text for name, url in sorted(urls.items()) for text in _problems(name, url)],
        **_control(directory),
        **_disk(directory),
    }


def _disk(directory: str) -> Json:
    """Return {problem} if the file system of the state directory is full, otherwise {}."""
    try:
        found = os.statvfs(directory)
    except FileNotFoundError:
        return {}
    is_full = found.f_bavail * found.f_frsize < LEAST_FREE_BYTES
    # f_files is 0 on file systems that do not count their files.
    is_full = is_full or (found.f_files > 0 and found.f_favail == 0)
    return {'problem': f'disk full: {os.path.abspath(directory)}'} if is_full else {}


def _control(directory: str) -> Json:
    """Return {problem, time, faults, stopped}; {} if the control endpoint does not answer.

    problem: why the cloud refuses all requests, or None
    """
    client = control_client.Client(directory, timeout_s=ANSWER_S)
    found: Json = {}
    with contextlib.suppress(exception.Unavailable, control_client.Refused):
        found['problem'] = client.get('problem')['problem']
        clock, shown = client.get('clock'), client.get('faults')
        found['time'] = clock['now'] + (' (frozen)' if clock['frozen'] else '')
        found['faults'] = [text for _id, text in injected_faults.lines(shown)]
        found['stopped'] = breakpoints.lines(client.get('breakpoints'))
    return found


def _health_urls(directory: str) -> dict[str, str] | None:
    """Return {daemon: URL of its health endpoint}, None if `up --fresh` has deleted the file."""
    try:
        with open(os.path.join(directory, layout.HEALTH)) as file:
            urls: dict[str, str] = json.load(file)
            return urls
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = messages.cause(error) if isinstance(error, OSError) else 'it is not JSON'
        path, up = os.path.join(directory, layout.HEALTH), state_dir.command('up', directory)
        raise state_dir.Unreadable(path=path, reason=reason, up=up) from error


def _problems(name: str, url: str) -> list[str]:
    """Return texts on what is not healthy: the daemon, the check and its cause.

    name: of the process in the file of health endpoints
    """
    with requests.Session() as session:
        # The proxy of the environment cannot reach this machine.
        session.trust_env = False
        try:
            answer = session.get(f'{url}/healthcheck', timeout=ANSWER_S)
        except requests.RequestException:
            return [f'{name}: its health endpoint does not answer']
    if answer.ok:
        return []
    return [
        f'{daemon["daemon"]}: {check}: {cause}'
        for daemon in answer.json()['daemons']
        for check, cause in daemon['checks'].items()
        if cause is not None
    ]
