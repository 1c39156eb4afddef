"""The objects that the cases of tools.comparison.creation_cases name, in one cloud."""

from collections.abc import Mapping
import functools
import json
import typing

from nova_lite import exception
from tools.comparison import answer_cloud

Body: typing.TypeAlias = typing.Any
HOST, OTHER_HOST = 'cell1-host1', 'cell1-host2'
CIDRS = {'other_network': '192.0.2.0/25', 'foreign_network': '192.0.2.128/25'}
FREE, USED = 77, 78
# {word: (name, memory, CPUs, disk, further fields, extra specs)}
FLAVORS: dict[str, tuple[Body, Body]] = {
    'flat_flavor': ({'ram': 64, 'vcpus': 1, 'disk': 0}, {}),
    'swap_flavor': (
        {'ram': 64, 'vcpus': 1, 'disk': 1, 'swap': 512, 'OS-FLV-EXT-DATA:ephemeral': 2},
        {},
    ),
    'numa_flavor': ({'ram': 64, 'vcpus': 2, 'disk': 1}, {'hw:numa_nodes': '2'}),
    'pinned_flavor': ({'ram': 64, 'vcpus': 2, 'disk': 1}, {'hw:cpu_policy': 'dedicated'}),
    'private_flavor': (
        {'ram': 64, 'vcpus': 1, 'disk': 1, 'os-flavor-access:is_public': False},
        {},
    ),
    'pci_flavor': ({'ram': 64, 'vcpus': 1, 'disk': 1}, {'pci_passthrough:alias': 'gpu:1'}),
    'trait_flavor': ({'ram': 64, 'vcpus': 1, 'disk': 1}, {'trait:CUSTOM_A': 'required'}),
}
# {word: (whether the administrator owns it, fields)}
IMAGES: dict[str, tuple[bool, Body]] = {
    'raw_image': (False, {}),
    'large_image': (False, {'min_disk': 5}),
    'tall_image': (False, {'min_ram': 4096}),
    'foreign_image': (True, {'visibility': 'private'}),
    'mapped_image': (
        False,
        {
            'bdm_v2': 'True',
            'block_device_mapping': json.dumps(
                [{'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1,
                  'boot_index': 0}]
            ),
        },
    ),
}  # fmt: skip
PORTS: dict[str, Body] = {
    'port': {},
    'other_port': {},
    'used_port': {},
    'bare_port': {'fixed_ips': []},
    'secured_port': {'port_security_enabled': False, 'security_groups': []},
    'direct_port': {'binding:vnic_type': 'direct'},
    'macvtap_port': {'binding:vnic_type': 'macvtap'},
    'physical_port': {'binding:vnic_type': 'direct-physical'},
    'smart_port': {'binding:vnic_type': 'smart-nic'},
    'accelerator_port': {'binding:vnic_type': 'accelerator-direct'},
}
# Volumes that a request may use: replaced when a request has taken them.
VOLUMES = 'volume', 'boot_volume', 'foreign_volume'
# All words that Objects knows.
WORDS = (
    *FLAVORS, *IMAGES, *PORTS, *VOLUMES, *CIDRS, 'host', 'node', 'other_node', 'zone', 'group',
    'apart_group', 'foreign_group', 'server', 'queued_image', 'empty_network', 'external_network',
    'gateway_ip', 'network_ip', 'free_ip', 'used_ip', 'foreign_port', 'bandwidth_port',
    'security_group', 'foreign_group_id', 'used_volume', 'snapshot', 'volume_type',
    'volume_type_name',
)  # fmt: skip
# Words that mean other objects in tools.comparison.answer_cases.
OWN = ('volume', 'port', 'server')


