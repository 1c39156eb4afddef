"""Many histories: those whose clouds are configured alike have their start in common."""

import contextlib
import functools
import importlib
import json
import os
import shutil
import tempfile

from nova_lite.api import application as api
from tests.sim import command
from tests.sim import history
from tests.sim import kernel
from tests.sim import rehearsal
from tests.sim.workload import themes
from tests.sim.world import beginning
from tests.sim.world import directories
from tests.sim.world import places
from tests.sim.world import stage

# Kinds of servers: (module of the fixture, its class, module of the backend).
SERVERS = {
    'mariadb': ('tests.fixtures.mariadb', 'MariaDB', 'tests.sim.world.mariadb'),
    'postgresql': ('tests.fixtures.postgresql', 'PostgreSQL', 'tests.sim.world.postgresql'),
}


@contextlib.contextmanager
def prepared(_seeds, args):
    """The body of histories. args: see command.parser"""
    # Imports the operations: once for all starts of histories.
    api.router()
    root = directories.new()
    try:
        with server(root, args.database) as backend:
            body = functools.partial(_live, root=root, backend=backend, args=args)
            first = functools.partial(_rehearse, root)
            made = kernel.Zygotes(_start_of, body, first=first)
            try:
                yield made
            finally:
                made.close()
    finally:
        shutil.rmtree(root)


@contextlib.contextmanager
def server(root, kind):
    """The backend of a server of a kind, which runs meanwhile; None for files."""
    if kind not in SERVERS:
        yield None
        return
    fixture, name, backend = SERVERS[kind]
    # The server may run as another user.
    os.chmod(root, 0o711)
    before, tempfile.tempdir = tempfile.tempdir, root
    try:
        with getattr(importlib.import_module(fixture), name)() as started:
            yield importlib.import_module(backend).Backend.of(started)
    finally:
        tempfile.tempdir = before


def _start_of(seed):
    """The size of the cloud and the options of its daemons, as something that has a hash."""
    plan = themes.drawn(seed)
    return plan.size, json.dumps(plan.options, sort_keys=True), plan.events


def _rehearse(root, branch):
    """Live through what is done but once, and in child processes through the starts."""
    path = os.path.join(root, 'rehearsal')
    places.enter(path)
    rehearsal.rehearse()
    os.chdir(root)
    shutil.rmtree(path)
    live = branch()
    live()


def _live(start, number, branch, *, root, backend, args):
    """Live through the start of histories, and in their processes through these."""
    doubled = args.placement == command.DOUBLE
    size, options, events = start
    places.enter(os.path.join(root, f'start-{number}'))
    world = stage.Stage(backend, f'start{number}_')
    begun = beginning.Beginning(size, json.loads(options), world, events=events, doubled=doubled)
    world.branch(branch, lambda seed: os.path.join(root, str(seed)))
    path = os.getcwd()
    plan = themes.drawn(kernel.current().seed)
    plan.rest_s = args.rest * 60
    history.History(begun, plan).run()
    if backend is not None:
        world.databases.drop()
    os.chdir(root)
    shutil.rmtree(path)
