"""Epochs of sagas that several processes see first at the same time."""

import testtools

from nova_lite import runtime
from nova_lite.db.cell import epochs
from tests.fixtures import database

SAGAS, AT_ONCE = 20, 4


class TestFirst(testtools.TestCase):
    def test_all_of_those_at_once_pass(self):
        cell = self.useFixture(database.CellDatabase()).database
        with runtime.executor(AT_ONCE) as pool:
            for _saga in range(SAGAS):
                saga = runtime.new_uuid()
                held = [pool.submit(cell.write, epochs.hold, saga, 1) for _ in range(AT_ONCE)]
                self.assertEqual([None] * AT_ONCE, [each.result() for each in held])
                self.assertEqual({saga: 1}, cell.read(epochs.seen, [saga]))
