"""Requests that end an upload while it waits for an image service that does not answer."""

import testscenarios

from nova_lite import exception
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from tests.unit.compute import test_resume

AWAY = exception.Unavailable(service='image', reason='test')
REQUESTS = 'get', 'update', 'upload', 'delete', 'list'
SCENARIOS = [
    (f'{name}, {during}', {'name': name, 'method': method, 'during': during})
    for name in ('reset', 'delete', 'hard_reboot')
    for method, during in (('get', 'before the copy'), ('upload', 'the upload'))
]


class UploadOutageTest(testscenarios.WithScenarios, test_resume.Base):
    """name: of the method that sends the request; method: of the first call without an answer"""

    scenarios = SCENARIOS

    def setUp(self):
        super().setUp()
        self.uuid = self.cell.boot()
        self.cell.image.add_image('new', status='queued', instance_uuid=self.uuid)
        self.ctxt = self.cell.ask(self.uuid, 'createImage', 'image_snapshot_pending')
        self.cell.image.fail(self.method, AWAY)
        server = self.cell.instance(self.uuid)
        self.cell.compute.snapshot_instance(self.ctxt, 'host-1', server, 'new')

    def reset(self):
        self.cell.db.write(instances.force, self.uuid, {'task_state': None})
        self.cell.db.write(actions.end_open, self.uuid, self.ctxt.request_id)

    def delete(self):
        ctxt = self.cell.ask(self.uuid, 'delete', 'deleting')
        server = self.cell.instance(self.uuid)
        self.cell.compute.delete_instance(ctxt, 'host-1', server)

    def hard_reboot(self):
        ctxt = self.cell.ask(self.uuid, 'reboot', 'rebooting_hard')
        self.cell.compute.reboot_instance(ctxt, 'host-1', self.cell.instance(self.uuid), 'HARD')

    def test_ends_after_the_outage(self):
        """No image is left, nothing is uploaded, and the guest is as the request wants it."""
        for each in REQUESTS:
            self.cell.image.fail(each, AWAY)
        getattr(self, self.name)()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        self.cell.image.faults.clear()
        self.cell.run_dry()
        self.assertNotIn('new', self.cell.image.images)
        self.assertNotIn('upload', self.cell.image.calls[-1:])
        row = self.cell.row(self.uuid)
        self.assertEqual((self.name == 'delete', None), (row.deleted, row.task_state))
        guests = {guest.uuid for guest in self.cell.driver.list_guests('host-1')}
        self.assertEqual(self.name != 'delete', self.uuid in guests)

    def test_ends_in_a_long_outage(self):
        """The repeated requests give up. An audit or the work itself deletes the image later."""
        for each in REQUESTS:
            self.cell.image.fail(each, AWAY, times=30)
        getattr(self, self.name)()
        self.cell.run_dry()
        if self.name == 'delete':
            self.cell.image.faults.clear()
            self.cell.compute._resume.run(0)
            self.cell.run_dry()
        self.assertNotIn('new', self.cell.image.images)
        self.assertEqual(self.name == 'delete', self.cell.row(self.uuid).deleted)
