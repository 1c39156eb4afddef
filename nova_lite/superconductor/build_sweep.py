"""The sweep of builds that were not finished in time, because their builder died or waited.

Batches are taken over one after the other, so that no batch waits under a lease while another
batch is built. A batch that waits long, for example for a scheduler that hangs, continues beside
the next batches. A batch that always fails does not hold up others, and is buried at the end.
"""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.lifecycle import requests
from nova_lite.runtime import workers
from nova_lite.saga import retries
from nova_lite.superconductor import build
from nova_lite.superconductor import world as worlds

LOG = log.getLogger(__name__)

# Batches of one sweep. The next sweep finds the other servers.
MOST = 20
# Batches that are built at the same time, and seconds that the next batch waits for one of them.
THREADS, WAIT_S = 4, 20


class BuildSweep:
    """The periodic search of the super-conductor. world: see `world.World`"""

    def __init__(self, world: worlds.World) -> None:
        self._world, self._lease_s = world, world.conf.conductor.build_lease_s
        self._threads, self._lock = workers.Executor(THREADS), runtime.Lock()
        self._running: list[runtime.Future[None]] = []

    def run(self, stopping: runtime.Event) -> None:
        """Continue builds that are due, until `stopping` (an event) is set."""
        with self._lock:
            self._run(stopping)

    def _run(self, stopping: runtime.Event) -> None:
        seen: list[str] = []
        while len(seen) < MOST and not stopping.is_set() and self._has_room():
            batches = self._world.api_db.write(
                build_requests.take_over, self._lease_s, limit=1, besides=seen
            )
            if not batches:
                return
            for reservation_id, found in batches.items():
                seen.append(reservation_id)
                build_one = self._threads.submit(self._take_up, reservation_id, found)
                self._running.append(build_one)
                runtime.wait_all([build_one], WAIT_S)

    def wait(self) -> None:
        """Wait for the builds in progress."""
        runtime.wait_all(self._running)

    def _has_room(self) -> bool:
        self._running = [each for each in self._running if not each.done()]
        return len(self._running) < THREADS

    def _take_up(self, reservation_id: str, found: Sequence[rows.Row]) -> None:
        ctxt = requests.context_of(found[0])
        with ctxt.bound():
            self._build(ctxt, reservation_id, found)

    def _build(
        self, ctxt: context.RequestContext, reservation_id: str, found: Sequence[rows.Row]
    ) -> None:
        epoch = found[0].epoch
        LOG.warning(
            'Build %s was not finished in time. Continuing it at epoch %s.', reservation_id, epoch
        )
        try:
            build.Build(self._world, ctxt, found).run()
        except exception.NovaLiteError as error:
            LOG.error('Build %s failed and is retried later: %s', reservation_id, error)
        except Exception as error:
            LOG.exception('Build %s failed unexpectedly at epoch %s', reservation_id, epoch)
            self._count(ctxt, reservation_id, found, error)

    def _count(
        self,
        ctxt: context.RequestContext,
        reservation_id: str,
        found: Sequence[rows.Row],
        error: Exception,
    ) -> None:
        """Count a failure of the unfinished servers of a batch.

        Bury those that failed too often.
        """
        epochs = {request.instance_uuid: request.epoch for request in found}
        try:
            failures = self._world.api_db.write(build_requests.count_failure, epochs)
            hopeless = [
                each
                for each in found
                if failures.get(each.instance_uuid, 0) >= retries.MOST_DEFECTS
            ]
            if hopeless:
                LOG.error(
                    'Giving up build %s after %s failures', reservation_id, retries.MOST_DEFECTS
                )
                build.Build(self._world, ctxt, hopeless).give_up(error)
        except Exception:
            LOG.exception(
                'Cannot record the failed build %s in cell0; retrying later', reservation_id
            )
