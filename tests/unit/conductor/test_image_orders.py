"""Images without contents, of hosts and API processes that have ended, are deleted."""

import datetime

from nova_lite import exception
from nova_lite.clients import backups
from nova_lite.conductor import image_orders
from nova_lite.db.cell import instances
from tests.unit.conductor import base

AWAY = exception.Unavailable(service='image', reason='test')


class ImageOrdersTest(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        _ctxt, self.uuid = self.server(vm_state='active', task_state=None, build=None)
        self.image = self.cell.image
        self.search = image_orders.ImageOrders(self.cell.db.write, self.cell.db.read, self.image)
        self.order('new', former=('former', 'done'))
        for name, status in (('new', 'queued'), ('former', 'queued'), ('done', 'active')):
            self.image.add_image(name, status=status, instance_uuid=self.uuid)
        # Its owner has made it and copied the properties of an image of the server.
        self.image.add_image('another', status='queued', instance_uuid=self.uuid)

    def order(self, image_id, former=(), **columns):
        """Change the server as a request for an image does."""
        order = backups.Order(image_id, f'req-{image_id}', former=former)
        metadata = {'a': 'b', **order.note()}
        self.change(self.uuid, system_metadata=metadata, **columns)

    def run_later(self, seconds=image_orders.EVERY_S):
        """Return the ids of the images that are left by the search some time later."""
        self.clock.advance(seconds)
        self.search.run()
        return sorted(self.image.images)

    def test_empty_ones_are_deleted_once(self):
        changed_at = self.cell.row(self.uuid).updated_at
        self.assertEqual(['another', 'done'], self.run_later())
        row = self.cell.row(self.uuid)
        self.assertEqual(({'a': 'b'}, changed_at), (row.system_metadata, row.updated_at))
        calls = len(self.image.calls)
        self.run_later()
        self.assertEqual(calls, len(self.image.calls))

    def test_the_action_is_not_over(self):
        self.order('new', task_state='image_uploading')
        self.assertIn('new', self.run_later())

    def test_its_host_may_still_delete_it(self):
        self.assertIn('new', self.run_later(image_orders.IDLE_S - 1))

    def test_a_request_begins_meanwhile(self):
        listed = self.image.list

        def list_and_begin(*args, **filters):
            found = listed(*args, **filters)
            self.clock.advance(1)
            self.order('later', task_state='image_snapshot_pending')
            return found

        self.image.list = list_and_begin
        self.assertIn('new', self.run_later())
        self.assertIn(backups.KEY, self.cell.row(self.uuid).system_metadata)

    def test_the_image_service_does_not_answer(self):
        for method in ('list', 'delete'):
            self.image.fail(method, AWAY, times=1)
            self.assertIn('new', self.run_later())
        self.assertEqual(['another', 'done'], self.run_later())

    def test_one_is_being_uploaded(self):
        self.image.images['new']['status'] = 'saving'
        self.assertEqual(['another', 'done', 'new'], self.run_later())
        self.image.images['new']['status'] = 'queued'
        self.assertEqual(['another', 'done'], self.run_later())

    def test_protected_ones_stay(self):
        self.image.fail('delete', exception.Forbidden())
        self.assertIn('former', self.run_later())
        self.assertNotIn(backups.KEY, self.cell.row(self.uuid).system_metadata)

    def test_not_of_deleted_servers(self):
        self.cell.db.write(instances.mark_deleted, self.uuid)
        self.assertIn('new', self.run_later())

    def test_by_the_audit(self):
        self.clock.advance(datetime.timedelta(hours=1).total_seconds())
        self.conductor.audit()
        self.assertNotIn('new', self.image.images)
