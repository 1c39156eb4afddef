"""Evacuation in a whole cloud: from hosts that failed, and what happens when they return."""

from tests.fixtures import moving
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


class EvacuationTestCase(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def evacuate(self, server, *, status=200, version=moving.LATEST, **content):
        return self.moving.act(server, 'evacuate', content, status=status, version=version)


@sample.in_turns(2)
class EvacuationTest(EvacuationTestCase):
    def test_rebuilt_elsewhere_and_cleaned_up_later(self):
        server = self.cloud.boot()
        source = server.compute_host
        self.moving.fail(source)
        self.evacuate(server, version='2.94')
        self.assertEqual('done', self.moving.ended(server)['status'])
        rebuilt = self.cloud.wait(server, 'ACTIVE')
        self.assertNotEqual(source, rebuilt.compute_host)
        self.assertEqual([rebuilt.compute_host], self.moving.running(server))
        # Both hosts hold it until the one that failed has found out.
        for _number in range(2):
            self.cloud.cloud.daemons['super-conductor'].manager.audit_allocations()
        self.assertEqual(2, len(self.moving.allocations(server.id)))
        self.assertEqual([], self.cloud.findings())
        answer = self.moving.change_service(source, forced_down=False)
        self.assertEqual(400, answer.status_code)
        self.assertEqual(
            [('rebuild_server', 'Success'), ('compute_rebuild_instance', 'Success')],
            self.moving.events(server, 'evacuate'),
        )
        self.moving.come_back(source)
        self.assertEqual('completed', self.moving.migration(server)['status'])
        self.assertEqual(1, len(self.moving.allocations(server.id)))
        self.assertEqual([rebuilt.compute_host], self.moving.running(server))

    def test_the_host_is_removed(self):
        """Its service is deleted; after all it returns, and is removed again while it runs."""
        server = self.cloud.boot()
        source = server.compute_host
        self.moving.fail(source)
        self.evacuate(server, version='2.94')
        self.moving.ended(server)
        rebuilt = self.cloud.wait(server, 'ACTIVE')
        self.delete_service(source)
        self.assertEqual([], self.cloud.findings())
        self.assertEqual(1, len(self.moving.allocations(server.id)))
        self.moving.power_on(source)
        self.cloud.wait_for(lambda: self.reported(source), 'the host to return')
        self.assertEqual([rebuilt.compute_host], self.moving.running(server))
        self.assertEqual('completed', self.moving.migration(server)['status'])
        self.assertEqual([], self.cloud.findings())
        self.delete_service(source)
        for _number in range(2):
            self.moving.report()
            self.moving.manager.report_inventory()
        self.assertIsNone(self.service_of(source))
        self.assertEqual([], self.cloud.findings())

    def reported(self, host):
        self.moving.report()
        return self.service_of(host)

    def service_of(self, host):
        found = self.cloud.admin.compute.services(host=host, binary='nova-compute')
        return next((each for each in found if each.host == host), None)

    def delete_service(self, host):
        path = f'/os-services/{self.service_of(host).id}'
        answer = self.cloud.api('DELETE', path, version=moving.LATEST)
        self.assertEqual(204, answer.status_code, answer.text)

    def test_left_stopped(self):
        server = self.cloud.boot()
        self.moving.fail(server.compute_host)
        self.evacuate(server, version='2.95')
        self.moving.ended(server)
        self.assertEqual('SHUTOFF', self.cloud.wait(server, 'SHUTOFF').status)
        self.assertEqual([], self.moving.running(server))

    def test_stopped_stays_stopped(self):
        server = self.cloud.boot()
        self.cloud.admin.compute.stop_server(server)
        self.cloud.wait(server, 'SHUTOFF')
        self.moving.fail(server.compute_host)
        answer = self.evacuate(server, version='2.1', onSharedStorage=False, adminPass='secret')
        self.assertEqual({'adminPass': 'secret'}, answer.json())
        self.moving.ended(server)
        self.cloud.wait(server, 'SHUTOFF')

    def test_ports_and_volumes_come_along(self):
        network = self.cloud.admin.network.find_network('private')
        volume = self.cloud.admin.block_storage.create_volume(
            size=1, name='root', imageRef=self.cloud.admin.image.find_image('cirros').id
        )
        self.cloud.admin.block_storage.wait_for_status(volume, 'available', interval=0.1)
        server = self.cloud.boot(
            networks=[{'uuid': network.id}],
            block_device_mapping_v2=[
                {
                    'source_type': 'volume',
                    'destination_type': 'volume',
                    'uuid': volume.id,
                    'boot_index': 0,
                }
            ],
        )
        self.moving.fail(server.compute_host)
        self.evacuate(server)
        self.moving.ended(server)
        host = self.cloud.admin.compute.get_server(server.id).compute_host
        port = next(iter(self.cloud.admin.network.ports(device_id=server.id)))
        self.assertEqual(host, port.binding_host_id)
        attached = self.cloud.admin.block_storage.get_volume(volume.id)
        self.assertEqual([host], [each['host_name'] for each in attached.attachments])

    def test_the_host_returns_while_it_goes_on(self):
        server = self.cloud.boot()
        source = server.compute_host
        self.moving.behave('extends: instant\nhosts: [{match: "*", delays: {spawn: 4}}]\n')
        self.moving.fail(source)
        self.evacuate(server, version='2.94')
        self.cloud.wait_for(
            lambda: self.moving.migration(server)['status'] == 'pre-migrating', 'the rebuild'
        )
        self.moving.power_on(source)
        self.assertEqual('done', self.moving.ended(server)['status'])
        self.moving.come_back(source)
        self.assertEqual('completed', self.moving.migration(server)['status'])

    def test_deleted_before_the_host_returns(self):
        server = self.cloud.boot()
        source = server.compute_host
        self.moving.fail(source)
        self.evacuate(server)
        self.moving.ended(server)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.moving.come_back(source)


class RefusedEvacuationTest(EvacuationTestCase):
    def test_what_is_refused(self):
        server = self.cloud.boot()
        source = server.compute_host
        self.evacuate(server, status=400)
        self.moving.fail(source)
        self.evacuate(server, status=400, host=source)
        self.evacuate(server, status=404, host='nowhere')
        self.evacuate(server, status=400, host=None)
        self.evacuate(server, status=400, version='2.29', force=True)
        self.evacuate(server, status=400, version='2.68', force=True, host='cell1-host1')
        self.evacuate(server, status=400, version='2.1')
        self.evacuate(server, status=400, version='2.13', onSharedStorage=True, adminPass='secret')
        self.assertEqual([], self.moving.migrations(server))

    def test_no_host_is_left(self):
        server = self.cloud.boot()
        source = server.compute_host
        for host in self.moving.others(source):
            self.moving.change_service(host, status='disabled')
        self.moving.fail(source)
        self.evacuate(server)
        self.assertEqual('error', self.moving.ended(server)['status'])
        broken = self.cloud.wait(server, 'ERROR')
        self.assertIn('No valid host', broken.fault['message'])
        self.assertEqual(1, len(self.moving.allocations(server.id)))
        for host in self.moving.others(source):
            self.moving.change_service(host, status='enabled')
        self.evacuate(server)
        self.assertEqual('done', self.moving.ended(server)['status'])
        self.cloud.wait(server, 'ACTIVE')

    def test_no_room_on_a_forced_host(self):
        flavor = self.cloud.admin.compute.create_flavor(name='huge', vcpus=1, ram=1, disk=4000)
        server = self.cloud.boot(flavor=flavor.name)
        dest = self.moving.others(server.compute_host)[0]
        self.cloud.boot('other', flavor=flavor.name, availability_zone=f'nova:{dest}')
        self.moving.fail(server.compute_host)
        self.evacuate(server, version='2.67', host=dest, force=True)
        self.assertEqual('error', self.moving.ended(server)['status'])
        broken = self.cloud.wait(server, 'ERROR')
        self.assertIn('No valid host', broken.fault['message'])

    def test_the_rebuild_fails(self):
        for when in ('before', 'during', 'after'):
            server = self.cloud.boot()
            source = server.compute_host
            self.moving.fail(source)
            self.moving.behave(
                f'extends: instant\nfailures: [{{verb: spawn, when: {when}, first: 1}}]\n'
            )
            self.evacuate(server)
            ended = self.moving.ended(server)
            self.assertEqual('failed', ended['status'])
            self.assertIn(ended['dest_compute'], self.moving.others(source))
            broken = self.cloud.wait(server, 'ERROR')
            self.assertEqual(source, broken.compute_host)
            self.assertEqual([], self.moving.running(server))
            self.assertEqual(1, len(self.moving.allocations(server.id)))
            self.evacuate(server)
            self.assertEqual('done', self.moving.ended(server)['status'])
            self.moving.come_back(source)
            self.cloud.admin.compute.delete_server(server)
            self.cloud.wait_gone(server)
