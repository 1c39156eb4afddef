"""Expected results of the clients' suites, and their versions."""

import pathlib
import re

import testtools

from tests.clients import expected
from tests.clients import suites

TOP = pathlib.Path(__file__).parents[3]
PINNED = re.compile(r'^([\w-]+)==([\w.]+)', re.MULTILINE)
TEXT = """
novaclient:
  version: 18.13.1
  tests: 202
  not_passing:
  - result: fail
    reason: The test counts the hosts of one cell.
    tests: [novaclient.tests.functional.Test.test_failed]
openstackclient:
  version: 10.5.0
  tests: 2
  not_passing: []
"""


class ClientsTest(testtools.TestCase):
    def test_load(self):
        found = expected.load(TEXT)
        self.assertEqual({'novaclient', 'openstackclient'}, set(found))
        self.assertEqual(('18.13.1', 202), (found['novaclient'].version, found['novaclient'].count))
        (failed,) = found['novaclient'].not_passing.values()
        self.assertEqual('fail', failed.outcome)

    def test_the_file_of_this_repository(self):
        found = expected.load((TOP / expected.PATH).read_text())
        self.assertEqual([suite.name for suite in suites.SUITES], list(found))

    def test_versions(self):
        found = expected.load((TOP / expected.PATH).read_text())
        pinned, installed = (
            dict(PINNED.findall((TOP / name).read_text()))
            for name in ('tools/requirements/clients.txt', 'constraints.txt')
        )
        for suite in suites.SUITES:
            versions = {found[suite.name].version, pinned[suite.distribution]}
            if suite.starts_clients:
                versions.add(installed[suite.distribution])
            self.assertEqual(1, len(versions), f'{suite.distribution}: {versions}')
