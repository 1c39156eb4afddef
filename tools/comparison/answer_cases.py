"""Cases of tools.judge_answers: states of a server, and what users then ask of it.

Texts such as {image} stand for objects of a cloud, see tools.comparison.answer_cloud.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import json
import typing

from nova_lite import runtime

Body: typing.TypeAlias = Mapping[str, object] | None
OWNER, ADMIN = 'owner', 'admin'
NEWEST = 96
# (user or other kind of request, body, status that it leads to).
Step: typing.TypeAlias = tuple[str, Body, str]
_SHELVE: Step = ('action', {'shelve': None}, 'SHELVED')
_OFFLOAD: Step = ('action', {'shelveOffload': None}, 'SHELVED_OFFLOADED')
_STOP: Step = ('action', {'os-stop': None}, 'SHUTOFF')
_RESIZE: Step = ('action', {'resize': {'flavorRef': '{other_flavor}'}}, 'VERIFY_RESIZE')
_DELETE: Step = ('delete', None, 'SOFT_DELETED')
_ERROR: Step = ('admin', {'os-resetState': {'state': 'error'}}, 'ERROR')
_RESCUE: Step = ('action', {'rescue': {}}, 'RESCUE')
_ATTACH: Step = ('attach', {'volumeAttachment': {'volumeId': '{volume}'}}, 'ACTIVE')
# {state: steps from ACTIVE, each with the status it leads to}. Soft deletions need an option.
STATES: dict[str, tuple[Step, ...]] = {
    'active': (),
    'stopped': (_STOP,),
    'paused': (('action', {'pause': None}, 'PAUSED'),),
    'suspended': (('action', {'suspend': None}, 'SUSPENDED'),),
    'rescued': (_RESCUE,),
    'shelved': (_SHELVE,),
    'offloaded': (_SHELVE, _OFFLOAD),
    'error': (_ERROR,),
    'stopped-error': (_STOP, _ERROR),
    'resized': (_RESIZE,),
    'stopped-resized': (_STOP, _RESIZE),
    'soft-deleted': (_DELETE,),
    'stopped-soft-deleted': (_STOP, _DELETE),
    'shelved-soft-deleted': (_SHELVE, _DELETE),
    'resized-soft-deleted': (_RESIZE, _DELETE),
    'deleted': (('action', {'forceDelete': None}, 'DELETED'),),
    'offloaded-deleted': (_SHELVE, _OFFLOAD, ('action', {'forceDelete': None}, 'DELETED')),
    'locked': (('action', {'lock': {}}, 'ACTIVE'),),
    'admin-locked': (('admin', {'lock': {'locked_reason': 'x'}}, 'ACTIVE'),),
    'attached': (_ATTACH,),
    'attached-offloaded': (_ATTACH, _SHELVE, _OFFLOAD),
    'volume': (),
    'volume-offloaded': (('action', {'shelve': None}, 'SHELVED_OFFLOADED'),),
    'no-host': (),
}
# The same of servers whose host is down afterwards.
DOWN: dict[str, tuple[Step, ...]] = {
    'down': (),
    'down-stopped': (_STOP,),
    'down-error': (_ERROR,),
    'down-shelved': (_SHELVE,),
    'down-resized': (_RESIZE,),
    'down-soft-deleted': (_DELETE,),
}
# Without a host yet; and requests that name no server.
BUILDING, NO_SERVER = 'building', 'no-server'
EVERY = (*STATES, *DOWN, BUILDING, NO_SERVER)
SOFT = tuple(state for state in EVERY if 'soft-deleted' in state)

_UNKNOWN = '{unknown}'
# {action: contents}, of `POST /servers/{id}/action` by owner and administrator.
ACTIONS: dict[str, tuple[object, ...]] = {
    'os-start': (None,),
    'os-stop': (None,),
    'pause': (None,),
    'unpause': (None,),
    'suspend': (None,),
    'resume': (None,),
    'reboot': ({'type': 'SOFT'}, {'type': 'HARD'}),
    'lock': ({}, {'locked_reason': 'x'}),
    'unlock': (None,),
    'rescue': ({}, {'rescue_image_ref': '{image}'}, {'rescue_image_ref': _UNKNOWN}),
    'unrescue': (None,),
    'rebuild': (
        {'imageRef': '{image}'},
        {'imageRef': _UNKNOWN},
        {'imageRef': '{image}', 'name': 'renamed', 'key_name': None, 'user_data': None},
        {'imageRef': '{image}', 'key_name': 'unknown'},
    ),
    'resize': (
        {'flavorRef': '{other_flavor}'},
        {'flavorRef': '{flavor}'},
        {'flavorRef': _UNKNOWN},
        {'flavorRef': '{small_flavor}'},
        {'flavorRef': '{huge_flavor}'},
    ),
    'confirmResize': (None,),
    'revertResize': (None,),
    'createImage': ({'name': 'made'}, {'name': 'made', 'metadata': {'a': 'b'}}),
    'createBackup': ({'name': 'made', 'backup_type': 'daily', 'rotation': 1},
                     {'name': 'made', 'backup_type': 'daily', 'rotation': 0}),
    'changePassword': ({'adminPass': 'x'},),
    'os-getConsoleOutput': ({}, {'length': 5}),
    'shelve': (None,),
    'shelveOffload': (None,),
    'unshelve': (
        None,
        {'availability_zone': 'nova'},
        {'availability_zone': 'unknown'},
        {'availability_zone': None},
        {'host': '{host}'},
        {'host': 'unknown'},
        {'availability_zone': None, 'host': '{host}'},
        {'availability_zone': 'unknown', 'host': '{host}'},
    ),
    'migrate': (None, {'host': None}, {'host': '{same_host}'}, {'host': '{other_host}'},
                {'host': 'unknown'}),
    'os-migrateLive': tuple(
        {'host': host, 'block_migration': 'auto'}
        for host in (None, '{same_host}', '{other_host}', 'unknown')
    ),
    'evacuate': ({}, {'host': '{same_host}'}, {'host': '{other_host}'}, {'host': 'unknown'}),
    'os-resetState': ({'state': 'active'}, {'state': 'error'}),
    'restore': (None,),
    'forceDelete': (None,),
    'trigger_crash_dump': (None,),
    'injectNetworkInfo': (None,),
    'resetNetwork': (None,),
    'addSecurityGroup': ({'name': 'default'}, {'name': 'unknown'}),
    'removeSecurityGroup': ({'name': 'default'}, {'name': 'unknown'}),
}  # fmt: skip
_CONSOLES = (
    ('vnc', 'novnc'),
    ('spice', 'spice-html5'),
    ('serial', 'serial'),
    ('mks', 'webmks'),
    ('vnc', 'serial'),
)
_KEY = {'meta': {'a': 'b'}}
# (method, path below the server, body), with the newest microversion.
REQUESTS: tuple[tuple[str, str, Body], ...] = (
    *(('POST', '/action', {name: content}) for name, found in ACTIONS.items() for content in found),
    *(
        ('POST', '/remote-consoles', {'remote_console': {'protocol': protocol, 'type': kind}})
        for protocol, kind in _CONSOLES
    ),
    ('GET', '', None),
    ('GET', '/diagnostics', None),
    ('GET', '/ips', None),
    ('GET', '/ips/private', None),
    ('GET', '/ips/unknown', None),
    ('GET', '/topology', None),
    ('GET', '/os-server-password', None),
    ('DELETE', '/os-server-password', None),
    ('GET', '/os-security-groups', None),
    ('GET', '/os-instance-actions', None),
    ('GET', f'/os-instance-actions/req-{_UNKNOWN}', None),
    ('GET', '/migrations', None),
    ('GET', '/migrations/999999', None),
    ('DELETE', '/migrations/999999', None),
    ('POST', '/migrations/999999/action', {'force_complete': None}),
    ('PUT', '', {'server': {'name': 'renamed'}}),
    ('PUT', '', {'server': {'description': 'x', 'hostname': 'renamed'}}),
    ('PUT', '', {'server': {'accessIPv4': '1.2.3.4'}}),
    ('DELETE', '', None),
    ('GET', '/metadata', None),
    ('POST', '/metadata', {'metadata': {'a': 'b'}}),
    ('PUT', '/metadata', {'metadata': {'c': 'd'}}),
    ('GET', '/metadata/unknown', None),
    ('PUT', '/metadata/a', _KEY),
    ('PUT', '/metadata/other', _KEY),
    ('DELETE', '/metadata/unknown', None),
    ('GET', '/tags', None),
    ('PUT', '/tags', {'tags': ['a']}),
    ('PUT', '/tags/a', None),
    ('GET', '/tags/unknown', None),
    ('DELETE', '/tags/unknown', None),
    ('DELETE', '/tags', None),
    ('GET', '/os-interface', None),
    ('GET', '/os-interface/{port}', None),
    ('GET', f'/os-interface/{_UNKNOWN}', None),
    ('POST', '/os-interface', {'interfaceAttachment': {}}),
    ('POST', '/os-interface', {'interfaceAttachment': {'net_id': '{network}'}}),
    ('POST', '/os-interface', {'interfaceAttachment': {'net_id': _UNKNOWN}}),
    ('POST', '/os-interface', {'interfaceAttachment': {'port_id': '{port}'}}),
    ('POST', '/os-interface', {'interfaceAttachment': {'port_id': _UNKNOWN}}),
    ('DELETE', '/os-interface/{port}', None),
    ('DELETE', f'/os-interface/{_UNKNOWN}', None),
    ('GET', '/os-volume_attachments', None),
    ('GET', f'/os-volume_attachments/{_UNKNOWN}', None),
    ('GET', '/os-volume_attachments/{attached}', None),
    ('POST', '/os-volume_attachments', {'volumeAttachment': {'volumeId': '{volume}'}}),
    ('POST', '/os-volume_attachments', {'volumeAttachment': {'volumeId': '{attached}'}}),
    ('POST', '/os-volume_attachments', {'volumeAttachment': {'volumeId': _UNKNOWN}}),
    ('PUT', '/os-volume_attachments/{attached}', {'volumeAttachment': {'volumeId': '{volume}'}}),
    ('PUT', '/os-volume_attachments/{attached}',
     {'volumeAttachment': {'volumeId': '{attached}', 'delete_on_termination': True}}),
    ('PUT', f'/os-volume_attachments/{_UNKNOWN}', {'volumeAttachment': {'volumeId': '{volume}'}}),
    ('DELETE', '/os-volume_attachments/{attached}', None),
    ('DELETE', f'/os-volume_attachments/{_UNKNOWN}', None),
)  # fmt: skip
# The same with the first microversion: operations and fields that are gone by now.
OLD: tuple[tuple[str, str, Body], ...] = (
    ('GET', '', None),
    ('DELETE', '', None),
    ('GET', '/diagnostics', None),
    ('POST', '/action', {'os-getVNCConsole': {'type': 'novnc'}}),
    ('POST', '/action', {'os-getSPICEConsole': {'type': 'spice-html5'}}),
    ('POST', '/action', {'os-getSerialConsole': {'type': 'serial'}}),
    ('POST', '/action', {'createImage': {'name': 'made'}}),
    ('POST', '/action', {'rebuild': {'imageRef': '{image}'}}),
    ('POST', '/action', {'evacuate': {'onSharedStorage': False}}),
    ('POST', '/action', {'evacuate': {'onSharedStorage': False, 'host': '{other_host}'}}),
    ('POST', '/action',
     {'os-migrateLive': {'host': None, 'block_migration': False, 'disk_over_commit': False}}),
    ('POST', '/action',
     {'os-migrateLive':
      {'host': '{other_host}', 'block_migration': False, 'disk_over_commit': False}}),
    ('POST', '/action', {'addFixedIp': {'networkId': '{network}'}}),
    ('POST', '/action', {'addFixedIp': {'networkId': _UNKNOWN}}),
    ('POST', '/action', {'removeFixedIp': {'address': '1.2.3.4'}}),
    ('POST', '/action', {'removeFloatingIp': {'address': '1.2.3.4'}}),
    ('PUT', '', {'server': {'name': 'renamed'}}),
    ('GET', '/os-volume_attachments', None),
    ('POST', '/os-volume_attachments', {'volumeAttachment': {'volumeId': '{volume}'}}),
    ('GET', '/os-virtual-interfaces', None),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Case:
    """A request in a state. path: below /servers/{id}; minor: of its microversion"""

    state: str
    user: str
    method: str
    path: str
    body: Body
    minor: int

    def __str__(self) -> str:
        body = '' if self.body is None else f' {json.dumps(self.body)}'
        return f'{self.user} {self.method} {self.path or "/"}{body} 2.{self.minor}'

    @property
    def changes(self) -> bool:
        """Return whether the request may change the server."""
        return self.method != 'GET'

    def needs(self, name: str) -> bool:
        """Return whether the request has an object of the cloud."""
        return f'{{{name}}}' in f'{self.path}{json.dumps(self.body)}'


def every(states: Sequence[str] = EVERY) -> Iterator[Case]:
    """Yield all cases of some states."""
    for state in states:
        if state == NO_SERVER:
            yield from (Case(state, ADMIN, 'GET', path, None, minor) for path, minor in _reads())
            continue
        for user in (OWNER, ADMIN):
            for requests, minor in ((REQUESTS, NEWEST), (OLD, 1)):
                for method, path, body in requests:
                    yield Case(state, user, method, path, body, minor)


def _reads() -> Iterator[tuple[str, int]]:
    for minor in (32, 33, 52, 53, 87, 88):
        for name in ('hypervisor_uuid', 'hypervisor_number', 'hypervisor_name', 'unknown'):
            for path in ('/os-hypervisors', '/os-hypervisors/detail'):
                yield f'{path}?limit=2&marker={{{name}}}', minor
            for end in ('', '/uptime', '/servers', '/search', '?with_servers=1'):
                yield f'/os-hypervisors/{{{name}}}{end}', minor
        for marker in ('0', '-1', '1.5', '999999', 'x', '', '%20'):
            yield f'/os-hypervisors?marker={marker}', minor


def chosen(number: int | None, seed: int, states: Sequence[str] = EVERY) -> list[Case]:
    """Return a sample of the cases: of each state alike. number: None for all"""
    cases = list(every(states))
    if number is None or number >= len(cases):
        return cases
    if not number:
        return []
    chance = runtime.seeded_random(seed)
    share, found = max(1, number // len(states)), []
    for state in states:
        own = [case for case in cases if case.state == state]
        found += chance.sample(own, min(share, len(own)))
    return found
