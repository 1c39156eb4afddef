"""Begin a move, and die before one of its steps: python leave.py DATABASE SCENARIO STEP [FAILED]

It is run by the code of a former commit, so it uses only what that has too. With FAILED, a later
step, that one fails, and the process dies before STEP is undone. Both are as that
commit calls them. DATABASE is the URL of a server, or - for files. What is left is printed as JSON;
of a move that ends without STEP the exit code is NOT_REACHED.
"""

import dataclasses
import json
import os
import sys

from nova_lite import exception
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import scenarios

# The exit code when the move ended without that step.
NOT_REACHED = 3
FILES = '-'
OPTIONS = {
    'DEFAULT': {'shelved_offload_time': -1},
    'api': {'device_timeout': 0},
    # The next owner need not wait long.
    'conductor': {'lease_s': 3, 'sweep_interval_s': 0.5},
}
WITHIN = {'cells': 1, 'hosts': 4, 'options': OPTIONS}
ACROSS = {
    'cells': 2,
    'hosts': 2,
    'options': {
        **OPTIONS,
        'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0},
    },
}


def main(database, name, step, failed=None):
    """Does not return."""
    if name not in scenarios.SCENARIOS:
        # The former commit has no saga of this kind.
        os._exit(NOT_REACHED)
    settings = ACROSS if name.startswith('cross-cell') else WITHIN
    made = cloud_fixture.Cloud(**settings)
    made.settings['database'] = None if database == FILES else database
    made.setUp()
    scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
    stage = live_moving.LiveMoving(made)
    server = scenario.boot(stage)
    scenario.prepare(stage, server)
    stage.wait_idle(server)
    place = made.cloud.places.settings
    left = {'state_dir': place.state_dir, 'port': place.port}
    left['settings'] = {**settings, 'database': place.database}
    left['server'] = server.id

    def leave():
        print(json.dumps(left), flush=True)
        os._exit(0)

    engine = made.cloud.daemons['super-conductor'].manager.engine
    engine.make_saga = _ending(engine.make_saga, kind, step, failed=failed, leave=leave)
    scenario.ask(stage, server)
    try:
        made.wait_for(lambda: False, f'the process to die before "{step}"')
    except AssertionError:
        stage.wait_idle(server)
        os._exit(NOT_REACHED)


def _id(step):
    return step.id if hasattr(step, 'id') else step.name


def _ending(make_saga, kind, name, *, failed, leave):
    """`make_saga`, whose sagas of the kind end the process."""

    def fail():
        raise exception.Conflict(reason='a test says so')

    def changed(step):
        if _id(step) == name and failed is None:
            return dataclasses.replace(step, do=leave)
        if _id(step) == name:
            return dataclasses.replace(step, undo=leave, **({'do': fail} if failed == name else {}))
        if _id(step) == failed:
            return dataclasses.replace(step, do=fail, attempts=1)
        return step

    def make(record):
        saga = make_saga(record)
        if record.kind == kind:
            plan = saga.steps
            saga.steps = lambda: tuple(map(changed, plan()))
        return saga

    return make


if __name__ == '__main__':
    main(*sys.argv[1:])
