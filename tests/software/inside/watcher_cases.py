"""Watcher: its helpers of Nova, its models of the cloud, and the actions of its applier."""

import unittest

import cloud
from watcher.applier.actions import change_nova_service_state
from watcher.applier.actions import migration
from watcher.applier.actions import resize
from watcher.applier.actions import stop
from watcher.common import cinder_helper
from watcher.common import nova_helper
from watcher.common import service
from watcher.decision_engine.model.collector import cinder
from watcher.decision_engine.model.collector import nova

service.prepare_service(['watcher', '--config-file', cloud.SETTINGS['configuration']])
FIRST, SECOND = cloud.SETTINGS['hosts'][:2]


class WatcherCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helper = nova_helper.NovaHelper()
        cls.compute = cls.helper.connection.compute

    def boot(self, name, host=FIRST):
        """A server that runs on a host, deleted after the case."""
        made = self.compute.create_server(
            name=name,
            image_id=cloud.SETTINGS['image_id'],
            flavor_id=self.compute.find_flavor(cloud.SETTINGS['flavor']).id,
            networks=[{'uuid': cloud.SETTINGS['network_id']}],
            host=host,
        )
        self.addCleanup(self.delete, made.id)
        self.compute.wait_for_server(made, wait=cloud.WAIT_S, interval=1)
        return made.id

    def delete(self, server_id):
        self.assertTrue(self.helper.delete_instance(server_id))

    def shown(self, server_id):
        """The server as Watcher sees it."""
        (found,) = [one for one in self.helper.get_instance_list() if one.uuid == server_id]
        return found


class Helpers(WatcherCase):
    def test_hosts(self):
        nodes = self.helper.get_compute_node_list()
        self.assertEqual(set(cloud.SETTINGS['hosts']), {one.hypervisor_hostname for one in nodes})
        by_name = self.helper.get_compute_node_by_hostname(FIRST)
        self.assertEqual(by_name, self.helper.get_compute_node_by_uuid(by_name.uuid))
        self.assertTrue(self.helper.get_service_list())
        self.assertEqual([], self.helper.get_aggregate_list())

    def test_services(self):
        self.assertTrue(self.helper.disable_service_nova_compute(FIRST, reason='watcher_disabled'))
        self.assertEqual('disabled', self.helper.get_compute_node_by_hostname(FIRST).status)
        self.assertTrue(self.helper.enable_service_nova_compute(FIRST))
        self.assertEqual('enabled', self.helper.get_compute_node_by_hostname(FIRST).status)

    def test_power(self):
        server_id = self.boot('power')
        self.assertTrue(self.helper.stop_instance(server_id))
        self.assertTrue(self.helper.start_instance(server_id))
        self.assertEqual('active', self.shown(server_id).vm_state)

    def test_moves(self):
        server_id = self.boot('moves')
        self.assertTrue(self.helper.live_migrate_instance(server_id, SECOND))
        self.assertEqual(SECOND, self.shown(server_id).host)
        self.assertTrue(self.helper.live_migrate_instance(server_id, None))
        here = self.shown(server_id).host
        self.assertNotEqual(SECOND, here)
        self.assertTrue(self.helper.watcher_non_live_migrate_instance(server_id, SECOND))
        self.assertEqual(SECOND, self.shown(server_id).host)
        self.assertTrue(self.helper.resize_instance(server_id, cloud.SETTINGS['flavor_alt']))

    def test_pools(self):
        pools = cinder_helper.CinderHelper().get_storage_pool_list()
        self.assertTrue(all(float(one.total_capacity_gb) > 0 for one in pools))


class Models(WatcherCase):
    def test_of_servers(self):
        server_id = self.boot('model')
        model = nova.NovaModelBuilder().execute({})
        node = model.get_node_by_instance_uuid(server_id)
        self.assertEqual(FIRST, node.hostname)
        self.assertEqual(
            set(cloud.SETTINGS['hosts']),
            {one.hostname for one in model.get_all_compute_nodes().values()},
        )

    def test_of_volumes(self):
        model = cinder.CinderModelBuilder().execute({})
        self.assertEqual(2, len(model.get_all_storage_nodes()))


class Actions(WatcherCase):
    @staticmethod
    def act(kind, **parameters):
        action = kind({})
        action.input_parameters = parameters
        action.validate_parameters()
        action.pre_condition()
        done = action.execute()
        action.post_condition()
        return done

    def test_maintenance_of_a_host(self):
        server_id = self.boot('maintained')
        node = self.helper.get_compute_node_by_hostname(FIRST)
        state = {'resource_id': node.uuid, 'resource_name': FIRST, 'state': 'disabled'}
        kind = change_nova_service_state.ChangeNovaServiceState
        self.assertTrue(self.act(kind, **state, disabled_reason='watcher_maintaining'))
        moved = {'resource_id': server_id, 'source_node': FIRST, 'migration_type': 'live'}
        self.assertTrue(self.act(migration.Migrate, **moved))
        self.assertNotEqual(FIRST, self.shown(server_id).host)
        self.assertTrue(self.act(kind, **state | {'state': 'enabled'}))

    def test_cold_migration_resize_and_stop(self):
        server_id = self.boot('acted')
        moved = {'source_node': FIRST, 'destination_node': SECOND, 'migration_type': 'cold'}
        self.assertTrue(self.act(migration.Migrate, resource_id=server_id, **moved))
        self.assertEqual(SECOND, self.shown(server_id).host)
        larger = cloud.SETTINGS['flavor_alt']
        self.assertTrue(self.act(resize.Resize, resource_id=server_id, flavor=larger))
        self.assertTrue(self.act(stop.Stop, resource_id=server_id))
        self.assertEqual('stopped', self.shown(server_id).vm_state)


if __name__ == '__main__':
    cloud.main()
