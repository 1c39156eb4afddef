"""POST /servers: the answer, what is stored, fields by microversion, place."""

import base64

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api.servers import update
from nova_lite.db.api import aggregates
from nova_lite.db.api import build_requests
from nova_lite.db.api import flavors
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import keypairs
from tests.fixtures import api_neighbours
from tests.fixtures import servers_api
from tests.unit.api.servers import base
from tests.unit.api.servers import create_base


class TestAnswer(create_base.Case):
    def test_accepted(self):
        answer = self.ok('POST', '/servers', self.body(), code=202, version='2.37')
        shown = answer.json['server']
        self.assertEqual(
            {'id', 'links', 'OS-DCF:diskConfig', 'security_groups', 'adminPass'}, set(shown)
        )
        self.assertTrue(answer.headers['Location'].endswith(f'/v2.1/servers/{shown["id"]}'))
        self.assertEqual(12, len(shown['adminPass']))
        found = self.ok('GET', f'/servers/{shown["id"]}').json['server']
        self.assertEqual(('web', 'BUILD'), (found['name'], found['status']))

    def test_password_is_stored_nowhere(self):
        (request,) = self.create(adminPass='s3cret-s3cret')
        self.assertNotIn('s3cret', str(request))
        self.assertNotIn('s3cret', str(self.api.super_conductor.calls))

    def test_security_groups_are_shown_as_requested(self):
        default = {'name': 'default'}
        for groups in ([], [{}], [{}, default], [default, default]):
            body = self.body(security_groups=groups)
            answer = self.ok('POST', '/servers', body, code=202, version='latest')
            self.assertEqual(groups, answer.json['server']['security_groups'])
        answer = self.ok('POST', '/servers', self.body(), code=202, version='latest')
        self.assertEqual([default], answer.json['server']['security_groups'])

    def test_reservation_id(self):
        body = self.body(return_reservation_id=True)
        answer = self.ok('POST', '/servers', body, code=202, version='2.37')
        self.assertEqual(['reservation_id'], list(answer.json))

    def test_bus_does_not_take_the_message(self):
        self.api.super_conductor.answers['build_servers'] = exception.Unavailable(
            service='bus', reason='gone'
        )
        (request,) = self.create()
        self.assertTrue(request.lease_until <= runtime.naive_now())


