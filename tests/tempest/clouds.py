"""The cloud that Tempest tests: `nova-lite up` with what its tests ask for."""

import pathlib
import re
import shutil
import sys

import fixtures

from nova_lite import conf as conf_module
from tests.fixtures import ports
from tests.fixtures import processes
from tools import private_cloud

# Tests choose any other host for a live migration, and servers stay in their cell.
CELLS, HOSTS = 1, 3
MORE_FILTERS = ('SameHostFilter', 'DifferentHostFilter')
READY_S, STOP_S = 60, 30


def filters():
    """Return the filters that are enabled: those of the default and two for hints."""
    conf = conf_module.make_conf(files=[])
    return [*conf.filter_scheduler.enabled_filters, *MORE_FILTERS]


def _up(log, profile):
    enabled = ','.join(filters())
    return [
        *('--cells', str(CELLS)),
        *('--hosts', str(HOSTS)),
        *('--set', f'filter_scheduler.enabled_filters={enabled}'),
        *('--set', f'api.request_log={log}'),
        *(('--profile', str(profile)) if profile else ()),
    ]


class Embedded(fixtures.Fixture):
    """A cloud in one process, on files. state_dir: a directory that is emptied first.

    up: further arguments of `nova-lite up`; url: the compute API
    """

    def __init__(self, state_dir, up):
        super().__init__()
        self.state_dir, self.up = str(state_dir), up

    def _setUp(self):
        shutil.rmtree(self.state_dir, ignore_errors=True)
        pathlib.Path(self.state_dir).mkdir(parents=True)
        port = self.useFixture(ports.Port()).number
        self.daemon = self.useFixture(
            processes.Daemon(
                [sys.executable, '-m', 'nova_lite.cmd.main', 'up', '--state-dir', self.state_dir,
                 '--port', port, *self.up],
                name='nova-lite-up',
                directory=self.state_dir,
            )
        )  # fmt: skip
        self.daemon.start()
        self.addCleanup(self.daemon.stop, STOP_S)
        found = self.daemon.wait_for(
            lambda: re.search(private_cloud.READY, self.daemon.log_text()), READY_S, 'is ready'
        )
        self.url = found[2]


def make(state_dir, *, log, profile=None, servers=False):
    """Return a fixture of the cloud.

    log: path of the request log; profile: of the hosts, a file
    servers: over a private RabbitMQ and MariaDB
    """
    up = _up(log, profile)
    return private_cloud.Private(up) if servers else Embedded(state_dir, up)
