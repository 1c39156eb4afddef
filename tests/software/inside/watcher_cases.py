"""Watcher: its helpers of Nova, its models of the cloud, the actions of its applier, and audits.

Audits go through its API, decision engine and applier, which run as `tests.software.watcher` starts
them; the others call its modules.
"""

import collections
import json
import os
import subprocess
import sys
import unittest
import urllib.parse
import urllib.request

import cloud
from keystoneauth1 import loading
from keystoneauth1 import session
from watcher.applier.actions import change_nova_service_state
from watcher.applier.actions import migration
from watcher.applier.actions import resize
from watcher.applier.actions import stop
from watcher.common import cinder_helper
from watcher.common import nova_helper
from watcher.common import service
from watcher.decision_engine.model.collector import cinder
from watcher.decision_engine.model.collector import nova
from watcherclient import client

service.prepare_service(['watcher', '--config-file', cloud.SETTINGS['configuration']])
FIRST, SECOND, THIRD, FOURTH = cloud.SETTINGS['hosts']
# Of Watcher's API: the newest that its client knows.
VERSION = '1.5'
# Seconds of metrics that a strategy judges, and the samples in them; one is read each second.
PERIOD_S, SAMPLES = 10, 9


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
        # The helper waits for the host, which changes before the task ends.
        cloud.wait('the end of the task', lambda: self.shown(server_id).task_state is None)
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


