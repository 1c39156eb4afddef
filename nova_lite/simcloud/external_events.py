"""External events that simcloud sends to the compute service, as Neutron and Cinder do.

The compute service shows a floating address or a larger volume on the server after such an
event. One thread sends them in batches. Events that cannot be delivered are logged and dropped.
"""

from collections.abc import Callable
from collections.abc import Iterable
import heapq
import itertools
import logging
import typing

import requests

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults

LOG = logging.getLogger(__name__)

# None for a scheme also disables the proxy that the environment names.
NO_PROXIES: dict[str, typing.Any] = {'http': None, 'https': None}
PATH = '/os-server-external-events'
VERSION = 'compute 2.93'
MISSING = 404
ATTEMPTS, PAUSE_S, TIMEOUT_S = 3, 1, 10
# The compute service answers the request for a swap only when it has accepted the swap.
SWAP_TIMEOUT_S, BAD = 90, 400
MOST_AT_ONCE = 100
# Maximum number of concurrent requests to the compute service: a quarter of its usual threads.
MOST_ASKED = 4


class Silent:
    """Sends no events, for a cloud without a compute service."""

    def send(
        self,
        name: str,
        concerned: Iterable[tuple[str, str]],
        *,
        status: str = 'completed',
        after_s: float = 0,
    ) -> None:
        """Drop the events."""

    def swap(
        self, server: str, volume_id: str, new_volume_id: str, refused: Callable[[], None]
    ) -> None:
        """Do nothing. The volume stays in migration until an administrator resets it."""

    def uses(self, server: str, volume_id: str, attachment_id: str) -> bool:
        """Return True: without a compute service, assume that the server uses the volume."""
        return True

    def close(self) -> None:
        """Do nothing."""


