"""URLs of consoles: remote-consoles (2.6), and the actions that it replaced.

The cell of the server stores the digest of the token in a URL, and the proxy looks the digest up.
Simulated guests have no display.
"""

from collections.abc import Iterable
import dataclasses
import datetime
import urllib.parse

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions as rules
from nova_lite.api.servers import acting
from nova_lite.db.cell import console_tokens
from nova_lite.states import transitions

FAULTS = (400, 403, 404, 409, 501)
# {protocol: types}. Clients know mks and rdp, which no host here offers.
KINDS = {
    'vnc': ('novnc', 'xvpvnc'),
    'spice': ('spice-html5',),
    'rdp': ('rdp-html5',),
    'serial': ('serial',),
    'mks': ('webmks',),
}
DIRECT = 'spice-direct'
ADDRESSES = {
    'novnc': 'novncproxy_base_url',
    'spice-html5': 'html5proxy_base_url',
    'serial': 'serial_base_url',
}
PORT = 5900


def _body(protocols: Iterable[str], kinds: Iterable[str]) -> schema.Source:
    console = {'protocol': {'enum': list(protocols)}, 'type': {'enum': list(kinds)}}
    return schema_parts.body('remote_console', schema_parts.whole(console, required=list(console)))


_V6 = [name for name in KINDS if name != 'mks']
_V6_TYPES = [kind for name in _V6 for kind in KINDS[name]]
BODY = {
    '2.6': _body(_V6, _V6_TYPES),
    '2.8': _body(KINDS, [*_V6_TYPES, 'webmks']),
    '2.99': _body(KINDS, [*_V6_TYPES, 'webmks', DIRECT]),
}


def _guard(protocol: str) -> transitions.Transition:
    """Return the transition of a console, with the name of the action in nova."""
    return dataclasses.replace(transitions.OPEN_CONSOLE, verb=f'get_{protocol}_console')


@operation.operation(
    'POST',
    '/servers/{server_id}/remote-consoles',
    since='2.6',
    policy=rules.REMOTE_CONSOLES,
    guard=lambda req: _guard(req.content['protocol']),
    lock=False,
    body=BODY,
    success=200,
    faults=FAULTS,
)
def create(req: request.Request, server: server_access.Server) -> operation.Result:
    """Create a console of any kind."""
    protocol, kind = req.content['protocol'], req.content['type']
    acting.require_host(server)
    if kind not in KINDS[protocol]:
        raise exception.Invalid(f'Unavailable console type {kind}.')
    url = _open(req, server, kind)
    return {'remote_console': {'protocol': protocol, 'type': kind, 'url': url}}


def _declare(action: str, protocol: str) -> operation.Handler:
    kinds = KINDS[protocol]

    @operation.server_action(
        action,
        until='2.5',
        policy=rules.REMOTE_CONSOLES,
        guard=_guard(protocol),
        lock=False,
        body={'2.1': schema_parts.whole({'type': {'enum': list(kinds)}}, required=['type'])},
        success=200,
        faults=FAULTS,
    )
    def get(req: request.Request, server: server_access.Server) -> operation.Result:
        kind = req.content['type']
        return {'console': {'type': kind, 'url': _open(req, server, kind)}}

    return get


get_vnc = _declare('os-getVNCConsole', 'vnc')
get_spice = _declare('os-getSPICEConsole', 'spice')
get_serial = _declare('os-getSerialConsole', 'serial')


@operation.server_action(
    'os-getRDPConsole', body=None, until='2.5', load=False, success=200, faults=(400,)
)
def get_rdp(_req: request.Request) -> None:
    """Refuse the action: RDP consoles do not exist any more."""
    raise exception.Invalid('Unavailable console type rdp-html5.')


def _open(req: request.Request, server: server_access.Server, kind: str) -> str:
    acting.require_host(server)
    base = req.conf.consoles[ADDRESSES[kind]] if kind in ADDRESSES else None
    if not base:
        raise exception.Invalid(f'Unavailable console type {kind}.')
    if server.row.vm_state == states.VmState.BUILDING:
        raise exception.InstanceNotReady(instance_id=server.uuid)
    token = runtime.new_secret()
    expires = runtime.naive_now() + datetime.timedelta(seconds=req.conf.consoles.token_ttl)
    values = {
        'console_type': kind,
        'host': server.row.host,
        'port': PORT,
        'instance_uuid': server.uuid,
        'expires': expires,
        'access_url_base': base,
    }
    server.cell.db.write(console_tokens.create, token, values)
    query = urllib.parse.urlencode({'token': token})
    if kind == 'novnc':
        query = urllib.parse.urlencode({'path': '?' + query})
    return f'{base}?{query}'
