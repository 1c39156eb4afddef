"""Requests to the API of a cloud for its live page, as its administrator.

The page has no token of the cloud: this process signs in with the clouds.yaml of the cloud, and the
API decides about each request as about those of other clients.
"""

from collections.abc import Callable
import http
import typing

from keystoneauth1 import exceptions as auth_exceptions
import requests

from nova_lite import exception
from nova_lite.api import faults
from nova_lite.lab.launcher import client_connections

if typing.TYPE_CHECKING:
    from openstack import connection

# Later, servers that were evacuated stay stopped.
VERSION = '2.90'
KINDS = {code: kind for kind, code in faults.CODES.items()}

Json: typing.TypeAlias = dict[str, typing.Any]
Connect: typing.TypeAlias = Callable[[str], 'connection.Connection']


class Refused(exception.NovaLiteError):
    """The API has refused a request: `kind` is that of the status of its answer."""

    msg = '%(reason)s'

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason=reason)
        self.kind = KINDS.get(status, 'unavailable' if status >= 500 else 'invalid')


class PageRequests:
    """Sends requests for the live page. clouds_yaml: the file with the administrator's password"""

    def __init__(self, clouds_yaml: str, connect: Connect = client_connections.connect) -> None:
        self._path, self._connect = clouds_yaml, connect
        self._connection: connection.Connection | None = None

    def compute(self, method: str, path: str, body: Json | None = None) -> requests.Response:
        """Send a request to the compute API. Return the answer. Raise Refused, Unavailable."""
        return self.send('compute', method, path, body)

    def send(self, service: str, method: str, path: str, body: Json | None) -> requests.Response:
        """Send a request to a service. Return the answer. Raise Refused, Unavailable."""
        # See client_connections.
        from openstack import exceptions as sdk_exceptions

        if self._connection is None:
            self._connection = self._connect(self._path)
        version = VERSION if service == 'compute' else None
        try:
            answer: requests.Response = getattr(self._connection, service).request(
                path, method, json=body, microversion=version, raise_exc=False, connect_retries=0
            )
        except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
            raise exception.Unavailable(service='The API', reason=str(error)) from error
        if answer.status_code >= http.HTTPStatus.BAD_REQUEST:
            raise Refused(answer.status_code, _message(answer))
        return answer


def _message(answer: requests.Response) -> str:
    """Return the reason in an error answer."""
    try:
        (found,) = answer.json().values()
        return str(found['message'])
    except (ValueError, TypeError, KeyError, AttributeError):
        return f'The API answered with {answer.status_code} {answer.reason}.'
