"""A client that waits where the cloud asks for it."""

import typing

from nova_lite import runtime
from nova_lite.lab.bench import client

BUSY, RETRY_AFTER = 503, 'Retry-After'


class Patient:
    """A client of a cloud that repeats a request when the cloud asks for that.

    longest_s: the longest time to an answer; refused: the answers that asked to wait
    """

    def __init__(self, cloud: client.Client) -> None:
        self._cloud = cloud
        self.longest_s, self.refused = 0.0, 0
        self.flavor_id, self.server_body = cloud.flavor_id, cloud.server_body
        self._lock = runtime.Lock()

    def call(self, method: str, path: str, body: client.Json | None = None) -> typing.Any:
        """Send a request, and repeat it while the answer asks to wait. Raise as Client.call."""
        while True:
            began = runtime.monotonic()
            response = self._cloud.send(method, path, body)
            asked_s = response.headers.get(RETRY_AFTER) if response.status_code == BUSY else None
            with self._lock:
                self.longest_s = max(self.longest_s, runtime.monotonic() - began)
                self.refused += asked_s is not None
            if asked_s is None:
                return self._cloud.content(method, path, response)
            runtime.sleep(float(asked_s))

    def begin(self) -> None:
        """Forget the measured times and refusals."""
        self.longest_s, self.refused = 0.0, 0