class Objects:
    """Words of cases with the ids that they stand for in a cloud."""

    def __init__(self, cloud: answer_cloud.Cloud) -> None:
        self._cloud = cloud
        self._owner, self._admin = cloud.owner.connection, cloud.admin.connection
        self._words: dict[str, str] = {
            **cloud.words,
            'host': HOST,
            'node': HOST,
            'other_node': OTHER_HOST,
            'zone': answer_cloud.DOWN_ZONE,
        }
        self._make_flavors()
        self._make_images()
        self._make_networks()
        self._choose_addresses()
        self._make_ports()
        self._make_groups()
        self._make_volumes()
        self._words['server'] = self._make_server()
        # Those that the cloud makes for each request are not learned.
        cloud.learn({key: id for key, id in self._words.items() if key not in OWN})

    def fill(self, body: Body) -> Body:
        """Return a body with ids in place of words, whose volumes are available."""
        text = json.dumps(body)
        for word in VOLUMES:
            if f'{{{word}}}' in text:
                self._refresh(word)
        for word, value in self._words.items():
            text = text.replace(f'{{{word}}}', value)
        return json.loads(text)

    def _refresh(self, word: str) -> None:
        # Servers may delete their volumes.
        storage = self._admin.block_storage if word == 'foreign_volume' else self._storage
        found = storage.find_volume(self._words[word], ignore_missing=True)
        if found is None or found.status != 'available':
            self._words[word] = self._new_volume(word)

    # ---- nova's own ----

    def _make_flavors(self) -> None:
        for word, (fields, specs) in FLAVORS.items():
            wanted = {'name': word, **fields}
            made = self._cloud.admin.call('POST', '/flavors', {'flavor': wanted})['flavor']
            self._words[word] = made['id']
            if specs:
                # Before 2.86 the values are not checked.
                path = f'/flavors/{made["id"]}/os-extra_specs'
                self._cloud.admin.call('POST', path, {'extra_specs': specs}, minor=85)

    def _make_groups(self) -> None:
        for word, caller, policy in (
            ('group', self._cloud.owner, 'soft-affinity'),
            ('apart_group', self._cloud.owner, 'anti-affinity'),
            ('foreign_group', self._cloud.admin, 'soft-affinity'),
        ):
            body = {'server_group': {'name': word, 'policy': policy}}
            made = caller.call('POST', '/os-server-groups', body)['server_group']
            self._words[word] = made['id']
        for caller in (self._cloud.owner, self._cloud.admin):
            caller.call('POST', '/os-keypairs', {'keypair': {'name': 'known'}}, minor=1)

    def _make_server(self) -> str:
        """Create a server with the port and the volume that are in use; return its id."""
        uuid = self._cloud.create(networks=[{'port': self._words['used_port']}])
        self._cloud.wait(uuid, 'ACTIVE')
        body = {'volumeAttachment': {'volumeId': self._words['used_volume']}}
        self._cloud.owner.call('POST', f'/servers/{uuid}/os-volume_attachments', body)
        volume = self._storage.get_volume(self._words['used_volume'])
        self._storage.wait_for_status(
            volume, 'in-use', interval=answer_cloud.POLL_S, wait=answer_cloud.WAIT_S
        )
        return uuid

    # ---- of the neighbours ----

    def _make_images(self) -> None:
        for word, (foreign, fields) in IMAGES.items():
            service = (self._admin if foreign else self._owner).image
            made = _made(service, '/images', {'name': word, **_RAW, **fields})
            headers = {'Content-Type': 'application/octet-stream'}
            answer = service.put(f'/images/{made["id"]}/file', data=b'x', headers=headers)
            _require(answer, 'image file')
            self._words[word] = made['id']
        made = _made(self._owner.image, '/images', {'name': 'queued', **_RAW})
        self._words['queued_image'] = made['id']

    def _make_networks(self) -> None:
        owned = dict.fromkeys(('other_network', 'empty_network'), self._owner)
        for word, connection in {**owned, 'foreign_network': self._admin}.items():
            network = _made(connection.network, '/networks', {'network': {'name': word}})['network']
            self._words[word] = network['id']
            if word in CIDRS:
                subnet = {'network_id': network['id'], 'cidr': CIDRS[word], 'ip_version': 4}
                _made(connection.network, '/subnets', {'subnet': subnet})
        outside = next(iter(self._admin.network.networks(is_router_external=True)))
        self._words['external_network'] = str(outside.id)

    def _choose_addresses(self) -> None:
        service: typing.Any = self._owner.network
        subnet = next(iter(service.subnets(network_id=self._words['network'], ip_version=4)))
        start = str(subnet.cidr).partition('/')[0]
        stem = start.rpartition('.')[0]
        self._words |= {
            'gateway_ip': str(subnet.gateway_ip),
            'network_ip': start,
            'free_ip': f'{stem}.{FREE}',
            'used_ip': f'{stem}.{USED}',
        }

    def _make_ports(self) -> None:
        for word, fields in PORTS.items():
            if word == 'used_port':
                fields = {'fixed_ips': [{'ip_address': self._words['used_ip']}]}
            self._words[word] = self._port(self._owner, 'network', fields)
        self._words['foreign_port'] = self._port(self._admin, 'foreign_network', {})
        policy = {'policy': {'name': 'bandwidth', 'shared': True}}
        made = _made(self._admin.network, '/qos/policies', policy)['policy']
        rule = {'minimum_bandwidth_rule': {'min_kbps': 1000, 'direction': 'egress'}}
        _made(self._admin.network, f'/qos/policies/{made["id"]}/minimum_bandwidth_rules', rule)
        self._words['bandwidth_port'] = self._port(
            self._owner, 'network', {'qos_policy_id': made['id']}
        )
        for word, connection, names in (
            ('security_group', self._owner, ('single', 'twice', 'twice')),
            ('foreign_group_id', self._admin, ('foreign',)),
        ):
            for name in reversed(names):
                body = {'security_group': {'name': name}}
                group = _made(connection.network, '/security-groups', body)['security_group']
                self._words[word] = group['id']

    def _port(self, connection: typing.Any, network: str, fields: Body) -> str:
        port = {'network_id': self._words[network], **fields}
        return str(_made(connection.network, '/ports', {'port': port})['port']['id'])

    @functools.cached_property
    def _storage(self) -> typing.Any:
        return self._owner.block_storage

    def _make_volumes(self) -> None:
        for word in (*VOLUMES, 'used_volume'):
            self._words[word] = self._new_volume(word)
        source = self._new_volume('boot_volume')
        snapshot = self._storage.create_snapshot(volume_id=source)
        self._storage.wait_for_status(
            snapshot, 'available', interval=answer_cloud.POLL_S, wait=answer_cloud.WAIT_S
        )
        kind = next(iter(self._storage.types()))
        self._words |= {
            'snapshot': str(snapshot.id),
            'volume_type': str(kind.id),
            'volume_type_name': str(kind.name),
        }

    def _new_volume(self, word: str) -> str:
        image = self._words['image'] if word == 'boot_volume' else None
        return self._cloud.volume(image, foreign=word == 'foreign_volume')


_RAW: Mapping[str, str] = {'container_format': 'bare', 'disk_format': 'raw'}


def _made(service: typing.Any, path: str, body: Body) -> Body:
    answer = service.post(path, json=body)
    _require(answer, path)
    return answer.json()


def _require(answer: typing.Any, what: str) -> None:
    if answer.status_code >= 400:
        raise exception.Conflict(reason=f'{what}: {answer.status_code} {answer.text[:300]}')
