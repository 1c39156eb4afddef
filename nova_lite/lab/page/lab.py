"""The switches of the live page of a cloud of `nova-lite up --lab`.

They change the cloud: faults, hosts, the clock, saved states, the debugger, and servers. A request
must come from the page of the cloud itself: it needs its Origin, and the secret that only the owner
of the cloud can read: it is in the URL that `nova-lite up` prints. Other users of the machine, who
can open the page, have none.
"""

from collections.abc import Callable
from collections.abc import Iterable
import hmac
import http
import typing

from nova_lite.daemons import local_requests

SECRET_HEADER = 'X-Page-Secret'
# {name of a switch: method at the control endpoint, where it has the same name}
SWITCHES = {
    **dict.fromkeys(
        (
            *('bus', 'cell', 'clock', 'faults/add', 'faults/clear', 'host', 'reset', 'save'),
            *('breakpoints/add', 'breakpoints/remove', 'saga/go', 'saga/step', 'saga/kill-here'),
            *('servers/act', 'servers/boot'),
        ),
        'POST',
    ),
    # They change nothing. A browser sends the Origin only with a POST.
    **dict.fromkeys(('breakpoints', 'servers/choices', 'states'), 'GET'),
}

Environ: typing.TypeAlias = dict[str, typing.Any]
# A function from a request to (status, pieces of the JSON body).
Control: typing.TypeAlias = Callable[[Environ], tuple[http.HTTPStatus, Iterable[bytes]]]


class Lab:
    """control: answers a request of the control endpoint, without asking for its key"""

    def __init__(self, control: Control, secret: str) -> None:
        self._control, self._secret = control, secret

    def problem(self, environ: Environ) -> str | None:
        """Return why a switch is refused to a request, or None. Its Host was checked."""
        if not local_requests.has_own_origin(environ):
            return 'Only the live page may use its switches: the header Origin must be its own.'
        given = environ.get('HTTP_X_PAGE_SECRET', '')
        if not hmac.compare_digest(given.encode(), self._secret.encode()):
            return (
                f'The header {SECRET_HEADER} is not the secret of the switches. Open the page '
                'with the URL that `nova-lite up` has printed.'
            )
        return None

    def use(self, name: str, environ: Environ) -> tuple[http.HTTPStatus, bytes]:
        """Return (status, JSON) of a switch, one of SWITCHES."""
        changed = {'REQUEST_METHOD': SWITCHES[name], 'PATH_INFO': f'/control/{name}'}
        status, body = self._control({**environ, **changed, 'QUERY_STRING': ''})
        return status, b''.join(body)
