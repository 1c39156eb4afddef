"""Values of the parts of `POST /servers`, for tools.comparison.creation_cases.

Texts such as {network} stand for objects of a cloud, see tools.comparison.creation_objects.
"""

import base64
from collections.abc import Mapping
import typing

# Removes a field that each request has.
ABSENT = '{absent}'
# Fields of `server`.
Fields: typing.TypeAlias = Mapping[str, object]


def _each(name: str, *values: object) -> tuple[Fields, ...]:
    return tuple({name: value} for value in values)


def _text(size: int) -> str:
    return base64.b64encode(size * b'x').decode()


_NET: Fields = {'uuid': '{network}'}
_OTHER_NET: Fields = {'uuid': '{other_network}'}
_PORT: Fields = {'port': '{port}'}
_FILE: Fields = {'path': '/a', 'contents': _text(3)}
NETWORKS: tuple[object, ...] = (
    ABSENT, 'none', 'auto', 'x', '', None, [],
    [_NET], [_NET, _OTHER_NET], [_NET, _NET], [{}], ['x'],
    *([{'uuid': text}] for text in (
        '{unknown}', '{foreign_network}', '{empty_network}', '{external_network}', 'x', '', None,
        'br-{network}',
    )),
    *([{'port': text}] for text in (
        '{port}', '{foreign_port}', '{used_port}', '{bare_port}', '{direct_port}', '{macvtap_port}',
        '{bandwidth_port}', '{unknown}', 'x', '', None, '{physical_port}', '{smart_port}',
        '{accelerator_port}', '{secured_port}',
    )),
    [_PORT, _NET], [_NET, _PORT], [_PORT, _PORT], [_PORT, {'port': '{other_port}'}],
    [_PORT, {'port': '{unknown}'}], [{'uuid': '{unknown}'}, {'port': '{unknown}'}],
    [{'port': None, 'uuid': '{network}'}], [{'port': '{port}', 'uuid': '{other_network}'}],
    [{'port': '{port}', 'uuid': '{unknown}'}], [{'port': '{port}', 'fixed_ip': '{free_ip}'}],
    *([{'uuid': '{network}', 'fixed_ip': text}] for text in (
        '{free_ip}', '{used_ip}', '{gateway_ip}', '192.0.2.1', '::1', 'x', '', None, '{network_ip}',
    )),
    [{'uuid': '{empty_network}', 'fixed_ip': '{free_ip}'}], [{'fixed_ip': '{free_ip}'}],
    [{'uuid': '{network}', 'fixed_ip': '{free_ip}'}] * 2,
    *([{'uuid': '{network}', 'tag': text}] for text in ('a', '', 'a,b', 60 * 't', 61 * 't', None)),
    [{'port': '{port}', 'tag': 'a'}], [{'uuid': '{network}', 'tag': 'a'}] * 2,
    [{'uuid': '{network}', 'unknown': 1}], 30 * [_NET],
)  # fmt: skip
_HOST, _NODE = '{host}', '{node}'
# {dimension: fields of `server` that it may have}. Each has one value in a request.
SERVER: dict[str, tuple[Fields, ...]] = {
    'networks': _each('networks', *NETWORKS),
    'image': _each(
        'imageRef', ABSENT, '', '{unknown}', 'x', None, '{large_image}', '{raw_image}',
        'http://x/images/{image}', '{foreign_image}', '{queued_image}', '{mapped_image}',
        '{tall_image}', 1,
    ),
    'flavor': _each(
        'flavorRef', ABSENT, '', '{unknown}', 'x', None, 1, '{flat_flavor}', '{huge_flavor}',
        '{swap_flavor}', '{numa_flavor}', '{private_flavor}', 'http://x/flavors/{flavor}', '{pci_flavor}',
        '{other_flavor}', '{trait_flavor}',
    ),
    'count': (
        {'min_count': 2}, {'max_count': 2}, {'min_count': '2'}, {'min_count': 0}, {'max_count': -1},
        {'min_count': 3, 'max_count': 2}, {'min_count': 1, 'max_count': '3'}, {'min_count': ''},
        {'max_count': 'x'}, {'max_count': 1.5}, {'min_count': None}, {'min_count': 1, 'max_count': 1},
        {'min_count': 12}, {'min_count': 1, 'max_count': 12},
    ),
    'reservation': _each(
        'return_reservation_id', True, 'true', 'yes', '1', False, '', 'x', None, 1,
    ),
    'user_data': _each(
        'user_data', '', 'YQ==', 'YQ', '*', 'Y Q = =', 'YQ==\n', None, 1, _text(49149), _text(49152),
        65536 * 'A',
    ),
    'personality': _each(
        'personality', [], [_FILE], [_FILE, _FILE], [{'path': '/a'}], [{'contents': 'YQ=='}],
        [{**_FILE, 'contents': '*'}], 5 * [_FILE], 6 * [_FILE], [{**_FILE, 'path': 255 * 'p'}],
        [{**_FILE, 'path': 256 * 'p'}], [{**_FILE, 'contents': _text(10240)}],
        [{**_FILE, 'contents': _text(10242)}], [{**_FILE, 'path': ''}], {}, None,
    ),
    'config_drive': _each('config_drive', True, False, 'true', 'yes', 'x', '', None, 1, '0'),
    'tags': _each(
        'tags', [], ['a'], ['a', 'b'], ['a', 'a'], ['a,b'], ['a/b'], [''], [60 * 't'], [61 * 't'],
        [f't{number}' for number in range(50)], [f't{number}' for number in range(51)], [1], None,
    ),
    'certificates': _each(
        'trusted_image_certificates', None, [], ['a'], ['a', 'b'], ['a', 'a'], [''], 'a', [1],
        [f'c{number}' for number in range(50)], [f'c{number}' for number in range(51)], [300 * 'c'],
    ),
    'hostname': _each(
        'hostname', 'a', 'ab', 'a-b', 'a.b', 'a_b', 'A', '-a', 'a-', 63 * 'h', 64 * 'h', 255 * 'h',
        256 * 'h', '', None, 'ä', '1', ' a',
    ),
    'zone': _each(
        'availability_zone', 'nova', 'unknown', '{zone}', f'nova:{_HOST}', 'nova:unknown',
        f'unknown:{_HOST}', f'nova:{_HOST}:{_NODE}', f'nova::{_NODE}', f'nova:{_HOST}:unknown',
        'nova::unknown', f':{_HOST}', f'::{_NODE}', 'a:b:c:d', 'nova:', 'nova::', ':', '', None, ' nova', 1,
        f'{{zone}}:{_HOST}', 'Nova', 'internal', f'nova:unknown:{_NODE}', 255 * 'z', 256 * 'z',
    ),
    'host': (
        {'host': _HOST}, {'host': 'unknown'}, {'host': ''}, {'host': None}, {'host': 'a b'},
        {'hypervisor_hostname': _NODE}, {'hypervisor_hostname': 'unknown'},
        {'hypervisor_hostname': ''}, {'host': _HOST, 'hypervisor_hostname': _NODE},
        {'host': _HOST, 'hypervisor_hostname': 'unknown'},
        {'host': 'unknown', 'hypervisor_hostname': _NODE},
        {'host': _HOST, 'hypervisor_hostname': '{other_node}'},
    ),
    'security_groups': _each(
        'security_groups', [], [{}], [{'name': 'default'}], 2 * [{'name': 'default'}],
        [{'name': 'unknown'}], [{'name': '{unknown}'}], [{'name': '{security_group}'}],
        [{'name': 'twice'}], [{'name': '{foreign_group_id}'}], [{'name': ''}], [{'name': None}], 'x',
        None, [{'name': 'default'}, {'name': 'unknown'}], [{'name': 'default', 'x': 1}],
        [{'name': 'single'}, {'name': '{security_group}'}], [{'name': ' default'}],
    ),
    'key': _each('key_name', 'known', 'unknown', '', None, 256 * 'k', ' known', 1),
    'metadata': _each(
        'metadata', {}, {'a': 'b'}, {'a': ''}, {'a': 1}, {'a': None}, {'': 'b'}, {255 * 'k': 'v'},
        {256 * 'k': 'v'}, {'k': 255 * 'v'}, {'k': 256 * 'v'}, [], None, 'x', {'ä': 'b'},
        {f'k{number}': 'v' for number in range(128)}, {f'k{number}': 'v' for number in range(129)},
    ),
    'password': _each('adminPass', 'x', '', None, 1, 256 * 'p'),
    'disk_config': _each('OS-DCF:diskConfig', 'AUTO', 'MANUAL', 'auto', '', None),
    'description': _each('description', 'x', '', None, 255 * 'd', 256 * 'd', ' x ', 'a\nb', 1),
    'address': (
        *_each('accessIPv4', '192.0.2.1', '', 'x', None, '::1', '192.0.2.1/24', '1.2.3'),
        *_each('accessIPv6', '2001:db8::1', '', 'x', None, '192.0.2.1', '2001:DB8:0::1'),
        {'accessIPv4': '192.0.2.1', 'accessIPv6': '::1'},
    ),
    'name': _each('name', 'a', ' a', 'a ', '', ' ', None, 255 * 'n', 256 * 'n', 1, 'ä', 'a\nb'),
    'unknown': ({'unknown': 1}, {'OS-SCH-HNT:scheduler_hints': {}}, {'networks_': []}),
}  # fmt: skip
_SERVERS: tuple[object, ...] = (
    '{server}', '{unknown}', 'x', '', None, [], ['{server}'], ['{server}', '{unknown}'],
    2 * ['{server}'], ['x'], {}, 1,
)  # fmt: skip
_HINTS: dict[str, tuple[object, ...]] = {
    'group': (
        '{group}', '{foreign_group}', '{unknown}', 'x', '', None, [], ['{group}'], 2 * ['{group}'],
        ['{group}', '{unknown}'], ['{unknown}', '{group}'], ['{foreign_group}'], {}, 1, 'judged',
        '{apart_group}',
    ),
    'same_host': _SERVERS,
    'different_host': _SERVERS,
    'query': (
        '[">=","$free_ram_mb",1]', '["="]', '[]', '', 'x', '{}', {'a': 'b'}, {}, None, 1,
        ['>=', '$free_ram_mb', 1], ['x'], '["unknown","$free_ram_mb",1]',
    ),
    'target_cell': ('cell1', '', None, 1, ['cell1'], 256 * 'c', ' a'),
    'different_cell': ('cell1', '', None, 1, ['cell1'], 2 * ['cell1'], [1], []),
    'build_near_host_ip': ('192.0.2.1', '::1', 'x', '', None, ['192.0.2.1']),
    'cidr': ('/24', '24', '/300', '/x', '', None, '/', '/ffff::', ['/24']),
    'unknown': ('x', '', None, 1, True, [], ['x'], 2 * ['x'], [1, None], {}, {'a': [1]}),
    'reservation': ('{unknown}', 'x', None),
    '_nova_check_type': (['rebuild'], 'rebuild', None),
    'hypervisor': ('x',),
    256 * 'u': ('x',),
    '': ('x',),
}  # fmt: skip
# Values of the hints.
HINTS: tuple[object, ...] = (
    *({name: value} for name, values in _HINTS.items() for value in values),
    {}, [], None, 'x',
    {'same_host': '{server}', 'different_host': '{server}'},
    {'build_near_host_ip': '192.0.2.1', 'cidr': '/24'},
    {'group': '{group}', 'different_host': '{server}'},
    {'group': '{unknown}', 'same_host': 'x'},
)  # fmt: skip
# {field or dimension: (first, last) microversion with it}
OFFERED = {
    'description': (19, None), 'tags': (52, None), 'personality': (1, 56), 'certificates': (63, None),
    'host': (74, None), 'hostname': (90, None),
}  # fmt: skip
