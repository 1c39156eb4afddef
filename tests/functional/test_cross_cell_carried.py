"""The belongings of a server that moves to another cell, and the usage counted on the way."""

from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.fixtures import crossing
from tests.fixtures import moving
from tests.functional import moves_base
from tests.sim.cases import loading

load_tests = loading.load_tests

SOURCE, DEST = 'cell1-host1', 'cell2-host1'
KEPT = ('name', 'description', 'metadata', 'tags', 'key_name', 'locked_reason', 'addresses')
KEPT += ('accessIPv4', 'user_id', 'tenant_id', 'created', 'OS-EXT-SRV-ATTR:user_data')
KEPT += ('os-extended-volumes:volumes_attached', 'OS-EXT-SRV-ATTR:hostname', 'security_groups')
THERE = [
    ('conductor_migrate_server', 'Success'),
    ('cold_migrate', 'Success'),
    ('compute_prep_snapshot_based_resize_at_dest', 'Success'),
    ('compute_prep_snapshot_based_resize_at_source', 'Success'),
    ('compute_finish_snapshot_based_resize_at_dest', 'Success'),
]


class CarriedTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        self.crossing = crossing.Crossing(self.cloud)

    def boot_rich(self):
        """A server with all that may hang on one, in the first cell."""
        connection = self.cloud.admin
        connection.compute.create_keypair(name='carried')
        self.addCleanup(connection.compute.delete_keypair, 'carried')
        network = next(iter(connection.network.networks(is_router_external=False)))
        image = connection.image.find_image('cirros')
        disk = {'source_type': 'image', 'destination_type': 'local', 'uuid': image.id}
        volume = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}
        body = {
            'name': 'rich',
            'description': 'much to carry',
            'flavorRef': self.cloud.flavor_id('m1.tiny'),
            'imageRef': image.id,
            'key_name': 'carried',
            'metadata': {'colour': 'blue'},
            'tags': ['one', 'two'],
            'user_data': 'aGVsbG8=',
            'accessIPv4': '192.0.2.7',
            'availability_zone': f'nova:{SOURCE}',
            'networks': [{'uuid': network.id, 'tag': 'front'}],
            'block_device_mapping_v2': [
                {**disk, 'boot_index': 0},
                {**volume, 'boot_index': -1, 'tag': 'data', 'delete_on_termination': True},
            ],
        }
        answer = self.api('POST', '/servers', {'server': body}, status=202, version=moving.LATEST)
        server = connection.compute.get_server(answer['server']['id'])
        self.cloud.wait(server)
        lock = {'lock': {'locked_reason': 'for good'}}
        self.api('POST', f'/servers/{server.id}/action', lock, status=202, version=moving.LATEST)
        return self.cloud.admin.compute.get_server(server.id)

    def kept(self, server):
        """Return what the user sees that no move may change."""
        found = self.api('GET', f'/servers/{server.id}', version=moving.LATEST)['server']
        return {name: found[name] for name in KEPT}

    def tags_of_devices(self, server, cell):
        """Tags of ports and volumes in the records of a cell."""
        database = next(
            each.db for each in self.stage.world.cells.every(cell0=False) if each.name == cell
        )
        row = database.read(instances.find, server.id)
        devices = database.read(children.block_devices, [server.id]).get(server.id, ())
        return (
            [vif.get('tag') for vif in row.network_info],
            sorted(device.tag for device in devices if device.tag),
        )

    def move(self, server, host=DEST):
        self.stage.act(server, 'migrate', {'host': host})
        found = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        return found

    def end(self, server, action):
        self.stage.act(server, action, status=204 if action == 'confirmResize' else 202)
        found = self.cloud.wait(server)
        self.crossing.idle(server)
        return found

    def test_everything_comes_along(self):
        server = self.boot_rich()
        before, tagged = self.kept(server), self.tags_of_devices(server, 'cell1')
        self.assertEqual((['front'], ['data']), tagged)
        for action, host in (('revertResize', SOURCE), ('confirmResize', DEST)):
            self.move(server)
            self.assertEqual(before, self.kept(server))
            self.assertEqual(tagged, self.tags_of_devices(server, 'cell2'))
            self.assertEqual(host, self.end(server, action).compute_host)
            self.assertEqual(before, self.kept(server))
            self.assertEqual(tagged, self.tags_of_devices(server, host[:5]))
            self.assertEqual([], self.cloud.findings())

    def test_hidden_records_are_found_nowhere(self):
        """The source host still has a record, and room that it keeps; users do not see it."""
        server = self.boot(availability_zone=f'nova:{SOURCE}')
        self.move(server)
        self.assertEqual({'cell1': True, 'cell2': False}, self.crossing.records(server))
        self.assertEqual({SOURCE: [], DEST: [server.id]}, self.by_host())
        found = self.api('GET', '/os-hypervisors/detail?with_servers=true', version='2.53')
        shown = {
            each['hypervisor_hostname']: [one['uuid'] for one in each.get('servers', ())]
            for each in found['hypervisors']
        }
        self.assertEqual({SOURCE: [], DEST: [server.id]}, shown)
        self.end(server, 'revertResize')
        self.assertEqual({SOURCE: [server.id], DEST: []}, self.by_host())

    def by_host(self):
        """{host: servers that a list by host shows}."""
        return {
            host: [
                each['id']
                for each in self.api('GET', f'/servers?all_tenants=1&host={host}')['servers']
            ]
            for host in (SOURCE, DEST)
        }

    def test_actions_and_events(self):
        server = self.stage.boot_full(availability_zone=f'nova:{SOURCE}')
        self.stage.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')
        self.stage.act(server, 'os-start')
        self.cloud.wait(server)
        before = self.actions(server)
        self.assertEqual(['start', 'stop', 'create'], before)
        self.move(server)
        self.assertEqual(['migrate', *before], self.actions(server))
        self.assertEqual(THERE, self.stage.events(server, 'migrate'))
        self.end(server, 'revertResize')
        self.assertEqual(['revertResize', 'migrate', *before], self.actions(server))
        self.assertEqual(THERE, self.stage.events(server, 'migrate'))
        back = self.stage.events(server, 'revertResize')
        self.assertIn('compute_finish_revert_snapshot_based_resize_at_source', dict(back))
        self.assertEqual({'Success'}, {result for _event, result in back})
        self.move(server)
        self.end(server, 'confirmResize')
        self.assertEqual(
            ['confirmResize', 'migrate', 'revertResize', 'migrate', *before],
            self.actions(server),
        )
        self.assertEqual(
            {'Success'}, set(dict(self.stage.events(server, 'confirmResize')).values())
        )
        self.assertEqual(2, len(self.stage.migrations(server)))

    def actions(self, server):
        return [action.action for action in self.cloud.admin.compute.server_actions(server)]

    # ---- what is counted ----

    def used(self):
        """{host: (vCPUs, MiB) that os-hypervisors reports as used}."""
        found = self.api('GET', '/os-hypervisors/detail', version='2.53')['hypervisors']
        return {
            each['hypervisor_hostname']: (each['vcpus_used'], each['memory_mb_used'])
            for each in found
        }

    def held(self, consumer):
        """(vCPUs, MiB) by host that a consumer holds in placement."""
        nodes = {node.id: node.name for node in self.cloud.admin.compute.hypervisors()}
        return {
            nodes[provider]: (resources['VCPU'], resources['MEMORY_MB'])
            for provider, resources in self.stage.allocations(consumer).items()
        }

    def quota(self):
        """(servers, vCPUs, MiB) that count against the project's quota."""
        found = self.api('GET', '/limits')['limits']['absolute']
        names = ('totalInstancesUsed', 'totalCoresUsed', 'totalRAMUsed')
        return tuple(found[name] for name in names)

    def tenant_servers(self):
        """Servers of the project in the usage of today."""
        project = self.cloud.admin.current_project_id
        usage = self.api('GET', f'/os-simple-tenant-usage/{project}')['tenant_usage']
        return [each['instance_id'] for each in usage.get('server_usages', ())]

    def counted(self, server):
        """All that is counted: hypervisors, allocations, quota."""
        migration = next(iter(self.stage.migrations(server)), None)
        self.assertEqual(1, self.tenant_servers().count(server.id))
        return {
            'hypervisors': {host: used for host, used in self.used().items() if any(used)},
            'server': self.held(server.id),
            'migration': self.held(migration['uuid']) if migration else {},
            'quota': self.quota(),
        }

    def test_counted_at_each_point(self):
        small, big = (1, 512), (2, 1024)
        self.stage.flavor('two-and-two', vcpus=2, ram=1024)
        server = self.boot(availability_zone=f'nova:{SOURCE}')
        reserved = {host: self.used()[host][1] for host in (SOURCE, DEST)}
        reserved[SOURCE] -= small[1]

        def used(**amounts):
            found = {SOURCE: (0, reserved[SOURCE]), DEST: (0, reserved[DEST])}
            for name, host in (('source', SOURCE), ('dest', DEST)):
                vcpus, memory = amounts.get(name, (0, 0))
                found[host] = (vcpus, reserved[host] + memory)
            return {host: each for host, each in found.items() if any(each)}

        at_source = {
            'hypervisors': used(source=small),
            'server': {SOURCE: small},
            'migration': {},
            'quota': (1, *small),
        }
        self.assertEqual(at_source, self.counted(server))
        with self.stage.disabled(SOURCE):
            self.resize(server)
            waiting = {
                'hypervisors': used(source=small, dest=big),
                'server': {DEST: big},
                'migration': {SOURCE: small},
                'quota': (1, *big),
            }
            self.assertEqual(waiting, self.counted(server))
            self.end(server, 'revertResize')
            self.assertEqual(at_source, self.counted(server))
            self.resize(server)
            self.end(server, 'confirmResize')
        at_dest = {
            'hypervisors': used(dest=big),
            'server': {DEST: big},
            'migration': {},
            'quota': (1, *big),
        }
        self.assertEqual(at_dest, self.counted(server))
        self.move(server, SOURCE)
        self.delete(server)
        self.crossing.idle(server)
        self.cloud.wait_for(lambda: self.quota() == (0, 0, 0), 'the quota to be free')
        self.assertEqual(used(), {host: each for host, each in self.used().items() if any(each)})

    def resize(self, server):
        self.stage.resize(server, 'two-and-two')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)

    def test_no_room_in_the_quota(self):
        """A resize within the limit is counted once, though two cells have a record."""
        server = self.boot(availability_zone=f'nova:{SOURCE}')
        project = self.cloud.admin.current_project_id
        path = f'/os-quota-sets/{project}'
        self.addCleanup(self.api, 'DELETE', path, status=202)
        self.api('PUT', path, {'quota_set': {'cores': 2, 'instances': 1}})
        self.stage.flavor('two-cores', vcpus=2)
        with self.stage.disabled(SOURCE):
            self.stage.resize(server, 'two-cores')
            self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        self.assertEqual((1, 2), self.quota()[:2])
        self.end(server, 'confirmResize')
        self.assertEqual((1, 2), self.quota()[:2])
