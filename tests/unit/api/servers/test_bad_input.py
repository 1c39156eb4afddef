"""Requests in which one value is wrong: 4xx at most, and a refused one leaves no row.

The same is run over MariaDB and PostgreSQL.
"""

import json

from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api import proxies
from nova_lite.db.api import flavors
from nova_lite.db.api import models as api_models
from nova_lite.db.api import quotas
from nova_lite.db.cell import models as cell_models
from tests.fixtures import api_neighbours
from tests.fixtures import bad_input
from tests.fixtures import database
from tests.fixtures import examples
from tests.fixtures import servers_api
from tests.unit.api.servers import base

SEED = 5
NEWEST = base.NEWEST
# How many wrong requests are sent of each kind: over SQLite fewer than over the databases
# that refuse what they cannot hold, each of which gets every second one of MANY. All would
# be tens of thousands.
FEW, MANY = 1, 4
UUID = 'd7a0f0a1-5f3e-4a39-9f8a-2d3d1c6d2f11'
KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFz0OBfcNdVk1XJkP7VVlbJvbMA1Y7pUM0pLvhG1vWn5 a@b'
# Locks that stay for the next request, and hold nothing.
LOCKS = ('quota_locks',)
SERVER = {
    'server': {
        'name': 'web',
        'flavorRef': '42',
        'imageRef': api_neighbours.IMAGE_ID,
        'networks': [{'uuid': api_neighbours.NETWORK_ID, 'tag': 'nic'}],
        'metadata': {'key': 'value'},
        'tags': ['tag'],
        'description': 'text',
        'hostname': 'web',
        'user_data': 'eA==',
        'key_name': 'key',
        'accessIPv4': '192.0.2.1',
        'security_groups': [{'name': 'default'}],
        'availability_zone': 'nova',
        'min_count': 1,
        'block_device_mapping_v2': [
            {
                'source_type': 'image',
                'destination_type': 'local',
                'uuid': api_neighbours.IMAGE_ID,
                'boot_index': 0,
                'tag': 'disk',
                'delete_on_termination': True,
            },
            {
                'source_type': 'blank',
                'destination_type': 'volume',
                'volume_size': 1,
                'volume_type': 'lvm',
                'guest_format': 'ext4',
                'device_type': 'disk',
                'disk_bus': 'virtio',
                'boot_index': -1,
            },
        ],
    },
    'os:scheduler_hints': {'different_host': [UUID], 'query': '[">=","$free_ram_mb",0]'},
}
OLD_SERVER = {
    'server': {
        'name': 'web',
        'flavorRef': '42',
        'imageRef': api_neighbours.IMAGE_ID,
        'personality': [{'path': '/a', 'contents': 'eA=='}],
        'adminPass': 'secret',
        'config_drive': True,
        'block_device_mapping_v2': [],
    }
}
FLAVOR = {
    'flavor': {
        'name': 'f',
        'id': 'f',
        'ram': 1,
        'vcpus': 1,
        'disk': 1,
        'OS-FLV-EXT-DATA:ephemeral': 1,
        'swap': 1,
        'rxtx_factor': 1.0,
        'os-flavor-access:is_public': True,
        'description': 'text',
    }
}
GROUP = {
    'server_group': {
        'name': 'g',
        'policy': 'anti-affinity',
        'rules': {'max_server_per_host': 2},
    }
}
QUOTA = {'quota_set': {'instances': 5, 'cores': 5, 'ram': 5, 'key_pairs': 1, 'force': True}}
EVENT = {'name': 'network-changed', 'server_uuid': UUID, 'tag': 'tag', 'status': 'completed'}
S = '/servers/{server}'
A = f'{S}/action'
# These wait for a saga, and no process runs it.
UNANSWERED = 'Timed out waiting for'
# Of the server of an action, where it is not ACTIVE on a host that is up.
STATES = {
    'evacuate': {'host': 'host3', 'node': 'host3'},
    'unshelve': {'vm_state': 'shelved_offloaded', 'host': None, 'node': None},
}
# (method, path, valid body, microversion)
REQUESTS = (
    ('POST', '/servers', SERVER, NEWEST),
    ('POST', '/servers', OLD_SERVER, '2.1'),
    ('PUT', S, {'server': {'name': 'n', 'description': 'd', 'hostname': 'h',
                           'accessIPv4': '192.0.2.1', 'accessIPv6': '2001:db8::1'}}, NEWEST),
    ('POST', f'{S}/metadata', {'metadata': {'k': 'v'}}, NEWEST),
    ('PUT', f'{S}/metadata', {'metadata': {'k': 'v'}}, NEWEST),
    ('PUT', f'{S}/metadata/k', {'meta': {'k': 'v'}}, NEWEST),
    ('PUT', f'{S}/tags', {'tags': ['t', 'u']}, NEWEST),
    ('POST', f'{S}/os-volume_attachments',
     {'volumeAttachment': {'volumeId': api_neighbours.VOLUME_ID, 'device': '/dev/vdb',
                           'tag': 't', 'delete_on_termination': True}}, NEWEST),
    ('POST', f'{S}/os-interface',
     {'interfaceAttachment': {'net_id': api_neighbours.NETWORK_ID, 'tag': 't',
                              'fixed_ips': [{'ip_address': '192.0.2.7'}]}}, NEWEST),
    ('POST', f'{S}/remote-consoles',
     {'remote_console': {'protocol': 'vnc', 'type': 'novnc'}}, NEWEST),
    ('POST', A, {'createImage': {'name': 'i', 'metadata': {'k': 'v'}}}, NEWEST),
    ('POST', A, {'createBackup': {'name': 'i', 'backup_type': 'daily', 'rotation': 1,
                                  'metadata': {'k': 'v'}}}, NEWEST),
    ('POST', A, {'os-getConsoleOutput': {'length': 5}}, NEWEST),
    ('POST', A, {'reboot': {'type': 'HARD'}}, NEWEST),
    ('POST', A, {'resize': {'flavorRef': '43', 'OS-DCF:diskConfig': 'AUTO'}}, NEWEST),
    ('POST', A, {'migrate': {'host': None}}, NEWEST),
    ('POST', A, {'os-migrateLive': {'host': None, 'block_migration': 'auto'}}, NEWEST),
    ('POST', A, {'evacuate': {'host': 'host1'}}, NEWEST),
    ('POST', A, {'rescue': {'adminPass': 'p', 'rescue_image_ref': api_neighbours.IMAGE_ID}},
     NEWEST),
    ('POST', A, {'rebuild': {'imageRef': api_neighbours.IMAGE_ID, 'name': 'n', 'adminPass': 'p',
                             'metadata': {'k': 'v'}, 'preserve_ephemeral': True,
                             'OS-DCF:diskConfig': 'AUTO', 'accessIPv4': '192.0.2.1',
                             'accessIPv6': '2001:db8::1', 'description': 'd',
                             'key_name': 'key', 'user_data': 'eA==',
                             'trusted_image_certificates': ['c'], 'hostname': 'h'}}, NEWEST),
    ('POST', A, {'rebuild': {'imageRef': api_neighbours.IMAGE_ID,
                             'personality': [{'path': '/a', 'contents': 'eA=='}]}}, '2.1'),
    ('POST', A, {'lock': {'locked_reason': 'r'}}, NEWEST),
    ('POST', A, {'os-resetState': {'state': 'active'}}, NEWEST),
    ('POST', A, {'unshelve': {'availability_zone': 'nova', 'host': 'host1'}}, NEWEST),
    ('POST', '/flavors', FLAVOR, '2.74'),
    ('PUT', '/flavors/42', {'flavor': {'description': 'd'}}, NEWEST),
    ('POST', '/flavors/42/os-extra_specs', {'extra_specs': {'hw:cpu_policy': 'shared'}}, NEWEST),
    ('POST', '/flavors/42/os-extra_specs', {'extra_specs': {'a': 'b'}}, '2.1'),
    ('PUT', '/flavors/42/os-extra_specs/a', {'a': 'b'}, '2.1'),
    ('POST', '/flavors/43/action', {'addTenantAccess': {'tenant': 'alpha'}}, NEWEST),
    ('POST', '/flavors/43/action', {'removeTenantAccess': {'tenant': 'alpha'}}, NEWEST),
    ('POST', '/os-aggregates', {'aggregate': {'name': 'n', 'availability_zone': 'z'}}, NEWEST),
    ('PUT', '/os-aggregates/{aggregate}', {'aggregate': {'name': 'm', 'availability_zone': 'z'}},
     NEWEST),
    ('POST', '/os-aggregates/{aggregate}/action', {'set_metadata': {'metadata': {'k': 'v'}}},
     NEWEST),
    ('POST', '/os-aggregates/{aggregate}/action', {'add_host': {'host': 'empty'}}, NEWEST),
    ('POST', '/os-aggregates/{aggregate}/action', {'remove_host': {'host': 'empty'}}, NEWEST),
    ('POST', '/os-aggregates/{aggregate}/images', {'cache': [{'id': api_neighbours.IMAGE_ID}]}, NEWEST),
    ('POST', '/os-server-groups', GROUP, NEWEST),
    ('POST', '/os-server-groups', {'server_group': {'name': 'g', 'policies': ['affinity']}},
     '2.1'),
    ('POST', '/os-keypairs', {'keypair': {'name': 'k', 'type': 'ssh', 'public_key': KEY,
                                          'user_id': 'u'}}, NEWEST),
    ('PUT', '/os-quota-sets/alpha2', QUOTA, NEWEST),
    ('PUT', '/os-quota-class-sets/default', {'quota_class_set': {'instances': 5}}, NEWEST),
    ('PUT', '/os-services/{service}', {'status': 'disabled', 'disabled_reason': 'r',
                                       'forced_down': False}, NEWEST),
    ('PUT', '/os-services/disable-log-reason',
     {'host': 'host1', 'binary': 'nova-compute', 'disabled_reason': 'r'}, '2.52'),
    ('PUT', '/os-hosts/host1', {'status': 'enable'}, '2.42'),
    ('POST', '/os-server-external-events', {'events': [EVENT]}, NEWEST),
)  # fmt: skip


