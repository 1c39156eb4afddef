"""Many histories: those whose clouds are configured alike have their start in common."""

import contextlib
import json
import os
import shutil

from tests.sim import history
from tests.sim import kernel
from tests.sim.workload import themes
from tests.sim.world import beginning
from tests.sim.world import places


@contextlib.contextmanager
def prepared(_seeds):
    """The body of histories."""
    root = places.directory()
    try:
        made = kernel.Zygotes(_start_of, lambda *args: _live(root, *args))
        try:
            yield made
        finally:
            made.close()
    finally:
        shutil.rmtree(root)


def _start_of(seed):
    """The size of the cloud and the options of its daemons, as something that has a hash."""
    plan = themes.drawn(seed)
    return plan.size, json.dumps(plan.options, sort_keys=True)


def _live(root, start, number, branch):
    """Live through the start of histories, and in their processes through these."""
    size, options = start
    places.enter(os.path.join(root, f'start-{number}'))
    begun = beginning.Beginning(size, json.loads(options))
    begun.world.branch(branch, lambda seed: os.path.join(root, str(seed)))
    path = os.getcwd()
    history.History(begun, themes.drawn(kernel.current().seed)).run()
    os.chdir(root)
    shutil.rmtree(path)
