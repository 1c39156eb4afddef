"""The source of a move between cells: a disk is uploaded while the move waits elsewhere."""

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import uploads
from tests.fixtures import cell as cell_fixture

SOURCE = 'host-1'


class CopyOutTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.image = self.cell.image
        self.ctxt = context.admin().for_saga(runtime.new_uuid(), 1)
        self.uuid = self.cell.boot()
        self.image_id = runtime.new_uuid()
        self.image.add_image(self.image_id)
        self.patch(uploads, 'POLL_S', 0.01)
        self.patch(uploads.replies, 'SHORT_S', 0.02)

    def copy_out(self, key='key'):
        return self.cell.answers.prep_snapshot_based_resize_at_source(
            self.ctxt,
            SOURCE,
            self.uuid,
            node=SOURCE,
            image_id=self.image_id,
            key=key,
        )

    def ended(self):
        """Ask again until it is done; how often the answer was that it is not."""
        for asked in range(1000):
            self.cell.compute.site.jobs.wake_due()
            if 'done' in self.copy_out():
                return asked
        raise AssertionError('it does not end')

    def slow(self):
        """Make uploads wait for `go`; `begun` is set once one does."""
        self.go, self.begun = runtime.Event(), runtime.Event()
        self.addCleanup(self.go.set)
        upload = self.image.upload

        def wait(*args):
            self.begun.set()
            runtime.wait(self.go)
            upload(*args)

        self.patch(self.image, 'upload', wait)

    def uploads(self):
        return self.image.calls.count('upload')

    def test_no_call_waits_for_its_end(self):
        self.slow()
        self.assertEqual({'pending': 0.01}, self.copy_out())
        runtime.wait(self.begun)
        self.assertEqual({'pending': 0.01}, self.copy_out())
        self.assertEqual(0, self.uploads())
        self.go.set()
        self.ended()
        self.assertEqual(1, self.uploads())
        self.assertEqual('active', self.image.images[self.image_id]['status'])

    def test_asked_for_again_when_it_is_done(self):
        """The reply was lost."""
        self.ended()
        self.ended()
        self.assertEqual(1, self.uploads())

    def test_failure_is_told_once(self):
        error = exception.Unavailable(service='image', reason='away')
        self.image.fail('upload', error, times=1)
        self.assertRaises(exception.Unavailable, self.ended)
        self.ended()
        self.assertEqual('active', self.image.images[self.image_id]['status'])

    def test_a_bug_is_no_success(self):
        self.image.fail('upload', ValueError('a bug'), times=1)
        self.assertRaises(exception.Unavailable, self.ended)
        self.ended()

    def test_an_image_that_is_gone(self):
        self.image.delete(self.ctxt, self.image_id)
        self.assertRaises(exception.ImageNotFound, self.ended)

    def test_half_of_it_is_still_there(self):
        """A restart broke one off, which the image service has not noticed yet."""
        self.image.fail('upload', exception.Conflict(reason='saving'), times=3)
        self.ended()
        self.assertEqual(4, self.uploads())

    def test_it_goes_on_after_a_restart(self):
        self.slow()
        self.copy_out()
        runtime.wait(self.begun)
        self.cell.kill()
        self.assertIn('pending', self.copy_out())
        self.go.set()
        self.ended()
        self.assertEqual('active', self.image.images[self.image_id]['status'])

    def test_results_that_nobody_wants_are_forgotten(self):
        cold = self.cell.compute.parts[0]
        kept = cold._uploads
        self.image.fail('upload', exception.Conflict(reason='refused'))
        self.patch(uploads, 'TIMEOUT_S', 0.0)
        self.slow()
        self.copy_out()
        upload = kept._uploads[self.image_id]
        self.go.set()
        runtime.wait(upload.done)
        self.patch(uploads, 'FORGOTTEN_S', -1.0)
        other = runtime.new_uuid()
        self.image.add_image(other)
        self.image.faults.clear()
        self.image_id = other
        self.ended()
        self.assertEqual({}, kept._uploads)
