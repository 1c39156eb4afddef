"""Requests to the control endpoint of the cloud that runs in a state directory."""

import json
import urllib.error
import urllib.parse
import urllib.request

from nova_lite import exception
from nova_lite.control import endpoint
from nova_lite.daemons import door
from nova_lite.launcher import running

TIMEOUT_S = 120


class Refused(exception.NovaLiteError):
    msg = '%(reason)s'


class Client:
    """Calls the control endpoint. directory: the state directory of the cloud"""

    def __init__(self, directory, *, timeout_s=TIMEOUT_S):
        self._directory, self._timeout_s = directory, timeout_s

    def get(self, name, /, **arguments):
        """Return the answer to GET /control/NAME. Raise as `post`."""
        query = urllib.parse.urlencode(arguments)
        return self._send(urllib.request.Request(f'{self._url(name)}?{query}'))

    def post(self, name, /, **arguments):
        """Return the answer to POST /control/NAME.

        Raise Refused with the reason of the cloud, Unavailable if it does not run or answer.
        """
        body = json.dumps(arguments).encode()
        headers = {'Content-Type': 'application/json'}
        return self._send(urllib.request.Request(self._url(name), data=body, headers=headers))

    def _url(self, name):
        return f'{self._place()["url"]}{endpoint.PREFIX}{name}'

    def _place(self):
        if running.holder(self._directory) is None:
            raise exception.Unavailable(
                service=f'The cloud in {self._directory}',
                reason='it does not run. Start it with `nova-lite up`',
            )
        try:
            return door.place_of(self._directory, endpoint.Endpoint.name)
        except exception.Unavailable as error:
            raise exception.Unavailable(
                service=f'The cloud in {self._directory}',
                reason='it starts or stops, or was started with --bus and cannot be controlled',
            ) from error

    def _send(self, request):
        request.add_header(door.KEY_HEADER, self._place()['key'])
        try:
            with door.send(request, self._timeout_s) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(reason=json.load(error)['error']) from error
        except OSError as error:
            raise exception.Unavailable(
                service=f'The cloud in {self._directory}', reason=error
            ) from error
