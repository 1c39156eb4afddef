"""The programs that the suites start: those of this environment, imported already.

An `openstack` that starts as an interpreter takes seconds of CPU, and the suites start
thousands. They have the same versions as the tests: `runs` compares.
"""

import os
import pathlib
import sys

import fixtures

from tests.fixtures import forking
from tests.fixtures import warm_programs

NAMES = ('nova', 'openstack')


class Programs(fixtures.Fixture):
    """variables: by which a suite finds the programs. clouds: path of clouds.yaml."""

    def __init__(self, clouds):
        super().__init__()
        self._clouds = str(clouds)

    def _setUp(self):
        source = pathlib.Path(sys.executable).parent
        # Where openstacksdk looks else was settled when it was imported.
        variables = {'OS_CLIENT_CONFIG_FILE': self._clouds}
        warm = self.useFixture(
            warm_programs.WarmPrograms(source, NAMES, forking.CLIENTS, variables=variables)
        )
        self.variables = {
            'PATH': os.pathsep.join((str(warm.directory), os.environ['PATH'])),
            # Where novaclient's tests look for bin/nova.
            'TOX_ENV_DIR': str(warm.directory.parent),
        }