class Requests(base.Case):
    """One API for all requests of a test; what is accepted stays."""

    def setUp(self):
        super().setUp()
        limits = dict.fromkeys(('instances', 'cores', 'ram', 'server_groups', 'key_pairs'), -1)
        self.api.api_db.write(quotas.set_limits, 'alpha', limits)
        self.api.add_host('empty')
        private = {**servers_api.FLAVOR, 'flavorid': '43', 'name': 'other', 'is_public': False}
        self.api.api_db.write(flavors.create, private)
        self.random = runtime.seeded_random(SEED)
        self.sample = examples.CHOSEN or (FEW if database.server is None else MANY)
        halved = database.server is not None and not examples.CHOSEN
        self.part = slice(database.server.name == 'postgresql', None, 2) if halved else slice(None)
        self.queries = [
            (name, opened, [*models.Base.metadata.tables])
            for name, opened, models in self.databases()
        ]
        aggregate = self.send('POST', '/os-aggregates', {'aggregate': {'name': 'first'}}, NEWEST)
        services = self.send('GET', '/os-services', None, NEWEST)
        self.send('POST', '/os-keypairs', {'keypair': {'name': 'key', 'public_key': KEY}}, '2.1')
        self.names = {
            'server': self.api.add_server(),
            'aggregate': aggregate.json['aggregate']['id'],
            'service': services.json['services'][0]['id'],
        }

    def databases(self):
        yield 'api', self.api.api_db, api_models
        for cell in self.api.cells.every():
            yield cell.name, cell.db, cell_models

    def send(self, method, path, body, version):
        data = None if body is None else _encoded(body)
        headers = {
            'X-User-Id': 'alice',
            'X-Project-Id': 'alpha',
            'X-Roles': 'admin,member',
            'OpenStack-API-Version': f'compute {version}',
            'Content-Type': 'application/json',
        }
        return self.api._client.simulate_request(method, '/v2.1' + path, body=data, headers=headers)

    def effects(self):
        """Return what a refused request must leave as it was: rows counted, calls made."""
        volume, image = self.api.neighbours.volume, self.api.neighbours.image
        found = {
            'sagas and builds asked for': len(self.api.super_conductor.calls),
            'calls of hosts': sum(len(each.calls) for each in self.api.compute.values()),
            'volumes reserved': len(volume.attached) - len(volume.deleted),
            'snapshots': len(volume.snapshots),
            'images': len(image.images),
        }
        for name, opened, tables in self.queries:
            rows = opened.read(_counted, tables)
            found.update({f'{name}.{table}': count for table, count in rows})
        return found

    def fault(self, answer, before):
        """Return what is wrong with the answer to a request that was wrong, or None."""
        if answer.status_code >= 500 or answer.status_code < 400:
            return 'no client error' if answer.status_code >= 500 else None
        (error,) = answer.json.values()
        if not error['message']:
            return 'no message'
        after = self.effects()
        changed = {key: after[key] - before[key] for key in after if after[key] != before[key]}
        return f'leaves {changed}' if changed else None

    def check_addresses(self, operations):
        """Send each part of an address, and each parameter of a query, that is wrong."""
        wrong = []
        for each in operations:
            body = {each.action: None} if each.action else {}
            if each.method in ('GET', 'DELETE'):
                body = None
            before = self.effects()
            for path in self.addresses(each):
                answer = self.send(each.method, path, body, str(each.until))
                fault = self.fault(answer, before)
                if fault is not None and UNANSWERED not in answer.text:
                    wrong.append(f'{each} {path}: {fault}: {answer.status_code} {answer.text}')
                if fault is not None or answer.status_code < 400:
                    before = self.effects()
        self.assertEqual([], wrong)

    def addresses(self, each):
        """A sample of an operation's addresses that are wrong in one place."""
        known = {
            '{server_id}': self.names['server'],
            '{aggregate_id}': str(self.names['aggregate']),
            '{service_id}': self.names['service'],
            '{flavor_id}': '42',
            '{host}': 'host1',
        }
        parts = [known.get(part, part) for part in each.path.split('/')]
        parts = ['1' if part.startswith('{') else part for part in parts]
        found = []
        for position, part in enumerate(each.path.split('/')):
            for segment in bad_input.SEGMENTS if part.startswith('{') else ():
                found.append('/'.join([*parts[:position], segment, *parts[position + 1 :]]))
        names = each.query.at(each.until).source.get('properties', ())
        for name in names if each.method == 'GET' else ():
            found.extend(f'{"/".join(parts)}?{name}={segment}' for segment in bad_input.SEGMENTS)
        return self.chosen(found)

    def chosen(self, every):
        """The part of a sample that this database gets."""
        return self.random.sample(every, min(self.sample, len(every)))[self.part]


