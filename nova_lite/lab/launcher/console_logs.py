"""The log of a simulated guest for the viewer of consoles, by the token of a console."""

import re
import typing

from nova_lite import exception
from nova_lite.lab.launcher import page_requests

# As runtime.new_secret returns them.
TOKEN = re.compile('[A-Za-z0-9_-]{20,64}')
MOST_LINES = 500


class NoConsole(exception.NotFound):
    msg = 'The token of the console is wrong or has expired. Repeat the request for a console.'


class ConsoleLogs:
    """Reads the logs of guests through the compute API, as the proxies of consoles do."""

    def __init__(self, requests: page_requests.PageRequests) -> None:
        self._requests = requests

    def read(self, token: str) -> dict[str, typing.Any]:
        """Return {server, output} of the console that a token opens. Raise NoConsole, Refused."""
        if not TOKEN.fullmatch(token):
            raise NoConsole()
        try:
            found = self._requests.compute('GET', f'/os-console-auth-tokens/{token}').json()
        except page_requests.Refused as error:
            if error.kind == NoConsole.kind:
                raise NoConsole() from error
            raise
        server = found['console']['instance_uuid']
        body = {'os-getConsoleOutput': {'length': MOST_LINES}}
        answer = self._requests.compute('POST', f'/servers/{server}/action', body).json()
        return {'server': server, 'output': answer['output']}
