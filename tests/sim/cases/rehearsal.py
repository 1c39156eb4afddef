"""First uses of code by a played test, done once before all tests.

SQLAlchemy compiles each statement once per process, and so do the libraries of clients and
services with what they parse. The process that rehearses is forked for all others.
"""

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import moving
from tests.fixtures import scenarios

# Servers rather leave their cell than stay; shelved ones stay on their hosts.
SETTINGS = {
    'cells': 2,
    'hosts': 2,
    'options': {
        'DEFAULT': {'shelved_offload_time': -1},
        'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0},
    },
}
# They have most steps in common with the others.
KINDS = ('attach-volume', 'unshelve', 'live-migration', 'cross-cell-confirm', 'cross-cell-revert')


def rehearse():
    """Live through some kinds of sagas in a cloud that is gone afterwards."""
    with cloud_fixture.Cloud(**SETTINGS) as cloud:
        stage = live_moving.LiveMoving(cloud)
        for name in KINDS:
            _play(stage, scenarios.SCENARIOS[name])
        cloud.findings()


def open_up(cloud):
    """Run the first actions of a cloud: log in, connect, build a server and delete it."""
    for connection in (cloud.admin, cloud.demo):
        connection.authorize()
    server = moving.Moving(cloud).boot_full()
    cloud.admin.compute.delete_server(server)
    cloud.wait_gone(server)
    cloud.findings()
    list(cloud.admin.compute.servers(all_projects=True, details=False))


def _play(stage, scenario):
    """Run a scenario on a server."""
    server = scenario.boot(stage)
    scenario.prepare(stage, server)
    stage.wait_idle(server)
    scenario.ask(stage, server)
    stage.cloud.wait(server, scenario.done)
    stage.wait_idle(server)
    scenario.recover(stage)
    stage.cloud.admin.compute.delete_server(server)
    stage.cloud.wait_gone(server)
