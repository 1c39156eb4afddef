"""The fence: an older epoch of a saga changes nothing."""

from nova_lite import exception
from nova_lite.db.cell import epochs
from tests.unit.conductor import base

SAGA = '88888888-8888-4888-8888-888888888888'


class TestFence(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        _ctxt, self.uuid = self.server(vm_state='active', task_state=None)

    def call(self, epoch, saga=SAGA, power_state=1):
        self.write(self.context().for_saga(saga, epoch), power_state)

    def write(self, ctxt, power_state=1):
        self.conductor.action_finished(
            ctxt,
            'host-1',
            self.uuid,
            'event',
            changes={'power_state': power_state},
            expect_task=[None],
        )

    def test_same_and_newer_pass(self):
        for epoch in (3, 3, 4, 9):
            self.call(epoch)

    def test_older_is_refused(self):
        self.call(4, power_state=3)
        error = self.assertRaises(exception.StaleEpoch, self.call, 3, power_state=4)
        self.assertEqual({'saga': SAGA, 'seen': 4, 'epoch': 3}, error.kwargs)
        self.assertEqual(3, self.cell.row(self.uuid).power_state)

    def test_refused_call_raises_nothing_else(self):
        self.call(4)
        self.assertRaises(exception.StaleEpoch, self.call, 3)
        self.call(4)

    def test_failed_call_does_not_count(self):
        ctxt = self.context().for_saga(SAGA, 9)
        self.assertRaises(
            exception.InstanceNotFound,
            self.conductor.action_started,
            ctxt,
            'host-1',
            '77777777-7777-4777-8777-777777777777',
            'event',
            task_state=None,
            expect_task=[None],
        )
        self.call(8)

    def test_sagas_are_apart(self):
        self.call(4)
        self.call(1, saga=SAGA.replace('8', '9'))

    def test_calls_of_no_saga_pass(self):
        self.call(4)
        self.write(self.context())

    def test_forgotten_when_old(self):
        self.call(4)
        now = self.clock.runtime.now().replace(tzinfo=None)
        self.cell.db.write(epochs.forget, now)
        self.assertRaises(exception.StaleEpoch, self.call, 3)
        self.clock.advance(1)
        now = self.clock.runtime.now().replace(tzinfo=None)
        self.cell.db.write(epochs.forget, now)
        self.call(3)
