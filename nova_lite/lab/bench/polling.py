"""Poll the status of many servers with one list request for all threads that wait.

A request for each server would use more CPU of the API than the moves that are measured.
"""

import typing
import urllib.parse

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client

PAGE = 1000
# Seconds between lists of all servers, which find failed moves and use more CPU.
FAILURES_S = 1.0
# Statuses in which a move has ended. VERIFY_RESIZE is none: a confirm sets no task state.
RESTING = ('ACTIVE', 'SHUTOFF', 'ERROR')


class _Waiter:
    def __init__(self, status: str) -> None:
        self.status, self.asked = status, runtime.monotonic()
        self.done = runtime.Event()
        self.seen: float | None = None
        self.failure: exception.NovaLiteError | None = None

    def end(
        self, *, seen: float | None = None, failure: exception.NovaLiteError | None = None
    ) -> None:
        self.seen, self.failure = seen, failure
        self.done.set()


Waiters: typing.TypeAlias = dict[str, _Waiter]
Servers: typing.TypeAlias = list[client.Json]


class Watch:
    """A context manager that polls servers; many threads may call `wait`.

    name: the name of all servers; pause_s: seconds between two polls; timeout_s: limit of a wait
    """

    def __init__(
        self, cloud: client.Client, name: str, *, pause_s: float, timeout_s: float
    ) -> None:
        self._cloud, self._name = cloud, urllib.parse.quote(name)
        self._pause_s, self._timeout_s = pause_s, timeout_s
        self._waiters: Waiters = {}
        self._lock = runtime.Lock()
        self._work, self._stop = runtime.Event(), runtime.Event()
        self._thread: runtime.Thread | None = None
        self._looked = runtime.monotonic()

    def __enter__(self) -> typing.Self:
        self._thread = runtime.spawn(self._run, name='bench-watch')
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._work.set()
        if self._thread is not None:
            self._thread.join()

    def wait(self, uuid: str, status: str) -> float:
        """Wait for the status of a server. Return when a poll has seen it, as of `monotonic`.

        Raise Conflict if the server comes to rest in another status, Unavailable after the timeout.
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

    def _run(self) -> None:
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

    def _look(self, waiters: Waiters) -> None:
        for status in sorted({waiter.status for waiter in waiters.values()}):
            there = {server['id'] for server in self.list(f'/servers?status={status}')}
            now = runtime.monotonic()
            for uuid, waiter in waiters.items():
                if waiter.status == status and uuid in there:
                    waiter.end(seen=now)
        if runtime.monotonic() - self._looked > FAILURES_S:
            self._look_for_failures(waiters)
            self._looked = runtime.monotonic()

    def _look_for_failures(self, waiters: Waiters) -> None:
        """End the waits for servers that rest in another status than the expected one."""
        begun = runtime.monotonic()
        for server in self.list('/servers/detail?'):
            waiter = waiters.get(server['id'])
            # The status may be from before a move that has just been requested.
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

    def list(self, path: str) -> Servers:
        """Return all servers with the name. path: of a list, with a query"""
        found: Servers = []
        marker = ''
        while True:
            page = self._cloud.call('GET', f'{path}&name={self._name}&limit={PAGE}{marker}')[
                'servers'
            ]
            found += page
            if len(page) < PAGE:
                return found
            marker = f'&marker={page[-1]["id"]}'