class Audits(WatcherCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.storage = cls.helper.connection.block_storage
        admin = cloud.SETTINGS['admin']
        auth = loading.get_plugin_loader('password').load_from_options(
            auth_url=admin['auth_url'],
            username=admin['username'],
            password=admin['password'],
            project_name=admin['project_name'],
            user_domain_id='default',
            project_domain_id='default',
        )
        cls.optimize = client.get_client(
            '1',
            session=session.Session(auth=auth),
            os_infra_optim_api_version=VERSION,
        )

    def planned(self, goal, strategy, **parameters):
        """The plan of a new audit, and its actions."""
        audit = self.optimize.audit.create(
            audit_type='ONESHOT', goal=goal, strategy=strategy, parameters=parameters
        )

        def is_over():
            found = self.optimize.audit.get(audit.uuid)
            return found if found.state not in ('PENDING', 'ONGOING') else None

        self.assertEqual('SUCCEEDED', cloud.wait('the audit ends', is_over).state)
        (plan,) = self.optimize.action_plan.list(audit=audit.uuid)
        return plan, self.optimize.action.list(action_plan=plan.uuid, detail=True)

    def applied(self, plan):
        """The actions of a plan by type, after it was started and all have succeeded."""
        self.optimize.action_plan.start(plan.uuid)
        return self.succeeded(plan)

    def succeeded(self, plan):
        """The actions of a plan that was started, by type, after all have succeeded."""

        def is_over():
            found = self.optimize.action_plan.get(plan.uuid)
            return found if found.state not in ('RECOMMENDED', 'PENDING', 'ONGOING') else None

        ended = cloud.wait('the plan ends', is_over)
        actions = self.optimize.action.list(action_plan=plan.uuid, detail=True)
        said = [(each.action_type, each.state, each.status_message) for each in actions]
        self.assertEqual('SUCCEEDED', ended.state, said)
        self.assertEqual({'SUCCEEDED'}, {each.state for each in actions}, said)
        return collections.Counter(each.action_type for each in actions)

    def optimized(self, goal, strategy, **parameters):
        plan, _actions = self.planned(goal, strategy, **parameters)
        return self.applied(plan)

    def hosts_of(self, server_ids):
        return [self.shown(each).host for each in server_ids]

    def disabled(self):
        """The reason for which each host is disabled."""
        return {
            each.host: each.disabled_reason for each in self.compute.services(binary='nova-compute')
        }

    def volume(self):
        """An available volume, deleted after the case."""
        made = self.storage.create_volume(size=1)
        self.addCleanup(self.storage.delete_volume, made.id)
        self.storage.wait_for_status(made, 'available', wait=cloud.WAIT_S, interval=1)
        return self.storage.get_volume(made.id)

    def enable(self, host):
        self.assertTrue(self.helper.enable_service_nova_compute(host))

    def known(self, *server_ids):
        """Wait until Watcher has got the notifications of new servers."""

        def in_model():
            found = self.optimize.data_model.list(data_model_type='compute').context
            return {*server_ids} <= {each.get('server_uuid') for each in found}

        cloud.wait('servers in the model', in_model)

    def measured(self, *server_ids):
        """Wait until the metrics of new servers cover what a strategy judges."""
        samples = (
            f'count_over_time(ceilometer_cpu{{resource=~"{"|".join(server_ids)}"}}[{PERIOD_S}s])'
        )
        query = urllib.parse.urlencode({'query': f'count({samples} >= {SAMPLES})'})

        def is_covered():
            with urllib.request.urlopen(f'{cloud.SETTINGS["metrics"]}?{query}') as answer:
                found = json.load(answer)['data']['result']
            return found and int(found[0]['value'][1]) == len(server_ids)

        cloud.wait('samples of servers', is_covered)

    def test_host_maintenance(self):
        moved = [self.boot(f'maintained-{number}') for number in range(2)]
        self.addCleanup(self.enable, FIRST)
        self.known(*moved)
        applied = self.optimized(
            'cluster_maintaining', 'host_maintenance', maintenance_node=FIRST, backup_node=SECOND
        )
        self.assertEqual({'change_nova_service_state': 1, 'migrate': 2}, applied)
        self.assertEqual([SECOND, SECOND], self.hosts_of(moved))
        self.assertEqual('watcher_maintaining', self.disabled()[FIRST])

    def test_commands(self):
        """The commands of doc/source/howto/watcher.rst succeed."""
        moved = self.boot('commanded')
        self.known(moved)
        self.addCleanup(self.enable, FIRST)
        places = os.pathsep.join((os.path.dirname(sys.executable), os.environ['PATH']))
        variables = {
            'PATH': places,
            'OS_CLIENT_CONFIG_FILE': os.path.join(cloud.SETTINGS['state_dir'], 'clouds.yaml'),
            'OS_CLOUD': 'nova-lite',
        }
        subprocess.run(
            ['sh', '-eu', cloud.SETTINGS['commands']], env=os.environ | variables, check=True
        )
        audit = self.optimize.audit.get('drain')
        (plan,) = cloud.wait(
            'the audit has a plan', lambda: self.optimize.action_plan.list(audit=audit.uuid)
        )
        self.assertEqual({'change_nova_service_state': 1, 'migrate': 1}, self.succeeded(plan))
        self.assertNotEqual(FIRST, self.shown(moved).host)

    def test_zone_migration(self):
        """Servers leave a host, and a volume its pool."""
        moved = [self.boot('zone', host) for host in (FIRST, SECOND)]
        stopped = self.boot('zone-stopped')
        self.assertTrue(self.helper.stop_instance(stopped))
        volume = self.volume()
        pools = [each.name for each in cinder_helper.CinderHelper().get_storage_pool_list()]
        (other,) = {*pools} - {volume.host}
        self.known(*moved, stopped)
        zones = {
            'compute_nodes': [{'src_node': FIRST, 'dst_node': THIRD}, {'src_node': SECOND}],
            'storage_pools': [{'src_pool': volume.host, 'dst_pool': other}],
        }

        def is_complete():
            plan, actions = self.planned('hardware_maintenance', 'zone_migration', **zones)
            kinds = sorted(each.input_parameters['migration_type'] for each in actions)
            return plan if kinds == ['cold', 'live', 'live', 'migrate'] else None

        # Watcher reads volumes from time to time, and learns later that a server has stopped.
        plan = cloud.wait('all is in the models', is_complete)
        self.assertEqual({'migrate': 3, 'volume_migrate': 1}, self.applied(plan))
        first, second, third = self.hosts_of([*moved, stopped])
        self.assertEqual((THIRD, THIRD), (first, third))
        self.assertNotEqual(SECOND, second)
        self.assertEqual(other, self.storage.get_volume(volume.id).host)

    def test_consolidation(self):
        """Idle servers share a host, though their flavors have more CPUs together than it has."""
        moved = [self.boot(f'idle-{host}', host) for host in (FIRST, SECOND, THIRD) * 2]
        for host in cloud.SETTINGS['hosts']:
            self.addCleanup(self.enable, host)
        self.known(*moved)
        self.measured(*moved)
        applied = self.optimized(
            'server_consolidation', 'vm_workload_consolidation', period=PERIOD_S
        )
        self.assertEqual({'migrate': 4, 'change_nova_service_state': 3}, applied)
        (kept,) = {*self.hosts_of(moved)}
        disabled = {host: reason for host, reason in self.disabled().items() if reason}
        self.assertEqual({*cloud.SETTINGS['hosts']} - {kept}, {*disabled})
        self.assertEqual({'watcher_disabled'}, {*disabled.values()})

    def test_balance(self):
        """One of two busy servers leaves their host; an idle one stays."""
        busy = [self.boot(f'busy-{number}') for number in range(2)]
        idle = self.boot('idle')
        self.known(*busy, idle)
        self.measured(*busy, idle)
        judged = {'metrics': 'instance_cpu_usage', 'threshold': 40.0, 'period': PERIOD_S}
        self.assertEqual(
            {'migrate': 1}, self.optimized('workload_balancing', 'workload_balance', **judged)
        )
        self.assertEqual(1, self.hosts_of(busy).count(FIRST))
        self.assertEqual([FIRST], self.hosts_of([idle]))


if __name__ == '__main__':
    cloud.main()
