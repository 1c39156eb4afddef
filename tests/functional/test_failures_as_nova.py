"""Each row of the table of failures that nova leaves: how it ends in both modes.

At the end of each test nothing is found in the cloud but what the row explains.
"""

import testtools

from nova_lite.states import nova_failures
from tests.functional import moves_base
from tests.sim.cases import loading

load_tests = loading.load_tests

AS_NOVA = {nova_failures.METADATA_KEY: 'nova'}


class FailuresAsNovaTest(moves_base.MovesTest):
    """Servers choose by their metadata how they fail."""

    settings = {'cells': 1, 'hosts': 3, 'options': {'conductor': {'failures': 'metadata'}}}

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cloud.behave, 'extends: instant\n')

    def row(self, name):
        """The row of the table."""
        return nova_failures.BY_NAME[name]

    def explained(self, server):
        """The lines of `verify` about a server that a failure explains."""
        return [each for each in self.cloud.explained() if server.id in ' '.join(each)]

    def test_rebuild_on_lost_host(self):
        image = self.stage.image()
        for metadata, task, shown in (({}, None, 'cirros'), (AS_NOVA, 'rebuilding', 'other')):
            server = self.boot(metadata=metadata)
            with self.stage.forced_down(server.compute_host):
                self.stage.act(server, 'rebuild', {'imageRef': image})
                self.stage.wait_idle(server)
            found = self.cloud.wait(server, 'REBUILD' if task else 'ACTIVE', task=task)
            self.assertEqual(self.stage.image(shown), found.image.id)
            self.assertIsNone(found.fault)
            self.assertEqual(bool(task), bool(self.explained(server)))
        self.repair(server)
        self.assertEqual([], self.explained(server))

    def repair(self, server):
        """Do as the row says: reset the state and rebuild the server."""
        self.cloud.admin.compute.reset_server_state(server, 'active')
        self.stage.act(server, 'rebuild', {'imageRef': self.stage.image()})
        self.stage.wait_idle(server)
        self.cloud.wait(server)


class WholeTableTest(testtools.TestCase):
    def test_each_row_has_a_test(self):
        tests = {name for name in vars(FailuresAsNovaTest) if name.startswith('test_')}
        wanted = {f'test_{name.replace("-", "_")}' for name in nova_failures.BY_NAME}
        self.assertEqual(set(), wanted - tests)
