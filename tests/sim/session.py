"""Many histories of one cloud: its files are made once, and what is slow to import."""

import contextlib
import importlib
import os
import shutil
import sys

from tests.sim import history
from tests.sim import kernel
from tests.sim.world import places
from tests.sim.world import template

MODULES = 'modules'
# The template is a history of its own, the same for all.
SEED = 0
LIMIT_S = 3600


@contextlib.contextmanager
def prepared(plan=None):
    """The body of histories. plan: of each of them, None draws one"""
    root = places.directory()
    try:
        source = os.path.join(root, 'template')
        made = kernel.run(SEED, lambda: _make(source), limit_s=LIMIT_S)
        if not made.ok:
            raise RuntimeError(f'no cloud to begin with: {made.failure}')
        _import(os.path.join(source, MODULES))
        yield lambda: _live(root, source, plan)
    finally:
        shutil.rmtree(root)


def _make(path):
    _enter(path)
    template.make()
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


def _live(root, source, plan):
    _enter(os.path.join(root, str(kernel.current().seed)))
    history.History(source, plan).run()