class TestBadInput(Requests):
    def test_bodies(self):
        wrong = []
        for method, template, valid, version in REQUESTS:
            every = list(bad_input.bodies(valid))
            chosen = self.chosen(every)
            state = STATES.get(next(iter(valid)), {})
            self.names['server'] = self.api.add_server(**state)
            before = self.effects()
            for what, body in (('valid', valid), *chosen):
                path = template.format(**self.names)
                answer = self.send(method, path, body, version)
                accepted = answer.status_code < 400 or UNANSWERED in answer.text
                fault = None if accepted else self.fault(answer, before)
                if body is valid and not accepted:
                    fault = 'not accepted'
                if fault is not None:
                    name = f'{method} {template} {version} {next(iter(valid))} {what:.300}'
                    wrong.append(f'{name}: {fault}: {answer.status_code} {answer.text:.500}')
                if accepted or fault is not None:
                    self.names['server'] = self.api.add_server(**state)
                    before = self.effects()
        self.assertEqual([], wrong)

    def test_a_text_that_is_longer_in_bytes(self):
        text = 'é' * 50000
        body = {'flavor': {'description': text}}
        answer = self.send('PUT', '/flavors/42', body, NEWEST)
        self.assertEqual((200, text), (answer.status_code, answer.json['flavor']['description']))

    def test_addresses(self):
        proxied = proxies.__name__
        self.check_addresses(
            each
            for each in operation.load_all()
            if each.faults != (410,) and not each.handler.__module__.startswith(proxied)
        )


def _encoded(body):
    """The bytes of a body: as few as there can be, since their number is limited."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


def _counted(connection, tables):
    """[(table, rows), ...]"""
    every = ' UNION ALL '.join(
        f"SELECT '{table}', count(*) FROM {table}" for table in tables if table not in LOCKS
    )
    return connection.exec_driver_sql(every).all()