class TestStored(create_base.Case):
    def test_rows(self):
        (request,) = self.create(metadata={'a': 'b'}, tags=['y', 'x', 'y'])
        uuid = request.instance_uuid
        self.assertEqual({'a': 'b'}, request.instance['metadata'])
        self.assertEqual(['x', 'y'], request.tags)
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertEqual((None, 1, 192), (mapping.cell_id, mapping.vcpus, mapping.memory_mb))
        self.assertEqual('42', self.spec(request).flavor.flavorid)
        (device,) = request.block_devices
        self.assertEqual(
            ('image', 'local', 0),
            (device['source_type'], device['destination_type'], device['boot_index']),
        )

    def test_several(self):
        requests = self.create(min_count=2, max_count='3')
        self.assertEqual(
            ['web-1', 'web-2', 'web-3'], [r.instance['display_name'] for r in requests]
        )
        self.assertEqual(['web-1', 'web-2', 'web-3'], [r.instance['hostname'] for r in requests])
        self.assertEqual(1, len({r.reservation_id for r in requests}))
        self.assertEqual([0, 1, 2], [r.instance['launch_index'] for r in requests])

    def test_long_name_of_several(self):
        requests = self.create(name='n' * 255, max_count=2)
        self.assertEqual([255, 255], [len(r.instance['display_name']) for r in requests])

    def test_description(self):
        (request,) = self.create('2.1', networks=create_base.ABSENT)
        self.assertEqual('web', request.instance['display_description'])
        (request,) = self.create('2.37', description='d')
        self.assertEqual('d', request.instance['display_description'])

    def test_hostname(self):
        for name, hostname in (
            ('My_Web server.Ünï!', 'my-web-server-ünï'),
            ('_x中文ÿ-', 'xÿ'),
            ('!' * 10 + 'a' * 60, 'a' * 53),
            ('é' * 70, 'é' * 63),
        ):
            (request,) = self.create(name=name)
            self.assertEqual(hostname, request.instance['hostname'])
        (request,) = self.create(name='中')
        self.assertTrue(request.instance['hostname'].startswith('Server-'))
        (request,) = self.create(hostname='a.example.org')
        self.assertEqual('a.example.org', request.instance['hostname'])

    def test_key(self):
        self.refuse(400, 'key_name', key_name='mine')
        key = {'user_id': 'alice', 'name': 'mine', 'public_key': 'ssh-rsa A', 'fingerprint': 'f'}
        self.api.api_db.write(keypairs.create, key)
        (request,) = self.create(key_name='mine')
        self.assertEqual('ssh-rsa A', request.instance['key_data'])

    def test_files(self):
        contents = base64.b64encode(b'x' * 10).decode()
        files = [{'path': '/a', 'contents': contents}]
        (request,) = self.create('2.56', personality=files)
        self.assertEqual([['/a', contents]], request.arguments['options']['injected_files'])
        self.assertEqual([], request.arguments['options']['injected_files'][1:])

    def test_config_drive(self):
        (request,) = self.create(config_drive=True, adminPass='open sesame')
        self.assertEqual('True', request.instance['config_drive'])
        self.assertEqual('open sesame', request.arguments['options']['admin_pass'])

    def test_password_is_recorded_for_a_config_drive_only(self):
        (request,) = self.create(adminPass='open sesame')
        self.assertEqual('', request.instance['config_drive'])
        self.assertNotIn('open sesame', str(request))

    def test_an_empty_password_is_a_password(self):
        body = self.body(config_drive=True, adminPass='')
        server = self.ok('POST', '/servers', body, code=202, version='latest').json['server']
        request = self.api.api_db.read(build_requests.get, server['id'])
        self.assertEqual('', server['adminPass'])
        self.assertEqual('', request.arguments['options']['admin_pass'])

    def test_password_that_is_answered_is_on_the_drive(self):
        body = self.body(config_drive=True)
        answer = self.ok('POST', '/servers', body, code=202, version='latest')
        server = answer.json['server']
        request = self.api.api_db.read(build_requests.get, server['id'])
        self.assertEqual(server['adminPass'], request.arguments['options']['admin_pass'])

    def test_config_drive_that_the_cloud_or_the_image_requires(self):
        image = self.api.neighbours.image.images[api_neighbours.IMAGE_ID]
        image['properties'] = {'img_config_drive': 'mandatory'}
        (request,) = self.create(config_drive=False)
        self.assertEqual('True', request.instance['config_drive'])
        image['properties'] = {'img_config_drive': 'optional'}
        (request,) = self.create()
        self.assertEqual('', request.instance['config_drive'])
        self.api.conf.set_override('force_config_drive', True)
        (request,) = self.create()
        self.assertEqual('True', request.instance['config_drive'])

    def test_hints(self):
        (request,) = self.create(hints={'same_host': [runtime.new_uuid()], '_nova_x': 'y', 'n': 1})
        self.assertEqual({'same_host', 'n'}, set(self.spec(request).scheduler_hints))


class TestFields(create_base.Case):
    """The fields of each microversion."""

    def test_since_and_until(self):
        tag = [{'uuid': api_neighbours.NETWORK_ID, 'tag': 't'}]
        file = [{'path': '/a', 'contents': 'eA=='}]
        rows = (
            ('2.18', '2.19', {'description': 'd'}),
            ('2.31', '2.32', {'networks': tag}),
            ('2.37', '2.36', {'networks': tag}),
            ('2.41', '2.42', {'networks': tag}),
            ('2.51', '2.52', {'tags': ['a']}),
            ('2.57', '2.56', {'personality': file}),
            ('2.62', '2.63', {'trusted_image_certificates': ['c']}),
            ('2.89', '2.90', {'hostname': 'ab'}),
            ('2.93', '2.94', {'hostname': 'a.b'}),
        )
        for without, having, fields in rows:
            fields = {'networks': 'none', **fields}
            if int(without[2:]) < 37 and fields['networks'] == 'none':
                fields['networks'] = create_base.ABSENT
            body = self.body(**fields)
            self.refused('POST', '/servers', body, code=400, version=without)
            if int(having[2:]) < 37 and body['server'].get('networks') == 'none':
                del body['server']['networks']
            if int(having[2:]) >= 37:
                body['server'].setdefault('networks', 'none')
            self.ok('POST', '/servers', body, code=202, version=having)

    def test_networks_required_from_2_37(self):
        self.refuse(400, 'networks', version='2.37', networks=create_base.ABSENT)
        self.create('2.36', networks=create_base.ABSENT)

    def test_schema(self):
        for name, value in (
            ('name', ''), ('name', ' a'), ('name', 'a' * 256), ('name', 1), ('name', '\n'),
            ('flavorRef', ''), ('flavorRef', []), ('imageRef', 'nonsense'),
            ('metadata', {'': 'a'}), ('metadata', []), ('min_count', 0), ('min_count', 'x'),
            ('max_count', -1), ('user_data', 'eA'), ('user_data', 'A' * 65536),
            ('networks', 'some'), ('networks', [{'uuid': 'x'}]), ('config_drive', 'perhaps'),
            ('accessIPv4', '::1'), ('tags', ['a,b']), ('tags', ['x' * 61]), ('host', 'a b'),
            ('trusted_image_certificates', []), ('security_groups', ['']),
            ('unknown', 1),
        ):  # fmt: skip
            self.refuse(400, name, **{name: value})

    def test_query(self):
        self.ok('POST', '/servers?x=1', self.body(), code=202, version='2.74')
        self.ok('POST', '/servers?x=1', self.body(), code=202, version='latest')

    def test_v2_urls_drop_what_they_do_not_know(self):
        body = self.body(networks=create_base.ABSENT, nonsense=1)
        answer = self.api._client.simulate_request(
            'POST',
            '/v2/servers',
            json=body,
            headers={'X-User-Id': 'alice', 'X-Project-Id': 'alpha', 'X-Roles': 'member'},
        )
        self.assertEqual(202, answer.status_code, answer.text)

    def test_counts(self):
        self.refuse(400, 'min_count', min_count=3, max_count=2)
        self.refuse(400, 'hostname', hostname='ab', max_count=2)


