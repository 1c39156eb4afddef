"""Many histories of one cloud: its files are made once, and what is slow to import."""

import contextlib
import functools
import importlib
import os
import shutil
import sys

from tests.sim import history
from tests.sim import kernel
from tests.sim.workload import themes
from tests.sim.world import places
from tests.sim.world import template

MODULES = 'modules'
# The template is a history of its own, the same for all.
SEED = 0
LIMIT_S = 3600


@contextlib.contextmanager
def prepared(seeds):
    """The body of the histories of these seeds."""
    root = places.directory()
    try:
        for size in dict.fromkeys(themes.size_of(seed) for seed in seeds):
            source = os.path.join(root, size.name)
            made = kernel.run(SEED, functools.partial(_make, source, size), limit_s=LIMIT_S)
            if not made.ok:
                raise RuntimeError(f'no cloud to begin with: {made.failure}')
            _import(os.path.join(source, MODULES))
        yield lambda: _live(root)
    finally:
        shutil.rmtree(root)


def _make(path, size):
    _enter(path)
    template.make(size)
    with open(MODULES, 'w') as file:
        file.write('\n'.join(sorted(sys.modules)))


def _enter(path):
    # A history may be lived through again.
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    os.chdir(path)


def _import(path):
    """Import what histories import, so that each has it already."""
    with open(path) as file:
        for name in file.read().split():
            if name not in sys.modules and name != '__main__':
                importlib.import_module(name)


def _live(root):
    seed = kernel.current().seed
    _enter(os.path.join(root, str(seed)))
    history.History(os.path.join(root, themes.size_of(seed).name)).run()
    os.chdir(root)
    shutil.rmtree(os.path.join(root, str(seed)))
