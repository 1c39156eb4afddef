"""Backups on a host: the older ones are deleted after the new one has its contents."""

import testscenarios

from nova_lite import exception
from nova_lite.clients import backups
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from tests.unit.compute import test_resume

EVENT = 'compute_backup_instance'
AWAY = exception.Unavailable(service='image', reason='test')
PROTECTED = exception.NeighbourForbids(service='image', reason='it is protected')


class Base(test_resume.Base):
    """`old` and `older` are backups of a server; `new` is requested, and still empty."""

    rotation = 1

    def setUp(self):
        super().setUp()
        self.uuid = self.cell.boot()
        for name in ('older', 'old', 'new'):
            self.add(name)
        self.add('weekly', backup_type='weekly')
        self.add('foreign', owner='another')
        self.cell.image.images['new']['status'] = 'queued'
        self.ask()

    def ask(self):
        self.ctxt = self.cell.ask(self.uuid, 'createBackup', 'image_backup')
        order = backups.Order('new', self.ctxt.request_id, 'daily', self.rotation)
        self.cell.db.write(instances.force, self.uuid, {'system_metadata': order.note()})

    def add(self, name, **values):
        kind = {'image_type': 'backup', 'backup_type': 'daily', 'instance_uuid': self.uuid}
        self.cell.image.add_image(name, **{'status': 'active', **kind, **values})

    def send(self):
        server = self.cell.instance(self.uuid)
        self.cell.compute.snapshot_instance(self.ctxt, 'host-1', server, 'new')

    def backups(self):
        """The names of the images, but of those that are always there."""
        return [each for each in self.cell.image.images if each not in ('weekly', 'foreign')]

    def remark(self):
        row = self.cell.db.read(actions.get, self.uuid, self.ctxt.request_id)
        (event,) = self.cell.db.read(actions.events_of, [row.id])[row.id]
        self.assertEqual((EVENT, 'Success'), (event.event, event.result))
        self.assertEqual(row.message, event.details)
        return row.message

    def check_done(self, *left):
        self.cell.run_dry()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual(list(left), self.backups())
        self.assertIsNone(self.cell.fault(self.uuid))


class TestBackups(Base):
    def test_the_oldest_go(self):
        self.send()
        self.check_done('new')
        self.assertIsNone(self.remark())

    def test_nothing_is_deleted_before(self):
        """The image service sees the deletions after the upload."""
        self.send()
        calls = self.cell.image.calls
        self.assertLess(calls.index('upload'), calls.index('delete'))

    def test_a_message_that_is_lost(self):
        self.cell.compute._resume.run(0)
        self.check_done('new')

    def test_a_protected_one_stays(self):
        self.cell.image.fail('delete', PROTECTED, times=1)
        self.send()
        self.check_done('old', 'new')
        self.assertIn('Backup old was not deleted', self.remark())

    def test_the_new_one_is_deleted_by_its_owner(self):
        del self.cell.image.images['new']
        self.send()
        self.check_done('old')
        self.assertIn('Image new was deleted', self.remark())

    def test_an_empty_one_replaces_none(self):
        self.add('newer', status='queued')
        self.send()
        self.check_done('new', 'newer')

    def test_image_service_is_away_for_a_while(self):
        """The image was accepted, so an outage that ends does not undo it."""
        for method in ('get', 'update', 'upload'):
            for after in (False, True):
                self.add('new', status='queued')
                self.ask()
                self.cell.image.fail(method, AWAY, times=3, after=after)
                self.send()
                self.cell.run_dry()
                self.assertIsNone(self.remark(), method)
                self.assertEqual('active', self.cell.image.images['new']['status'])

    def test_image_service_is_away_afterwards(self):
        for method in ('list', 'delete'):
            self.cell.image.fail(method, AWAY)
            self.send()
            self.cell.run_dry()
            self.assertIn('Older backups were not deleted', self.remark())
            self.assertEqual(['older', 'old', 'new'], self.backups())
            self.cell.image.faults.clear()
            self.ask()

    def test_image_service_is_away_for_a_moment(self):
        self.cell.image.fail('delete', AWAY, times=1, after=True)
        self.send()
        self.check_done('new')
        self.assertIsNone(self.remark())

    def test_note_of_another_request(self):
        """A release that notes nothing has accepted this one."""
        self.ctxt = self.cell.ask(self.uuid, 'createImage', 'image_snapshot_pending')
        self.send()
        self.check_done('older', 'old', 'new')


class TestNoRotation(Base):
    rotation = 0

    def test_all_go(self):
        self.send()
        self.check_done()


class TestFailed(testscenarios.WithScenarios, Base):
    """The old backups stay when there is no new one."""

    scenarios = [
        (method, {'where': where, 'method': method})
        for where, method in (
            ('image', 'get'),
            ('driver', 'snapshot'),
            ('image', 'update'),
            ('image', 'upload'),
        )
    ]

    def test_old_ones_stay(self):
        def refuse(*args, **kwargs):
            raise exception.NeighbourError('refused')

        setattr(getattr(self.cell, self.where), self.method, refuse)
        self.send()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertEqual(['older', 'old'], self.backups())
        self.assertIn('refused', self.cell.fault(self.uuid))


class TestKilled(testscenarios.WithScenarios, Base):
    """The next process continues: the new one is complete, and the older ones are gone."""

    scenarios = testscenarios.multiply_scenarios(
        [
            ('begin', {'at': ('conductor', 'action_started')}),
            ('read', {'at': ('image', 'get')}),
            ('copy', {'at': ('driver', 'snapshot')}),
            ('format', {'at': ('image', 'update')}),
            ('upload', {'at': ('image', 'upload')}),
            ('list', {'at': ('image', 'list')}),
            ('delete', {'at': ('image', 'delete')}),
            ('end', {'at': ('conductor', 'action_finished')}),
        ],
        [('before', {'after': False}), ('after', {'after': True})],
    )

    def test_goes_on(self):
        self.die_at(*self.at, after=self.after)
        self.assertRaises(test_resume.Killed, self.send)
        self.restart()
        self.check_done('new')
        self.assertIsNone(self.remark())
