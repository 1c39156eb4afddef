"""External events that simcloud sends to the compute service, as Neutron and Cinder do.

The compute service shows a floating address or a larger volume on the server after such an
event. One thread sends them in batches. Events that cannot be delivered are logged and dropped.
"""

import heapq
import itertools
import logging

import requests

from nova_lite import runtime
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.identity import tables

LOG = logging.getLogger(__name__)

PATH = '/os-server-external-events'
VERSION = 'compute 2.93'
MISSING = 404
ATTEMPTS, PAUSE_S, TIMEOUT_S = 3, 1, 10
# The compute service answers a swap when it has accepted it.
SWAP_TIMEOUT_S, BAD = 90, 400
MOST_AT_ONCE = 100
# Requests that ask the compute service at a time; a quarter of the usual threads.
MOST_ASKED = 4
SENDER, PROJECT = 'neutron', 'service'


class Silent:
    """Sends no events, for a cloud without a compute service."""

    def send(self, name, concerned, *, status='completed', after_s=0):
        """Drop the events."""

    def swap(self, server, volume_id, new_volume_id, refused):
        """Do nothing: without a compute service the volume migrates until somebody ends that."""

    def uses(self, server, volume_id, attachment_id):
        """Return True: without a compute service the server may use the volume."""
        return True

    def close(self):
        """Do nothing."""


class Events:
    """Sends events to the compute service at `url`, as a service user."""

    def __init__(self, db, tokens, url):
        self._db = db
        self._tokens = tokens
        self._compute_url = url.rstrip('/')
        # Events that are due, and a heap of (when, number, event) of those that are not.
        self._waiting = []
        self._later = []
        # Threads that ask for swaps.
        self._swaps = []
        self._numbers = itertools.count()
        self._changed = runtime.Condition()
        self._thread = None
        self._closed = False
        self._asking = runtime.Semaphore(MOST_ASKED)

    def send(self, name, concerned, *, status='completed', after_s=0):
        """Queue one event for each (server uuid, tag) of `concerned`, due after `after_s`.

        Events that are not due when this process ends are lost.
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
                # Only now: a process that forks after opening us has its own thread.
                self._thread = runtime.spawn(self._run, name='simcloud-events')
            self._changed.notify()

    def swap(self, server, volume_id, new_volume_id, refused):
        """Ask the compute service to put another volume in the place of one of a server.

        refused: called if the compute service does not accept that
        """
        with self._changed:
            if not self._closed:
                # Of its own: the answer comes late, and the server waits for events.
                asking = runtime.spawn(
                    self._swap, server, volume_id, new_volume_id, refused, name='simcloud-swap'
                )
                self._swaps = [each for each in self._swaps if each.is_alive()] + [asking]

    def uses(self, server, volume_id, attachment_id):
        """Return whether a server has a volume by this attachment; True if not known.

        Raise Unavailable while many requests ask that. The compute service checks our
        token here before it answers: it must find a thread that does not wait for it.
        """
        if not self._asking.acquire(blocking=False):
            raise faults.Unavailable(
                'The compute service is asked too much.', headers={'Retry-After': '5'}
            )
        try:
            return self._uses(server, volume_id, attachment_id)
        finally:
            self._asking.release()

    def _uses(self, server, volume_id, attachment_id):
        try:
            path = f'/servers/{server}/os-volume_attachments/{volume_id}'
            response = self._request('GET', path)
            if response.ok:
                return response.json()['volumeAttachment']['attachment_id'] == attachment_id
        except requests.RequestException as error:
            LOG.warning(
                'Cannot read from the compute service which servers use %s: %s', volume_id, error
            )
            return True
        return response.status_code != MISSING

    def close(self):
        """Stop after the delivery under way."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            threads = [*self._swaps, *([self._thread] if self._thread else [])]
        for thread in threads:
            thread.join()

    def _run(self):
        while True:
            with self._changed:
                while not self._due() and not self._closed:
                    self._changed.wait(self._pause_s())
                if self._closed:
                    return
                batch = self._waiting[:MOST_AT_ONCE]
                del self._waiting[:MOST_AT_ONCE]
            self._deliver(batch)

    def _due(self):
        """Return the events that are due."""
        while self._later and self._later[0][0] <= runtime.monotonic():
            self._waiting.append(heapq.heappop(self._later)[2])
        return self._waiting

    def _pause_s(self):
        return self._later[0][0] - runtime.monotonic() if self._later else None

    def _deliver(self, batch):
        self._answered('events', 'POST', PATH, {'events': batch})

    def _answered(self, what, method, path, body, **options):
        """Send a request, a few times if the compute service fails.

        Return the answer, None if there was none or it was a failure.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self._request(method, path, json=body, **options)
                if response.status_code < 500:
                    LOG.info('%s %s: %d', what, body, response.status_code)
                    return response
                reason = response.status_code
            except requests.RequestException as error:
                reason = error
            LOG.warning(
                'The compute service did not accept %s (%s), attempt %d', what, reason, attempt
            )
            with self._changed:
                if self._closed or self._changed.wait_for(lambda: self._closed, PAUSE_S):
                    break
        return None

    def _swap(self, server, volume_id, new_volume_id, refused):
        """Ask for a swap until that is answered. An answer that was lost may have accepted it."""
        path = f'/servers/{server}/os-volume_attachments/{volume_id}'
        body = {'volumeAttachment': {'volumeId': new_volume_id}}
        answered = self._answered('swap', 'PUT', path, body, timeout_s=SWAP_TIMEOUT_S)
        if answered is None or answered.status_code >= BAD:
            refused()

    def _request(self, method, path, *, timeout_s=TIMEOUT_S, **body):
        """Send a request to the compute service, without the proxies of the environment."""
        return requests.request(
            method,
            self._compute_url + path,
            headers=self._headers(),
            timeout=timeout_s,
            proxies={'http': None, 'https': None},
            **body,
        )

    def _headers(self):
        """Return a new token for each delivery, because an earlier one may have been revoked."""
        with self._db.read() as conn:
            user = database.find(conn, tables.users, name=SENDER)
            project = database.find(conn, tables.projects, name=PROJECT)
        headers = {'OpenStack-API-Version': VERSION, 'X-Roles': 'admin,service'}
        if user and project:
            secret, _ = self._db.change(
                self._tokens.issue,
                user['id'],
                methods=['password'],
                scope=(tables.PROJECT, project['id']),
            )
            headers |= {
                'X-Auth-Token': secret,
                'X-User-Id': user['id'],
                'X-Project-Id': project['id'],
            }
        return headers
