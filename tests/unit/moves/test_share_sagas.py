"""Sagas that attach and detach shares: each step repeated and undone, and their failures."""

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.lifecycle import intents
from nova_lite.moves import shares as share_sagas
from nova_lite.states import transitions
from tests.fixtures import shares as doubles
from tests.unit.moves import test_device_sagas

SHARE = doubles.SHARE_ID
AWAY = exception.Unavailable(service='Manila', reason='gone')


class ShareSagasTest(test_device_sagas.DeviceSagasCase):
    def setUp(self):
        super().setUp()
        values = {'vm_state': states.VmState.STOPPED}
        self.cell.db.write(instances.force, self.server, values)
        self.manila = self.world.share

    def attach(self, uuid=None):
        columns = doubles.columns(**({'uuid': uuid} if uuid else {}))
        return self.begin(share_sagas.ATTACH, transitions.ATTACH_SHARE, share=columns)

    def detach(self):
        return self.begin(share_sagas.DETACH, transitions.DETACH_SHARE, detaches=SHARE)

    def begin(self, kind, guard, **ordered):
        order = intents.order(guard, guard.verb, **ordered)
        made_by = share_sagas.ShareAttachment
        return self.make(made_by, guard, order=order, kind=kind, share_id=SHARE)

    def attached(self):
        made = self.attach()
        self.do(made, made.steps())
        return self.share()

    def share(self):
        return self.cell.db.read(shares.find, self.server, SHARE)

    def state(self):
        row = self.share()
        return row and (row.status, row.granted, row.uuid in self.manila.granted)

    def failures(self):
        return [result for _event, _host, result in self.cell.events(self.server)]

    def test_steps_may_be_repeated(self):
        for saga_of, wanted in (
            (self.attach, ('inactive', True, True)),
            (self.detach, None),
        ):
            made = saga_of()
            self.do(made, made.steps(), times=2)
            self.assertEqual(wanted, self.state())
        self.assertEqual({}, self.manila.granted)

    def test_an_attachment_that_fails(self):
        for last in (1, 2):
            self.cell.db.write(shares.destroy, self.server)
            made = self.attach()
            steps = made.steps()[:last]
            self.do(made, steps)
            self.undo(made, steps)
            self.assertEqual(('error', False, False), self.state())
            self.assertNotIn(None, self.failures())

    def test_a_rule_that_becomes_active_later(self):
        made = self.attach()
        self.manila.pending = 1
        begin, grant, *rest = made.steps()
        self.do(made, [begin])
        self.assertIsInstance(grant.do(), saga.Pending)
        self.do(made, [grant, *rest])
        self.assertEqual('inactive', self.share().status)

    def test_a_rule_that_never_becomes_active(self):
        made = self.attach()
        self.manila.pending = 9
        begin, grant, _record = made.steps()
        self.do(made, [begin])
        self.assertIsInstance(grant.do(), saga.Pending)
        since = made.results[share_sagas.AWAITED].since
        # The wait counts from the first attempt, in another process too.
        self.assertIsInstance(grant.do(), saga.Pending)
        self.assertEqual(since, made.results[share_sagas.AWAITED].since)
        self.world.conf.set_override('share_apply_policy_timeout', 0, 'manila')
        error = self.assertRaises(exception.ShareNotUsable, grant.do)
        self.assertIn('did not become active within 0 s', error.message)
        self.undo(made, [begin, grant])
        self.assertEqual(('error', False, False), self.state())
        self.assertEqual({}, self.manila.granted)

    def test_a_server_that_is_deleted_meanwhile(self):
        made = self.attach()
        begin, grant, record = made.steps()
        self.do(made, [begin, grant])
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
        self.assertRaises(exception.InstanceNotFound, record.do)
        self.undo(made, [begin, grant])
        self.assertEqual({}, self.manila.granted)

    def test_a_detachment_that_fails_leaves_no_access(self):
        uuid = self.attached().uuid
        made = self.detach()
        begin, revoke, _forget = made.steps()
        self.do(made, [begin])
        self.manila.errors = [AWAY]
        self.assertRaises(exception.Unavailable, revoke.do)
        self.undo(made, [begin, revoke])
        # It may have revoked a part: hosts must not mount the share.
        self.assertEqual(('error', False, True), self.state())
        again = self.attach(uuid)
        self.do(again, again.steps())
        self.assertEqual(('inactive', True, True), self.state())
        self.assertEqual([uuid], list(self.manila.granted))

    def test_a_duty_leaves_a_later_attachment_alone(self):
        late = self.attach()
        begin, grant, _record = late.steps()
        self.do(late, [begin, grant])
        self.manila.errors = [AWAY]
        self.assertRaises(exception.Unavailable, grant.undo)
        self.undo(late, [begin])
        again = self.attach(self.share().uuid)
        self.do(again, again.steps())
        grant.clean.do()
        self.assertEqual(('inactive', True, True), self.state())
        made = self.detach()
        self.do(made, made.steps())
        grant.clean.do()
        self.assertEqual({}, self.manila.granted)
