"""Changes by outsiders, servers that are kept, and images, as the simulation judges them."""

import json
import types

import testtools

from tests.sim.oracle import excuses
from tests.sim.oracle import images
from tests.sim.oracle import waiting
from tests.sim.workload import caller
from tests.sim.workload import deletions
from tests.sim.workload import ledger
from tests.sim.workload import outside
from tests.sim.workload import owners

UUID = 'server'
DONE, FAILED = {'message': None}, {'message': 'Error'}


def asked(what, began, code=202, **more):
    return caller.Call(
        'client-0', what, 'POST', 'url', began, began + 1, f'req-{what}-{began}', code, **more
    )


def backup(began, rotation=1, code=202):
    body = {'createBackup': {'name': 'daily', 'backup_type': 'daily', 'rotation': rotation}}
    return asked('backup', began, code, body=body, answer={'image_id': f'image-{began}'})


class ChangesTestCase(testtools.TestCase):
    def change(self, code):
        done = outside.Outside()
        change = done.begin('delete port', 'port', None, began=5)
        change.call = asked('delete port', 5, code)
        return done

    def test_what_was_refused_was_not_done(self):
        for code, is_done, may_be in ((204, True, True), (0, False, True), (409, False, False)):
            done = self.change(code)
            self.assertEqual(is_done, 'port' in done.done('delete port'))
            self.assertEqual(may_be, done.may_have('port', 'delete port'))
            self.assertEqual(may_be, done.is_named('Port port could not be found', 5))

    def test_what_was_done_later_explains_nothing(self):
        self.assertFalse(self.change(204).is_named('Port port could not be found', 4))
        self.assertTrue(self.change(204).met('delete port', 'port', 1, 5))
        self.assertFalse(self.change(204).met('delete port', 'port', 7, 9))

    def test_values_that_something_may_have_had(self):
        done = outside.Outside()
        for began, value, code in ((5, 1, 200), (8, 2, 200), (11, 3, 403)):
            change = done.begin(outside.CHANGE_QUOTA, 'project', value, began=began)
            change.call = asked(outside.CHANGE_QUOTA, began, code)
        for began, ended, expected in (
            (1, 2, [10]),
            (5, 6, [10, 1]),
            (7, 8, [1, 2]),
            (10, 12, [2]),
        ):
            self.assertEqual(expected, done.held(outside.CHANGE_QUOTA, 10, began, ended))


class WaitingTestCase(testtools.TestCase):
    def test_waits_that_a_restore_ends(self):
        before = {'kept': 'SOFT_DELETED', UUID: 'VERIFY_RESIZE'}
        self.assertEqual([], [*waiting.ended(before, before)])
        (found,) = waiting.ended(before, {'kept': 'SOFT_DELETED'})
        self.assertIn('server was VERIFY_RESIZE', found)


class DeletionsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.kept = deletions.Deletions(15)

    def test_a_deleted_server_is_kept(self):
        self.kept.answered(UUID, asked('delete', 1, 204), keeps=True)
        self.assertEqual([UUID], self.kept.kept())
        self.assertTrue(self.kept.must_be_kept(UUID, 15))
        self.assertFalse(self.kept.must_be_kept(UUID, 16))
        self.assertEqual([(UUID, False)], [*self.kept.states()])

    def test_a_restored_server_is_there(self):
        self.kept.answered(UUID, asked('delete', 1, 204), keeps=True)
        self.kept.answered(UUID, asked('restore', 3))
        self.assertEqual([(UUID, True)], [*self.kept.states()])
        self.assertFalse(self.kept.must_be_kept(UUID, 5))

    def test_requests_at_the_same_time_decide_nothing(self):
        self.kept.answered(UUID, asked('delete', 1, 204), keeps=True)
        self.kept.answered(UUID, asked('restore', 1.5))
        self.assertEqual([], [*self.kept.states()])

    def test_a_server_that_leaves_its_host_need_not_be_kept(self):
        for status, task, kept in (
            ('SHELVED', None, True),
            ('ACTIVE', 'powering-off', True),
            ('ACTIVE', 'shelving', False),
            ('SHELVED', 'shelving_offloading', False),
            ('SHELVED_OFFLOADED', None, False),
        ):
            server = {'status': status, 'OS-EXT-STS:task_state': task}
            self.assertIs(kept, deletions.is_kept(server))

    def test_a_deletion_interrupts_what_it_meets(self):
        self.kept.answered(UUID, asked('delete', 5, 204), keeps=True)
        self.kept.answered(UUID, asked('restore', 8))
        for began, ended, expected in ((3, 4, True), (1, 3, False), (6, 9, True), (7, 9, False)):
            self.assertIs(expected, self.kept.may_interrupt(UUID, began, ended))
        self.assertFalse(self.kept.may_interrupt('another', 3, 9))

    def test_force_ends_what_is_kept(self):
        self.kept.answered(UUID, asked('delete', 1, 204), keeps=True)
        self.kept.answered(UUID, asked('force delete', 3))
        self.assertEqual([(UUID, False)], [*self.kept.states()])
        self.assertEqual([], self.kept.kept())


class ImagesTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.ledger = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
        self.images, self.snapshots = [], []

    def found(self, *calls):
        """Return what is wrong. calls: (Call, whether it was done)"""
        lists = {'images': self.images, 'snapshots': self.snapshots}
        asking = types.SimpleNamespace(neighbour=lambda *_args, **_options: (200, lists))
        looking = images.Images(self.ledger, asking)
        looking.look()
        promised = {call.request_id: call for call, _done in calls}
        recorded = {call.request_id: DONE if done else FAILED for call, done in calls}
        found = looking.of_server({'id': UUID}, promised, recorded)
        return [*found, *looking.left()]

    def have(self, *ids, **values):
        for each in ids:
            image = {'id': each, 'status': 'active', 'name': 'daily', 'image_type': 'backup'}
            image |= {'backup_type': 'daily', 'instance_uuid': UUID, **values}
            self.images.append(image)

    def test_the_newest_backup_is_there_alone(self):
        self.have('image-5')
        self.assertEqual([], self.found((backup(1), True), (backup(5), True)))

    def test_the_last_good_backup_is_lost(self):
        found = self.found((backup(1), True), (backup(5), False))
        self.assertEqual(['lost image image-1 of server, of backup req-backup-1'], found)

    def test_an_old_backup_is_left(self):
        self.have('image-1', 'image-5')
        calls = (backup(1), True), (backup(5), True)
        self.assertEqual(
            ["server has old daily backups: ['image-1'], of which 1 are kept"], self.found(*calls)
        )
        self.assertEqual([], self.found((backup(1, 2), True), (backup(5, 2), True)))

    def test_an_owner_deleted_or_protected_it(self):
        self.ledger.outside.begin(owners.DELETE_IMAGE, 'image-5')
        self.ledger.outside.begin(owners.PROTECT, 'image-1')
        self.have('image-1')
        self.assertEqual([], self.found((backup(1), True), (backup(5), True)))

    def test_an_image_without_contents(self):
        self.have('image-1', status='queued')
        found = self.found((backup(1), True))
        self.assertEqual(['image image-1 of server has status queued, not active'], found)

    def test_snapshots_of_volumes(self):
        mapping = json.dumps([{'snapshot_id': 'named'}, {'snapshot_id': None}])
        self.have('image', block_device_mapping=mapping, backup_type=None)
        self.snapshots = [{'id': 'other', 'volume_id': 'volume'}]
        self.assertEqual(
            [
                'snapshot other of volume volume is of no image',
                'lost snapshot named, of which there is an image',
            ],
            self.found(),
        )
