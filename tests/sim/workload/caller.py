"""Requests of a simulated client: each is noted, and judged by its answer."""

import dataclasses
import json
import typing

import requests

from tests.sim import kernel
from tests.sim.workload import codes

VERSION = 'compute 2.96'
WITH_SHARES = 'compute 2.97'
# [api] device_timeout is a minute, and a request does a little before and after it.
BOUND_S = 120
PROJECT = 'c0ffee00c0ffee00c0ffee00c0ffee00'
HEADERS = {
    'X-User-Id': 'client',
    'X-Project-Id': PROJECT,
    'X-Roles': 'admin',
    'X-Auth-Token': f'client:{PROJECT}',
}
PLACEMENT = 'placement 1.39'
PATCH = 'application/openstack-images-v2.1-json-patch'
REQUEST_ID = 'x-openstack-request-id'


class Look(typing.NamedTuple):
    """A server as it was shown to a client that had asked at a virtual time."""

    server: dict
    time: float


@dataclasses.dataclass
class Call:
    """A request of a client, from when to when it was under way, and its id if that is known.

    cell: that of its server, if servers never leave theirs
    count: how many servers it creates, if it does
    body, answer: what was sent and answered, decoded
    look: at its server, just before, if its client had one
    """

    who: str
    what: str
    method: str
    url: str
    began: float
    ended: float = 0.0
    request_id: str | None = None
    code: int = 0
    cell: str | None = None
    count: int = 1
    body: dict | None = None
    answer: dict = dataclasses.field(default_factory=dict)
    look: Look | None = None


class Caller:
    """Sends requests for one client. who: its name; apis: addresses of the compute APIs

    last: the Call that was answered last; look: the last Look at a server
    """

    def __init__(self, network, ledger, who, apis):
        self._network, self._ledger, self.who = network, ledger, who
        self._apis, self._rng = apis, kernel.current().stream(f'caller {who}')
        self.last = self.look = None

    def send(self, what, method, path, body=None, *, version=VERSION):
        """Send a compute request; (code, decoded answer). The code is codes.LOST without one."""
        url = f'http://{self._rng.choice(self._apis)}/v2.1{path}'
        return self._send(what, method, url, body=body, version=version)

    def neighbour(self, what, method, path, body=None, *, version=VERSION):
        """Send a request to the image, network, volume or share service; as `send`."""
        return self._send(what, method, f'http://simcloud.sim{path}', body=body, version=version)

    def placement(self, method, path, body=None, *, what='placement'):
        """Send a request to the placement service; as `send`."""
        url = f'http://placement.sim/placement{path}'
        return self._send(what, method, url, body=body, version=PLACEMENT)

    def _send(self, what, method, url, *, body, version=VERSION):
        now = kernel.current()
        call = Call(self.who, what, method, url, now.time(), cell=self._ledger.cell_of(url))
        if self.look is not None and self.look.server['id'] in url:
            call.look = self.look
        headers, content = {**HEADERS, 'OpenStack-API-Version': version}, None
        # The list of changes of an image is none.
        is_object = isinstance(body, dict)
        if body is not None:
            call.body, content = body, json.dumps(body)
            call.count = body.get('server', {}).get('max_count', 1) if is_object else 1
            headers['Content-Type'] = 'application/json' if is_object else PATCH
        self._ledger.refusals.began(call)
        now.log(f'{self.who}: {what}', f'{method} {url.partition(".sim")[2]} {content or ""}')
        try:
            answer = self._network.exchange(method, url, headers, body=content, timeout_s=BOUND_S)
        except requests.RequestException as error:
            code, text = codes.LOST, f'{type(error).__name__}: {error}'
        else:
            code, text = answer.status, answer.body.decode()
            names = {name.lower(): value for name, value in answer.headers}
            call.request_id = names.get(REQUEST_ID)
        call.ended, call.code = now.time(), code
        self.last = call
        now.log(f'{self.who}: {what} -> {code}', text if code == codes.LOST or code >= 400 else '')
        if code != codes.LOST and text[:1] in '{[' and text:
            call.answer = json.loads(text)
        self._ledger.answered(call, text)
        return code, call.answer
