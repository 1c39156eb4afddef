"""Uploads of disks to the image service, which moves poll.

The time of an upload depends on the size of the disk, so no call waits for its end. Uploads are
kept only in memory: after a restart the next call begins the upload again, as soon as the image
service has dropped the interrupted one.
"""

import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import guest_work
from nova_lite.compute import replies
from nova_lite.compute import site

LOG = log.getLogger(__name__)

POLL_S = 1.0
# Seconds that an upload may wait until the image service drops an interrupted one.
TIMEOUT_S = 60.0
# Seconds that results are kept which no call requests, because the move was undone.
FORGOTTEN_S = 600.0


@dataclasses.dataclass
class _Upload:
    """One upload. done: set at its end; error: why it failed; ended_at: monotonic."""

    done: runtime.Event
    error: Exception | None = None
    ended_at: float | None = None


class Uploads:
    """The uploads of one compute process."""

    def __init__(self, site: site.Site) -> None:
        self._site = site
        self._lock = runtime.Lock()
        self._uploads: dict[str, _Upload] = {}

    def reply(
        self, ctxt: context.RequestContext, image_id: str, job_id: str, formats: dict[str, str]
    ) -> replies.Reply:
        """Return {'done': True} once the snapshot of a job is the image, else {'pending': seconds}.

        formats: those of the disk, for the image. Raises the error of a failed upload, once.
        """
        upload = self._of(ctxt, image_id, job_id, formats)
        if not runtime.wait(upload.done, replies.SHORT_S):
            return {'pending': POLL_S}
        with self._lock:
            self._uploads.pop(image_id, None)
        if upload.error is not None:
            raise upload.error
        return {'done': True}

    def _of(
        self, ctxt: context.RequestContext, image_id: str, job_id: str, formats: dict[str, str]
    ) -> _Upload:
        """Return the upload to an image. Begin it if there is none."""
        long_ago = runtime.monotonic() - FORGOTTEN_S
        with self._lock:
            for known, former in list(self._uploads.items()):
                if former.ended_at is not None and former.ended_at < long_ago:
                    del self._uploads[known]
            if image_id in self._uploads:
                return self._uploads[image_id]
            upload = self._uploads[image_id] = _Upload(runtime.Event())
        work = self._run(upload, self._upload(ctxt, image_id, job_id, formats))
        self._site.jobs.run(('upload', image_id), work, here=False)
        return upload

    def _run(self, upload: _Upload, work: guest_work.Work[None]) -> guest_work.Work[None]:
        """Do the work and record its error in `upload`. Itself work for `guest_work`."""
        upload.error = exception.Unavailable(service='Upload', reason='it was interrupted')
        try:
            yield from work
        except exception.NovaLiteError as error:
            upload.error = error
        else:
            upload.error = None
        finally:
            upload.ended_at = runtime.monotonic()
            upload.done.set()

    def _upload(
        self, ctxt: context.RequestContext, image_id: str, job_id: str, formats: dict[str, str]
    ) -> guest_work.Work[None]:
        image, driver = self._site.image, self._site.driver
        deadline = runtime.monotonic() + TIMEOUT_S
        while image.get(ctxt, image_id)['status'] != 'active':
            try:
                image.update(ctxt, image_id, values=formats)
                image.upload(ctxt, image_id, driver.read_snapshot(job_id))
            except exception.Conflict as error:
                if runtime.monotonic() > deadline:
                    raise
                LOG.warning('Image %s is not ready for its contents: %s', image_id, error)
                yield guest_work.Pause(POLL_S)
            else:
                return
