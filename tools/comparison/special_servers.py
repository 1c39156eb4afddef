"""Servers with something special in several states, and what users then ask of them.

The cases of tools.judge_answers with --special. A state is named KIND/STATE. Kinds that the hosts
of one cloud cannot run (NUMA nodes, devices, traits, bandwidth) are left out. Texts such as {image}
stand for objects of a cloud, see tools.comparison.creation_objects.
"""

from collections.abc import Iterator
import dataclasses
import typing

from nova_lite import runtime
from tools.comparison import answer_cases
from tools.comparison import creation_devices

Fields: typing.TypeAlias = dict[str, typing.Any]
NEWEST, OWNER, ADMIN = answer_cases.NEWEST, answer_cases.OWNER, answer_cases.ADMIN
SEPARATOR = '/'
# Cases of one state in a sample.
BATCH = 12


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of servers.

    fields, hints: of the request; without: states that it does not have
    """

    fields: Fields
    hints: Fields = dataclasses.field(default_factory=dict)
    without: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    # An image snapshot of such a server is not needed to shelve it.
    'volume': Kind(
        {'imageRef': '', 'block_device_mapping_v2': [creation_devices.ROOT_VOLUME]},
        without=('shelved',),
    ),
    'data': Kind(
        {
            'block_device_mapping_v2': [
                creation_devices.LOCAL_ROOT,
                {**creation_devices.BLANK_VOLUME, 'delete_on_termination': True, 'tag': 'a'},
            ]
        }
    ),
    # No flavor has as large an ephemeral disk.
    'swap': Kind({'flavorRef': '{swap_flavor}'}, without=('resized',)),
    'together': Kind({}, {'group': '{group}'}),
    'apart': Kind({}, {'group': '{apart_group}'}),
    'tagged': Kind({'tags': ['a', 'b'], 'networks': [{'uuid': '{network}', 'tag': 'nic'}]}),
    'certified': Kind({'trusted_image_certificates': ['a']}),
    'bare': Kind({'networks': 'none'}),
    'wired': Kind({'networks': [{'uuid': '{network}'}, {'uuid': '{other_network}'}]}),
    'keyed': Kind({'key_name': 'known', 'user_data': 'YQ==', 'config_drive': True}),
    'named': Kind({'hostname': 'named', 'availability_zone': 'nova'}),
}
_LOCK: answer_cases.Step = ('action', {'lock': {}}, '')
_BASES = (
    'active', 'stopped', 'paused', 'suspended', 'rescued', 'shelved', 'offloaded', 'error', 'resized',
)  # fmt: skip
_LOCKED = 'locked-'
STATES = (*_BASES, *(f'{_LOCKED}{base}' for base in _BASES))


def steps(state: str) -> tuple[Kind, tuple[answer_cases.Step, ...]]:
    """Return the kind of the servers of a state KIND/STATE, and the steps to it."""
    name, _separator, base = state.partition(SEPARATOR)
    kind = KINDS[name]
    found = answer_cases.STATES[base.removeprefix(_LOCKED)]
    if 'shelved' in kind.without and base.endswith('offloaded'):
        found = answer_cases.STATES['volume-offloaded']
    if base.startswith(_LOCKED):
        found = (*found, (*_LOCK[:2], found[-1][2] if found else 'ACTIVE'))
    return kind, found


_IMAGE, _RAW = {'imageRef': '{image}'}, {'imageRef': '{raw_image}'}
_OLD_LIVE = {'host': None, 'block_migration': False, 'disk_over_commit': False}
_LIVE = {'host': None, 'block_migration': 'auto'}
_HOST = {'host': '{other_host}'}
_NAMED = {'name': 'made'}
_BACKUP = {'name': 'made', 'backup_type': 'daily', 'rotation': 1}
# (action, content, microversions).
ACTIONS: tuple[tuple[str, object, tuple[int, ...]], ...] = (
    ('rebuild', _IMAGE, (1, 19, 54, 57, 63, 90, 93, 94)),
    ('rebuild', _RAW, (1, 92, 93, 96)),
    ('rebuild', {**_IMAGE, 'trusted_image_certificates': ['b']}, (62, 63)),
    ('rebuild', {**_IMAGE, 'trusted_image_certificates': None}, (62, 63)),
    ('rebuild', {**_IMAGE, 'preserve_ephemeral': True}, (1, 96)),
    ('rebuild', {**_IMAGE, 'personality': []}, (1, 56, 57)),
    ('rebuild', {**_IMAGE, 'hostname': 'again'}, (89, 90)),
    ('rebuild', {**_IMAGE, 'description': None, 'metadata': {}}, (18, 19)),
    ('rebuild', {'imageRef': '{large_image}'}, (96,)),
    ('rebuild', {'imageRef': '{tall_image}'}, (96,)),
    ('rebuild', {'imageRef': '{queued_image}'}, (96,)),
    ('rebuild', {'imageRef': ''}, (1, 96)),
    ('resize', {'flavorRef': '{other_flavor}'}, (1, 80)),
    *(
        ('resize', {'flavorRef': f'{{{word}}}'}, (96,))
        for word in ('swap_flavor', 'numa_flavor', 'flat_flavor', 'private_flavor', 'pci_flavor',
                     'pinned_flavor', 'trait_flavor')
    ),
    ('resize', {'flavorRef': '{other_flavor}', 'OS-DCF:diskConfig': 'MANUAL'}, (1, 96)),
    ('confirmResize', None, (1,)),
    ('revertResize', None, (1,)),
    ('migrate', None, (1, 55)),
    ('migrate', _HOST, (55, 56)),
    ('os-migrateLive', _OLD_LIVE, (1, 24)),
    ('os-migrateLive', _LIVE, (25, 30, 34, 67, 68)),
    ('os-migrateLive', {**_LIVE, **_HOST}, (25, 30, 34, 68)),
    ('os-migrateLive', {**_LIVE, **_HOST, 'force': True}, (29, 30, 67, 68)),
    ('os-migrateLive', {'host': None, 'block_migration': True}, (96,)),
    ('os-migrateLive', {'host': None, 'block_migration': False}, (96,)),
    ('evacuate', {'onSharedStorage': False}, (1, 13, 14)),
    ('evacuate', {}, (14, 29, 68, 95)),
    ('evacuate', {**_HOST, 'force': True}, (28, 29, 67, 68)),
    ('unshelve', None, (1, 76, 77, 91)),
    ('unshelve', {'availability_zone': 'nova'}, (76, 77)),
    ('unshelve', _HOST, (90, 91)),
    ('shelve', None, (1,)),
    ('shelveOffload', None, (1,)),
    ('lock', None, (1, 73)),
    ('lock', {'locked_reason': 'x'}, (72, 73)),
    ('unlock', None, (1,)),
    ('rescue', {'adminPass': 'x'}, (1, 86, 87)),
    ('rescue', {'rescue_image_ref': '{raw_image}'}, (1, 87)),
    ('rescue', {'rescue_image_ref': '{queued_image}'}, (1,)),
    ('unrescue', None, (1,)),
    ('createImage', _NAMED, (1, 44, 45)),
    ('createImage', {**_NAMED, 'metadata': {'a': 256 * 'v'}}, (1, 96)),
    ('createBackup', _BACKUP, (1, 44, 45)),
    ('createBackup', {**_BACKUP, 'rotation': '0'}, (96,)),
    ('createBackup', {**_BACKUP, 'rotation': -1}, (1,)),
    ('reboot', {'type': 'soft'}, (1,)),
    ('changePassword', {'adminPass': ''}, (1,)),
    ('trigger_crash_dump', None, (16, 17)),
    ('addFloatingIp', {'address': '192.0.2.7'}, (1, 43, 44)),
    ('addFixedIp', {'networkId': '{other_network}'}, (1, 43, 44)),
    ('os-getVNCConsole', {'type': 'novnc'}, (1, 5, 6)),
    ('os-getConsoleOutput', {'length': '5'}, (1,)),
    ('os-resetState', {'state': 'x'}, (1,)),
    ('unknown', None, (1, 96)),
)  # fmt: skip
# Contents with which most actions are refused.
BAD: tuple[object, ...] = ('x', {'unknown': 1}, [], 1)
_VOLUME = {'volumeAttachment': {'volumeId': '{volume}'}}
_TAG, _DELETED = {'tag': 'a'}, {'delete_on_termination': True}
_PORT = {'interfaceAttachment': {'port_id': '{other_port}'}}
# (method, path, body, microversions).
OTHERS: tuple[tuple[str, str, Fields | None, tuple[int, ...]], ...] = (
    ('GET', '', None, (1, 3, 9, 16, 19, 26, 47, 63, 71, 73, 75, 90, 96)),
    ('GET', '/topology', None, (77, 78)),
    ('DELETE', '', None, (1,)),
    ('POST', '/os-volume_attachments', _VOLUME, (1, 59, 60)),
    ('POST', '/os-volume_attachments',
     {'volumeAttachment': {'volumeId': '{volume}', **_TAG}}, (48, 49)),
    ('POST', '/os-volume_attachments',
     {'volumeAttachment': {'volumeId': '{volume}', **_DELETED}}, (78, 79)),
    ('POST', '/os-volume_attachments',
     {'volumeAttachment': {'volumeId': '{volume}', 'device': '/dev/vda'}}, (1,)),
    ('PUT', '/os-volume_attachments/{attached}', _VOLUME, (1, 84, 85)),
    ('PUT', '/os-volume_attachments/{attached}',
     {'volumeAttachment': {'volumeId': '{attached}', **_DELETED}}, (84, 85)),
    ('DELETE', '/os-volume_attachments/{attached}', None, (1,)),
    ('GET', '/os-volume_attachments', None, (1, 70, 79, 89)),
    ('GET', '/os-volume_attachments/{attached}', None, (1, 70, 79, 89)),
    ('POST', '/os-interface', {'interfaceAttachment': {'net_id': '{other_network}'}}, (1, 49)),
    ('POST', '/os-interface',
     {'interfaceAttachment': {'net_id': '{other_network}', **_TAG}}, (48, 49)),
    ('POST', '/os-interface', _PORT, (1,)),
    ('POST', '/os-interface', {'interfaceAttachment': {'port_id': '{foreign_port}'}}, (1,)),
    ('POST', '/os-interface', {'interfaceAttachment': {'port_id': '{used_port}'}}, (1,)),
    ('POST', '/os-interface', {'interfaceAttachment': {'port_id': '{direct_port}'}}, (1,)),
    ('POST', '/os-interface',
     {'interfaceAttachment': {'net_id': '{network}',
                              'fixed_ips': [{'ip_address': '{used_ip}'}]}}, (1,)),
    ('DELETE', '/os-interface/{port}', None, (1,)),
    ('GET', '/os-interface', None, (1, 70)),
    ('PUT', '', {'server': {'description': 'x'}}, (18, 19)),
    ('PUT', '', {'server': {'hostname': 'x1'}}, (89, 90)),
    ('PUT', '', {'server': {'OS-DCF:diskConfig': 'MANUAL'}}, (1,)),
    ('PUT', '/tags', {'tags': ['c']}, (25, 26)),
    ('DELETE', '/tags/a', None, (26,)),
)  # fmt: skip


def states() -> list[str]:
    """Return the states as KIND/STATE."""
    return [
        f'{name}{SEPARATOR}{base}'
        for name, kind in KINDS.items()
        for base in STATES
        if base.removeprefix(_LOCKED) not in kind.without
    ]


def of_state(state: str) -> Iterator[answer_cases.Case]:
    """Yield the cases of a state."""
    for method, path, body, minor in _requests():
        for user in (OWNER, ADMIN):
            yield answer_cases.Case(state, user, method, path, body, minor)


def _requests() -> Iterator[tuple[str, str, answer_cases.Body, int]]:
    for method, path, body in answer_cases.REQUESTS:
        yield method, path, body, NEWEST
    for action, content, minors in ACTIONS:
        for minor in minors:
            yield 'POST', '/action', {action: content}, minor
    for method, path, body, minors in OTHERS:
        for minor in minors:
            yield method, path, body, minor
    for action in answer_cases.ACTIONS:
        for content in BAD:
            yield 'POST', '/action', {action: content}, NEWEST


def chosen(number: int, seed: int) -> list[answer_cases.Case]:
    """Return so many cases, BATCH of each state: a server serves until a request changes it."""
    chance = runtime.seeded_random(seed)
    wanted = states()
    chance.shuffle(wanted)
    found: list[answer_cases.Case] = []
    for state in wanted[: -(-number // BATCH)]:
        found += chance.sample(list(of_state(state)), min(BATCH, number - len(found)))
    return found
