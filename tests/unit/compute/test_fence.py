"""The fence of a compute process, with a cell's conductor behind it."""

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import fence
from tests.fixtures import cell as cell_fixture


class FenceTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.saga = runtime.new_uuid()
        self.fence = fence.Fence(self.cell.lossy)

    def ctxt(self, epoch):
        return context.admin().for_saga(self.saga, epoch)

    def asked(self):
        return self.cell.lossy.calls.count('check_epoch')

    def test_asks_once_for_each_epoch(self):
        for epoch in (1, 1, 2, 2):
            self.fence.check(self.ctxt(epoch))
        self.assertEqual(2, self.asked())

    def test_refuses_what_it_knows_to_be_old(self):
        self.fence.check(self.ctxt(2))
        self.assertRaises(exception.StaleEpoch, self.fence.check, self.ctxt(1))
        self.assertEqual(1, self.asked())

    def test_refuses_what_the_cell_knows_to_be_old(self):
        self.fence.check(self.ctxt(2))
        restarted = fence.Fence(self.cell.lossy)
        self.assertRaises(exception.StaleEpoch, restarted.check, self.ctxt(1))
        restarted.check(self.ctxt(2))

    def test_calls_of_no_saga_pass(self):
        self.fence.check(context.admin())
        self.assertEqual(0, self.asked())

    def test_forgets_the_oldest(self):
        self.addCleanup(setattr, fence, 'SIZE', fence.SIZE)
        fence.SIZE = 2
        for _number in range(3):
            self.fence.check(context.admin().for_saga(runtime.new_uuid(), 1))
        self.assertEqual(2, len(self.fence._seen))
