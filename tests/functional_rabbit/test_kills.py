"""A part of the kill tables; `tox -e crash` runs them whole.

Each kind of daemon dies by `kill -9` while moves between cells are held at points that
are spread over all their steps, and during builds, deletions and power actions.
"""

import testtools

from tests.crash import actions
from tests.crash import cases
from tests.crash import cloud as cloud_module
from tests.crash import killing
from tests.fixtures import mariadb
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import sample

# Of each daemon's cases: those of a resize, and those of what follows one.
AT_ONCE = 6


def batches():
    """Batches: one of resizes and one of what follows for each role, spread over all.

    Each commit takes others.
    """
    for number, role in enumerate(cases.ROLES):
        wanted = cases.every(cases.CROSS_CELL, roles=(role,))
        for begins in (cases.ACTIVE, cases.MOVED):
            found = [case for case in wanted if case.move.begins == begins]
            stride = len(found) // AT_ONCE
            yield found[(number + sample.number()) % stride :: stride][:AT_ONCE]


def batches_of_actions():
    """A batch of builds, deletions and power actions, and one of acceptances."""
    for role in (cases.CALLED, cases.API):
        found = cases.every(cases.ACTIONS, roles=(role,))
        stride = max(1, len(found) // AT_ONCE) | 1
        yield found[sample.number() % stride :: stride][:AT_ONCE]


class KillsTest(testtools.TestCase):
    def test_moves_between_cells(self):
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        cloud = self.useFixture(cloud_module.of_table(cases.CROSS_CELL, mariadb.MariaDB()))
        kills = killing.Killing(cloud, cases.CROSS_CELL)
        # How soon all is well again is for `tox -e crash`, beside which nothing runs.
        kills.bound_s = killing.PATIENCE_S
        lost = []
        for batch in batches():
            lost += [outcome for outcome in kills.run(batch) if not outcome.survived]
        # In the same cloud: to start one takes longer than these.
        acts = actions.ActionKilling(cloud)
        for batch in batches_of_actions():
            lost += [outcome for outcome in acts.run(batch) if not outcome.survived]
        self.assertEqual([], lost, sample.replay())