class TestFlavorAndImage(create_base.Case):
    def test_flavor(self):
        self.refuse(400, 'Flavor 99', flavorRef='99')
        self.create(flavorRef='http://x/v2.1/flavors/42')
        self.create(flavorRef=42)
        private = {**servers_api.FLAVOR, 'flavorid': '43', 'name': 'p', 'is_public': False}
        self.api.api_db.write(flavors.create, private)
        self.refuse_more(400, flavorRef='43')
        self.create(flavorRef='43', who=base.ADMIN)

    def refuse_more(self, code, **fields):
        self.refused('POST', '/servers', self.body(**fields), code=code, version='latest')

    def test_image(self):
        self.refuse(400, 'not found', imageRef=runtime.new_uuid())
        self.refuse(400, 'imageRef', imageRef='')
        self.refuse(400, 'imageRef', imageRef=create_base.ABSENT)
        image = self.api.neighbours.image
        image.add(api_neighbours.IMAGE_ID, status='queued')
        self.refuse(400, 'not active')
        image.add(api_neighbours.IMAGE_ID, min_ram=1000)
        self.refuse(400, 'memory')
        image.add(api_neighbours.IMAGE_ID, min_disk=2)
        self.refuse(400, 'disk')
        image.add(api_neighbours.IMAGE_ID, size=2 << 30)
        self.refuse(400, 'disk')
        image.add(api_neighbours.IMAGE_ID, properties={'auto_disk_config': 'disabled'})
        self.refuse(400, 'disk resize', **{'OS-DCF:diskConfig': 'AUTO'})

    def test_flavor_without_disk(self):
        flavor = {**servers_api.FLAVOR, 'flavorid': 'z', 'name': 'z', 'root_gb': 0}
        self.api.api_db.write(flavors.create, flavor)
        self.refuse(403, 'zero disk', flavorRef='z')
        self.create(flavorRef='z', who=base.ADMIN)


