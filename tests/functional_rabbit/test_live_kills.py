"""A part of the kill tables of live migrations; `tox -e crash` runs them whole.

Each daemon that has a part in one dies by `kill -9` while migrations stand in every
phase and others are aborted.
"""

import testtools

from nova_lite.conductor import live_migrate
from tests.crash import cases
from tests.crash import cloud as cloud_module
from tests.crash import hooks
from tests.crash import phases
from tests.fixtures import mariadb
from tests.fixtures import rabbit
from tests.fixtures import servers

ROLES = (cases.SUPER, cases.SOURCE_COMPUTE, cases.DEST_COMPUTE)
# Aborted ones that are held here keep their turn, so that another has to wait.
UNDONE = ((live_migrate.COPY, hooks.BEFORE), (live_migrate.PREPARE, hooks.AFTER))


def batch(role):
    """All phases, and aborts held at either host's part; who waits for its turn comes last."""
    aborts = [case for case in cases.every(cases.ABORT, roles=(role,)) if case[2:4] in UNDONE]
    return aborts + cases.every(cases.PHASES, roles=(role,))


class LiveKillsTest(testtools.TestCase):
    def test_in_every_phase_and_during_aborts(self):
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        leaving = len(batch(cases.SUPER)) - 1
        cloud = self.useFixture(
            cloud_module.of_table(
                cases.PHASES, mariadb.MariaDB(), options=cloud_module.leaving(leaving)
            )
        )
        kills = phases.PhaseKilling(cloud, cases.PHASES, leaving=leaving)
        lost = []
        for role in ROLES:
            lost += [outcome for outcome in kills.run(batch(role)) if not outcome.survived]
        self.assertEqual([], lost)
