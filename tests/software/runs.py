"""Runs of the cases of a program in a cloud, and their results."""

import contextlib
import json
import os
import pathlib
import subprocess

from tests.fixtures import processes
from tests.fixtures import rabbit
from tests.software import heat
from tests.software import settings
from tests.software import watcher
from tests.tempest import results

LIMIT_S = 1200


@contextlib.contextmanager
def before_cloud(name):
    """Start what a cloud for a program needs; yield more arguments of `nova-lite up`, and a bus."""
    with contextlib.ExitStack() as stack:
        if name != 'watcher':
            yield (), None
            return
        broker = stack.enter_context(rabbit.Rabbit())
        yield watcher.up(broker.url), broker.url


@contextlib.contextmanager
def _prepared(installed, found, bus):
    """Make what a program needs besides the cloud."""
    name = installed.program.name
    with contextlib.ExitStack() as stack:
        if name == 'heat':
            stack.enter_context(heat.Heat(installed, found))
        if name == 'masakari':
            settings.configure(found, settings.masakari(found))
            words = ('--config-file', found['configuration'], 'db', 'sync')
            processes.run(installed.path('masakari-manage'), *words)
        if name == 'watcher':
            stack.enter_context(watcher.Watcher(installed, found, bus))
        yield


def run(installed, state_dir, bus):
    """Run the cases; return {case: results.Result}. Their output goes to the file `output`.

    bus: as of `before_cloud`
    """
    directory = installed.directory.absolute()
    found = settings.of(state_dir, directory)
    path = pathlib.Path(found['results'])
    path.unlink(missing_ok=True)
    with _prepared(installed, found, bus), open(directory / 'output', 'w') as output:
        subprocess.run(
            installed.command(),
            cwd=directory,
            env={
                **os.environ,
                'NOVA_LITE_SOFTWARE': str(settings.write(found)),
                'PYTHONWARNINGS': 'ignore',
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
        )
    lines = path.read_text().splitlines() if path.exists() else ()
    return {each['test']: _result(each) for each in map(json.loads, lines)}


def _result(line):
    reason = ' '.join(line['reason'].split())
    return results.Result(line['outcome'], reason[: results.MESSAGE])