class TestPlace(create_base.Case):
    def test_zone(self):
        self.refuse(400, 'availability zone', availability_zone='mars')
        (request,) = self.create(availability_zone='nova')
        self.assertEqual('nova', self.spec(request).availability_zone)
        self.refuse_zone('a:b:c:d')

    def refuse_zone(self, zone):
        body = self.body(availability_zone=zone)
        self.refused('POST', '/servers', body, code=400, version='latest')

    def test_forced_host(self):
        self.refuse(403, 'forced_host', availability_zone='nova:host1')
        (request,) = self.create(availability_zone='nova:host1', who=base.ADMIN)
        spec = self.spec(request)
        self.assertEqual((['host1'], []), (spec.force_hosts, spec.force_nodes))
        self.assertFalse(request.arguments['retry'])
        self.assertFalse(request.arguments['options']['retry'])
        (request,) = self.create(availability_zone=':anything:node', who=base.ADMIN)
        self.assertEqual(['node'], self.spec(request).force_nodes)

    def test_zone_of_a_forced_host_gives_way(self):
        zone = {'uuid': runtime.new_uuid(), 'name': 'a', 'metadata': {'availability_zone': 'z1'}}
        made = self.api.api_db.write(lambda c: aggregates.create(c, **zone))
        self.api.api_db.write(aggregates.add_host, made.id, 'host1')
        (request,) = self.create(availability_zone='mars:host1', who=base.ADMIN)
        self.assertEqual('z1', self.spec(request).availability_zone)
        (request,) = self.create(availability_zone='mars:host2', who=base.ADMIN)
        self.assertIsNone(self.spec(request).availability_zone)

    def test_requested_destination(self):
        self.refuse(403, 'requested_destination', host='host1')
        self.refuse(400, 'host9', host='host9', who=base.ADMIN)
        (request,) = self.create(host='host1', who=base.ADMIN)
        self.assertEqual({'host': 'host1', 'node': None}, request.arguments['destination'])
        self.assertEqual([], self.spec(request).force_hosts)
        self.create(host='host1', hypervisor_hostname='host1.example', who=base.ADMIN)

    def test_requested_node(self):
        self.refuse(400, 'n1', hypervisor_hostname='n1', who=base.ADMIN)
        self.refuse(400, 'n1', host='host1', hypervisor_hostname='n1', who=base.ADMIN)
        self.api.neighbours.placement.names['n1'] = object()
        self.create(hypervisor_hostname='n1', who=base.ADMIN)

    def test_both_ways(self):
        self.refuse(400, 'host', host='host1', availability_zone='nova:host1', who=base.ADMIN)


class TestNetworks(create_base.Case):
    PORT = {'port': api_neighbours.PORT_ID}
    NETWORK = {'uuid': api_neighbours.NETWORK_ID}

    def test_list(self):
        (request,) = self.create(networks=[self.NETWORK, {**self.NETWORK, 'fixed_ip': '10.0.0.1'}])
        wanted = request.arguments['requested_networks']
        self.assertEqual([None, '10.0.0.1'], [each['fixed_ip'] for each in wanted])

    def test_auto_and_none(self):
        (request,) = self.create(networks='auto')
        self.assertEqual(
            api_neighbours.NETWORK_ID, request.arguments['requested_networks'][0]['network_id']
        )
        (request,) = self.create(networks='none')
        self.assertEqual('none', request.arguments['requested_networks'])
        self.assertEqual([], request.instance['security_groups'])

    def test_refused(self):
        self.refuse(400, 'could not be found', networks=[{'uuid': runtime.new_uuid()}])
        self.refuse(400, 'needs uuid or port', networks=[{}])
        self.refuse(400, 'together', networks=[{**self.PORT, 'fixed_ip': '10.0.0.1'}])
        self.refuse(400, 'more than once', networks=[self.PORT, self.PORT])
        self.refuse(400, 'port ID', networks=[self.PORT], max_count=2)
        fixed = {**self.NETWORK, 'fixed_ip': '10.0.0.1'}
        self.refuse(400, 'fixed_ip', networks=[fixed], max_count=2)

    def test_port_that_asks_for_resources(self):
        asked = {'required': [], 'resources': {'NET_BW_EGR_KILOBIT_PER_SEC': 1}}
        self.api.neighbours.network.resource_requests[self.PORT['port']] = asked
        self.refuse(400, 'from microversion 2.72 on', version='2.71', networks=[self.PORT])
        (request,) = self.create('2.72', networks=[self.PORT])
        (network,) = request.arguments['requested_networks']
        self.assertEqual(asked, network['resource_request'])

    def test_security_groups(self):
        groups = [{'name': 'web'}, {'name': 'web'}, {'name': 'default'}]
        (request,) = self.create(networks='auto', security_groups=groups)
        self.assertEqual(['web', 'default'], request.instance['security_groups'])
        self.refuse_group()

    def refuse_group(self):
        for networks in ('auto', 'none'):
            for name in ('x', 'web\n'):
                body = self.body(networks=networks, security_groups=[{'name': name}])
                self.refused('POST', '/servers', body, code=400, version='latest', text=name)


class TestUpdateWhileScheduled(create_base.Case):
    def test_only_changes_need_a_cell(self):
        (request,) = self.create(name='web')
        path = f'/servers/{request.instance_uuid}'
        shown = self.ok('PUT', path, {'server': {}}).json['server']
        self.assertEqual('web', shown['name'])
        self.patch(update, 'SCHEDULED_S', 0.1)
        self.refused('PUT', path, {'server': {'name': 'new'}}, code=409)
