"""Reports of several servers that wait for the conductor together."""

import functools

import testtools

from nova_lite import exception
from nova_lite.rpc.methods import conductor as conductor_rpc
from tests.fixtures import cell
from tests.fixtures import combining


class TestJoinedReports(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell())
        self.reports = self.cell.compute.site.reports

    def start_together(self, *servers):
        calls = [
            functools.partial(
                self.reports.build_started,
                ctxt,
                host='host-1',
                instance_uuid=uuid,
                node='host-1',
                group=None,
            )
            for ctxt, uuid in servers
        ]
        return combining.together(self.reports._combiners['build_started'], calls)

    def test_one_message(self):
        servers = [self.cell.accept() for _ in range(3)]
        self.assertEqual(['first'] * 3, self.start_together(*servers))
        self.assertEqual(['reports'], self.cell.lossy.calls)

    def test_a_refused_report_is_that_of_its_server(self):
        servers = [self.cell.accept(), self.cell.accept(('host-2',)), self.cell.accept()]
        first, second, third = self.start_together(*servers)
        self.assertEqual(('first', 'first'), (first, third))
        self.assertIsInstance(second, exception.StateChanged)
        self.assertEqual(['reports'] + ['build_started'] * 3, self.cell.lossy.calls)

    def test_a_lost_reply(self):
        """Each server reports again."""
        servers = [self.cell.accept() for _ in range(2)]
        self.cell.lossy.lose('reports', after=True)
        for error in self.start_together(*servers):
            self.assertIsInstance(error, exception.Unavailable)
        self.assertEqual(['again'] * 2, self.start_together(*servers))

    def test_each_kind_has_a_method(self):
        for kind in conductor_rpc.TOGETHER:
            self.assertTrue(hasattr(self.reports, kind))
