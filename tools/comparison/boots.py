"""Waiting for new servers, as cheap for the cloud as a client can make it.

It lists the servers in BUILD, of which there are few. `nova_lite.lab.bench.polling` lists those
in the status that is waited for, which are all in the end.
"""

import types

from nova_lite import exception
from nova_lite import runtime

WAIT_S = 180


class Boots:
    """Lists the servers in BUILD, for all that wait, and shows each once that has left it.

    A context manager; `wait` may be called in many threads.
    """

    def __init__(self, cloud, poll_s):
        self._cloud, self._poll_s = cloud, poll_s
        self._waiting, self._lock = {}, runtime.Lock()
        self._stop, self._thread = runtime.Event(), None

    def __enter__(self):
        self._thread = runtime.spawn(self._run, name='comparison-boots')
        return self

    def __exit__(self, *_error):
        self._stop.set()
        self._thread.join()

    def wait(self, uuid):
        """Return when the server was first seen ACTIVE, in seconds of `monotonic`.

        Raise Conflict for another status, Unavailable when time is up.
        """
        result = types.SimpleNamespace(done=runtime.Event(), at=None, error=None)
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

    def _run(self):
        while not runtime.wait(self._stop, self._poll_s):
            with self._lock:
                waiting = dict(self._waiting)
            if waiting:
                self._look(waiting)

    def _look(self, waiting):
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


def _end(result, server, now):
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
