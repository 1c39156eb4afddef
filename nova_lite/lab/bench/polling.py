"""Poll the status of many servers with one list request for all threads that wait.

A request for each server would use more CPU of the API than the moves that are measured.
"""

import urllib.parse

from nova_lite import exception
from nova_lite import runtime

PAGE = 1000
# A move that failed is found by a look at all servers, which is dearer.
FAILURES_S = 1.0
# Not VERIFY_RESIZE: a confirmation is not seen, because it sets no task of the server.
RESTING = ('ACTIVE', 'SHUTOFF', 'ERROR')


class _Waiter:
    def __init__(self, status):
        self.status, self.asked = status, runtime.monotonic()
        self.done = runtime.Event()
        self.seen = self.failure = None

    def end(self, *, seen=None, failure=None):
        self.seen, self.failure = seen, failure
        self.done.set()


class Watch:
    """A context manager; `wait` may be called in many threads.

    name: of all servers that are waited for; pause_s: between two looks
    """

    def __init__(self, cloud, name, *, pause_s, timeout_s):
        self._cloud, self._name = cloud, urllib.parse.quote(name)
        self._pause_s, self._timeout_s = pause_s, timeout_s
        self._waiters = {}
        self._lock = runtime.Lock()
        self._work, self._stop = runtime.Event(), runtime.Event()
        self._thread = None
        self._looked = runtime.monotonic()

    def __enter__(self):
        self._thread = runtime.spawn(self._run, name='bench-watch')
        return self

    def __exit__(self, *_error):
        self._stop.set()
        self._work.set()
        self._thread.join()

    def wait(self, uuid, status):
        """Return when the server was first seen in `status`, in seconds of `monotonic`.

        Raises Conflict when it rests in another one, Unavailable when time is up.
        """
        waiter = _Waiter(status)
        with self._lock:
            self._waiters[uuid] = waiter
        self._work.set()
        runtime.wait(waiter.done, self._timeout_s)
        with self._lock:
            self._waiters.pop(uuid, None)
        if waiter.failure:
            raise waiter.failure
        if waiter.seen is None:
            raise exception.Unavailable(
                service=f'server {uuid}', reason=f'not {status} after {self._timeout_s} s'
            )
        return waiter.seen

    def _run(self):
        while not self._stop.is_set():
            with self._lock:
                waiters = dict(self._waiters)
                if not waiters:
                    self._work.clear()
            if not waiters:
                runtime.wait(self._work)
                continue
            try:
                self._look(waiters)
            except exception.NovaLiteError as error:
                for waiter in waiters.values():
                    waiter.end(failure=error)
            runtime.wait(self._stop, self._pause_s)

    def _look(self, waiters):
        for status in sorted({waiter.status for waiter in waiters.values()}):
            there = {server['id'] for server in self.list(f'/servers?status={status}')}
            now = runtime.monotonic()
            for uuid, waiter in waiters.items():
                if waiter.status == status and uuid in there:
                    waiter.end(seen=now)
        if runtime.monotonic() - self._looked > FAILURES_S:
            self._look_for_failures(waiters)
            self._looked = runtime.monotonic()

    def _look_for_failures(self, waiters):
        """End the waits for servers that have come to rest elsewhere."""
        begun = runtime.monotonic()
        for server in self.list('/servers/detail?'):
            waiter = waiters.get(server['id'])
            # One that has just asked may be meant by a state of before.
            if waiter is None or waiter.done.is_set() or begun - waiter.asked < FAILURES_S:
                continue
            status = server['status']
            moving = server['OS-EXT-STS:task_state'] is not None
            if status in RESTING and status != waiter.status and not moving:
                fault = server.get('fault', {}).get('message', 'it has no fault')
                waiter.end(
                    failure=exception.Conflict(
                        reason=f'server {server["id"]} is {status}, not {waiter.status}: {fault}'
                    )
                )

    def list(self, path):
        """Return all servers of the name at a path that ends with a query."""
        found, marker = [], ''
        while True:
            page = self._cloud.call('GET', f'{path}&name={self._name}&limit={PAGE}{marker}')[
                'servers'
            ]
            found += page
            if len(page) < PAGE:
                return found
            marker = f'&marker={page[-1]["id"]}'
