"""Requests to the control endpoint of the cloud that runs in a state directory."""

import json
import typing
import urllib.error
import urllib.parse
import urllib.request

from nova_lite import exception
from nova_lite.daemons import local_endpoint
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import state_dir

TIMEOUT_S = 120
# A cloud with many hosts has large databases.
SNAPSHOT_S = 600
STARTING = 'it starts or stops. Repeat the command when `nova-lite status` shows that it runs'
GOES_ON = (
    'it has not answered within %g s. The request goes on: `nova-lite clock show` shows how far an '
    'advance is, and `nova-lite status` when the cloud answers again'
)


class Refused(exception.NovaLiteError):
    """The cloud refused a request. status: of its answer"""

    msg = '%(reason)s'

    @property
    def status(self) -> int:
        found: int = self.kwargs['status']
        return found


class Client:
    """Sends requests to the control endpoint of the cloud in a state directory."""

    def __init__(self, directory: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self._directory, self._timeout_s = directory, timeout_s

    def require_running(self) -> None:
        """Raise Unavailable if the cloud does not run."""
        self._place()

    def get(self, name: str, /, **arguments: str) -> endpoint.Json:
        """Return the answer to GET /control/NAME. Raise errors as `post` does."""
        return self._send(f'{name}?{urllib.parse.urlencode(arguments)}')

    def post(self, name: str, /, **arguments: typing.Any) -> endpoint.Json:
        """Return the answer to POST /control/NAME.

        Raise Refused with the reason of the cloud, Unavailable if the cloud does not run or answer.
        """
        return self._send(name, body=arguments)

    def _place(self) -> local_endpoint.Place:
        if lock.holder(self._directory) is None:
            up = state_dir.command('up', self._directory)
            raise self._unavailable(f'it does not run. Start it with `{up}`')
        try:
            return local_endpoint.place_of(self._directory, endpoint.Endpoint.name)
        except exception.Unavailable as error:
            raise self._unavailable(STARTING) from error

    def _unavailable(self, reason: object) -> exception.Unavailable:
        return exception.Unavailable(service=f'The cloud in {self._directory}', reason=reason)

    def _send(self, path: str, body: object = None) -> endpoint.Json:
        place = self._place()
        try:
            with local_endpoint.send(
                place, endpoint.PREFIX + path, self._timeout_s, body=body
            ) as answer:
                found: endpoint.Json = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            raise Refused(reason=json.load(error)['error'], status=error.code) from error
        except TimeoutError as error:
            raise self._unavailable(GOES_ON % self._timeout_s) from error
        except OSError as error:
            raise self._unavailable(error) from error
