"""Waits: how long the request of a user waits for a service that does not answer.

Each thread of an API process that waits for a silent service is missing for others. So all calls of
one request together wait in vain for a service no longer than the service's option `timeout`,
repetitions included. A later call of the request may still take LEAST_S, for example to delete an
object that may have been created. Other callers, such as sagas and hosts, are not limited.
"""

import typing

from keystoneauth1 import exceptions
from keystoneauth1 import session
import requests

from nova_lite import runtime

LEAST_S = 5.0


class Waits:
    """The waits of one request for one service.

    waited: of the context; service: title of the service; timeout_s: that of its session, or None
    """

    def __init__(
        self, waited: dict[str, float] | None, service: str, timeout_s: float | None
    ) -> None:
        self._waited, self._service, self._timeout_s = waited, service, timeout_s

    def limit_s(self) -> float | None:
        """Return the timeout of the next call; None: that of the session."""
        if self._waited is None or not self._timeout_s:
            return None
        remaining_s = self._timeout_s - self._waited.get(self._service, 0.0)
        return max(remaining_s, min(LEAST_S, self._timeout_s))

    def are_over(self) -> bool:
        """Return whether a call that fails must not be repeated."""
        if self._waited is None or not self._timeout_s:
            return False
        return self._waited.get(self._service, 0.0) >= self._timeout_s

    def send(
        self, through: session.Session, url: str, method: str, **request: typing.Any
    ) -> requests.Response:
        """Send a request through a session. Count its time if it fails."""
        began, limit_s = runtime.monotonic(), self.limit_s()
        if limit_s is not None:
            request = {'timeout': limit_s, **request}
        try:
            return through.request(url, method, **request)
        except exceptions.ClientException:
            if self._waited is not None:
                seconds = self._waited.get(self._service, 0.0) + runtime.monotonic() - began
                self._waited[self._service] = seconds
            raise
