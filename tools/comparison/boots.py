"""Wait for new servers in the way that costs the cloud least.

`Boots` lists the servers in BUILD, of which there are few. `nova_lite.lab.bench.polling` lists the
servers in the wanted status, which are all servers in the end.
"""

from collections.abc import Mapping
import dataclasses
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from tools.comparison import patient

WAIT_S = 180

Cloud: typing.TypeAlias = client.Client | patient.Patient


@dataclasses.dataclass
class Waiting:
    """A wait for a server. at: when the server was seen ACTIVE, in seconds of `monotonic`"""

    at: float | None = None
    error: exception.NovaLiteError | None = None
    done: runtime.Event = dataclasses.field(default_factory=runtime.Event)


class Boots:
    """Lists the servers in BUILD, and shows each server once that has left BUILD.

    A context manager; `wait` may be called in many threads.
    """

    def __init__(self, cloud: Cloud, poll_s: float) -> None:
        self._cloud, self._poll_s = cloud, poll_s
        self._waiting: dict[str, Waiting] = {}
        self._lock, self._stop = runtime.Lock(), runtime.Event()
        self._thread: runtime.Thread | None = None

    def __enter__(self) -> typing.Self:
        self._thread = runtime.spawn(self._run, name='comparison-boots')
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def wait(self, uuid: str) -> float:
        """Return when a server was first seen ACTIVE, in seconds of `monotonic`.

        Raise Conflict for another status, Unavailable after WAIT_S.
        """
        result = Waiting()
        with self._lock:
            self._waiting[uuid] = result
        runtime.wait(result.done, WAIT_S)
        with self._lock:
            self._waiting.pop(uuid, None)
        if result.error is not None:
            raise result.error
        if result.at is None:
            raise exception.Unavailable(
                service=f'Server {uuid}', reason=f'not ACTIVE within {WAIT_S} s'
            )
        return result.at

    def _run(self) -> None:
        while not runtime.wait(self._stop, self._poll_s):
            with self._lock:
                waiting = dict(self._waiting)
            if waiting:
                self._look(waiting)

    def _look(self, waiting: Mapping[str, Waiting]) -> None:
        try:
            found = self._cloud.call('GET', '/servers?limit=1000&status=BUILD')['servers']
            now = runtime.monotonic()
            for uuid in waiting.keys() - {server['id'] for server in found}:
                server = self._cloud.call('GET', f'/servers/{uuid}')['server']
                _end(waiting[uuid], server, now)
        except exception.NovaLiteError as error:
            for result in waiting.values():
                result.error = error
                result.done.set()


def _end(result: Waiting, server: Mapping[str, typing.Any], now: float) -> None:
    if server['status'] == 'BUILD':
        return  # it was created after the list
    if server['status'] == 'ACTIVE':
        result.at = now
    else:
        fault = server.get('fault', {}).get('message')
        result.error = exception.Conflict(
            reason=f'server {server["id"]} is {server["status"]}, not ACTIVE: {fault}'
        )
    result.done.set()
