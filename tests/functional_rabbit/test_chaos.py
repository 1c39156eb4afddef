"""A minute of the chaos test; `tox -e chaos` runs ten. The commit says which seed."""

import os

import fixtures
import testtools
from testtools import content

from tests.chaos import run as run_module
from tests.fixtures import mariadb
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import sample

SECONDS = 60


class ChaosTest(testtools.TestCase):
    def test_nothing_is_lost_doubled_or_stuck(self):
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        cloud = self.useFixture(run_module.cloud(mariadb.MariaDB()))
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'requests.jsonl')
        run = run_module.Run(cloud, seed=sample.number(), path=path)
        found = run.run(SECONDS)
        self.addDetail('summary', content.text_content('\n'.join(run.summary())))
        self.addDetail('requests.jsonl', content.content_from_file(path, buffer_now=True))
        self.assertEqual([], [str(each) for each in found], sample.replay())
        self.assertTrue(run.lister.rounds)
        self.assertTrue(run.nemesis.done)