class Events:
    """Sends events to the compute service at `url`.

    identity: returns headers with a new token of a service user
    """

    def __init__(self, url: str, identity: Callable[[], dict[str, str]]) -> None:
        self._compute_url = url.rstrip('/')
        self._identity = identity
        # Events that are due, and a heap of (when, number, event) of those that are not.
        self._waiting: list[bodies.Json] = []
        self._later: list[tuple[float, int, bodies.Json]] = []
        # Threads that request swaps.
        self._swaps: list[runtime.Thread] = []
        self._numbers = itertools.count()
        self._changed = runtime.Condition()
        self._thread: runtime.Thread | None = None
        self._closed = False
        self._asking = runtime.Semaphore(MOST_ASKED)

    def send(
        self,
        name: str,
        concerned: Iterable[tuple[str, str]],
        *,
        status: str = 'completed',
        after_s: float = 0,
    ) -> None:
        """Queue one event for each (server uuid, tag) in `concerned`, due after `after_s` seconds.

        Events that are not yet due when this process ends are lost.
        """
        events = [
            {'name': name, 'server_uuid': server, 'tag': tag, 'status': status}
            for server, tag in concerned
        ]
        with self._changed:
            if not events or self._closed:
                return
            if after_s > 0:
                due = runtime.monotonic() + after_s
                for event in events:
                    heapq.heappush(self._later, (due, next(self._numbers), event))
            else:
                self._waiting += events
            if self._thread is None:
                # Started only now, so that a process that forks has a thread of its own.
                self._thread = runtime.spawn(self._run, name='simcloud-events')
            self._changed.notify()

    def swap(
        self, server: str, volume_id: str, new_volume_id: str, refused: Callable[[], None]
    ) -> None:
        """Ask the compute service to replace a volume of a server by another volume.

        refused: called if the compute service rejects the request
        """
        with self._changed:
            if not self._closed:
                # In a thread of its own: the answer comes late, and the server waits for events.
                asking = runtime.spawn(
                    self._swap, server, volume_id, new_volume_id, refused, name='simcloud-swap'
                )
                self._swaps = [each for each in self._swaps if each.is_alive()] + [asking]

    def uses(self, server: str, volume_id: str, attachment_id: str) -> bool:
        """Return whether a server uses a volume by this attachment; True if that is unknown.

        Raise Unavailable while MOST_ASKED other requests wait for the compute service. The compute
        service validates our token here before it answers, so a thread must be left for that.
        """
        if not self._asking.acquire(blocking=False):
            raise faults.Unavailable(
                'The compute service is asked too much.', headers={'Retry-After': '5'}
            )
        try:
            return self._uses(server, volume_id, attachment_id)
        finally:
            self._asking.release()

    def _uses(self, server: str, volume_id: str, attachment_id: str) -> bool:
        try:
            path = f'/servers/{server}/os-volume_attachments/{volume_id}'
            response = self._request('GET', path)
            if response.ok:
                found: bool = response.json()['volumeAttachment']['attachment_id'] == attachment_id
                return found
        except requests.RequestException as error:
            LOG.warning(
                'Cannot ask the compute service whether server %s uses volume %s: %s. '
                'Assuming that it does.',
                server,
                volume_id,
                error,
            )
            return True
        return response.status_code != MISSING

    def close(self) -> None:
        """Stop the threads when they have finished their current requests."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            threads = [*self._swaps, *([self._thread] if self._thread else [])]
        for thread in threads:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due() and not self._closed:
                    self._changed.wait(self._pause_s())
                if self._closed:
                    return
                batch = self._waiting[:MOST_AT_ONCE]
                del self._waiting[:MOST_AT_ONCE]
            self._deliver(batch)

    def _due(self) -> list[bodies.Json]:
        """Move the events that have become due to the queue. Return the queue."""
        while self._later and self._later[0][0] <= runtime.monotonic():
            self._waiting.append(heapq.heappop(self._later)[2])
        return self._waiting

    def _pause_s(self) -> float | None:
        return self._later[0][0] - runtime.monotonic() if self._later else None

    def _deliver(self, batch: list[bodies.Json]) -> None:
        self._answered('events', 'POST', PATH, {'events': batch})

    def _answered(
        self, what: str, method: str, path: str, body: bodies.Json, **options: typing.Any
    ) -> requests.Response | None:
        """Send a request. Repeat it a few times if the compute service fails.

        Return the response; None if the compute service did not answer or failed each time.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self._request(method, path, json=body, **options)
                if response.status_code < 500:
                    LOG.info('%s %s: %d', what, body, response.status_code)
                    return response
                reason = str(response.status_code)
            except requests.RequestException as error:
                reason = str(error)
            LOG.warning(
                'The compute service did not accept %s: %s. Attempt %d of %d.',
                what,
                reason,
                attempt,
                ATTEMPTS,
            )
            with self._changed:
                if self._closed or self._changed.wait_for(lambda: self._closed, PAUSE_S):
                    break
        return None

    def _swap(
        self, server: str, volume_id: str, new_volume_id: str, refused: Callable[[], None]
    ) -> None:
        """Request a swap until the compute service answers. A lost answer may have accepted it."""
        path = f'/servers/{server}/os-volume_attachments/{volume_id}'
        body = {'volumeAttachment': {'volumeId': new_volume_id}}
        answered = self._answered('swap', 'PUT', path, body, timeout_s=SWAP_TIMEOUT_S)
        if answered is None or answered.status_code >= BAD:
            refused()

    def _request(
        self, method: str, path: str, *, timeout_s: int = TIMEOUT_S, **body: typing.Any
    ) -> requests.Response:
        """Send a request to the compute service, without the proxies of the environment."""
        return requests.request(
            method,
            self._compute_url + path,
            headers=self._headers(),
            timeout=timeout_s,
            proxies=NO_PROXIES,
            **body,
        )

    def _headers(self) -> dict[str, str]:
        """Return a new token for each delivery, because an earlier one may have been revoked."""
        version = {'OpenStack-API-Version': VERSION, 'X-Roles': 'admin,service'}
        return version | self._identity()


# The sender of events of a cloud.
Sender: typing.TypeAlias = Silent | Events
