"""Placing of servers in a whole cloud: groups, zones and aggregates, hosts that refuse a build."""

from tests.fixtures import heard
from tests.functional import base
from tests.sim.cases import loading

load_tests = loading.load_tests

REFUSES_ONCE = """
extends: instant
failures:
  - {verb: spawn, first: 1, reschedule: true, message: no room, match: {server: 'alone'}}
  - {verb: spawn, first: 1, reschedule: true, message: no room, match: {server: 'many-*'}}
"""
REFUSES = """
extends: instant
failures: [{verb: spawn, reschedule: true, error: NoCapacity, message: no room}]
"""
BREAKS = """
extends: instant
failures: [{verb: spawn, when: during, message: it broke, match: {server: 'broken-*'}}]
"""
PROMPT = 'extends: instant\n'
FETCHING = """
extends: instant
hosts: [{delays: {cache_image: 0.6}}]
failures: [{verb: cache_image, first: 1, match: {host: 'cell1-host1'}}]
"""
REFUSED = ('compute__do_build_and_run_instance', 'Error')
BUILT = ('compute__do_build_and_run_instance', 'Success')
# Otherwise what is free on other hosts counts for more than a soft policy.
SETTINGS = {
    'cells': 2,
    'hosts': 2,
    'options': {'filter_scheduler': {'soft_affinity_weight_multiplier': 10}},
}


class GroupTest(base.CloudTest):
    settings = SETTINGS

    def group(self, policy, **rules):
        """The id of a new server group."""
        body = {'name': policy, 'policy': policy, **({'rules': rules} if rules else {})}
        created = self.api('POST', '/os-server-groups', {'server_group': body})['server_group']
        self.addCleanup(self.api, 'DELETE', f'/os-server-groups/{created["id"]}', status=204)
        return created['id']

    def boot(self, group, name='member', **options):
        return self.cloud.boot(name, scheduler_hints={'group': group}, **options)

    def hosts(self):
        """The host of every server there is."""
        return [each.compute_host for each in self.cloud.admin.compute.servers()]

    def test_affinity(self):
        group = self.group('affinity')
        first = self.boot(group)
        self.boot(group, min_count=2, max_count=2, wait=False)
        for server in self.cloud.admin.compute.servers():
            self.cloud.wait(server)
        self.assertEqual({first.compute_host}, set(self.hosts()))
        found = self.api('GET', f'/os-server-groups/{group}')['server_group']
        self.assertEqual(3, len(found['members']))

    def test_anti_affinity(self):
        group = self.group('anti-affinity')
        self.boot(group, min_count=4, max_count=4, wait=False)
        for server in self.cloud.admin.compute.servers():
            self.cloud.wait(server)
        self.assertEqual(4, len(set(self.hosts())))
        fifth = self.boot(group, 'fifth', status='ERROR')
        self.assertIn('No valid host was found', fifth.fault['message'])
        self.assertIn('Traceback', fifth.fault['details'])
        self.assertIsNone(fifth.root_device_name)

    def test_so_many_on_each_host(self):
        group = self.group('anti-affinity', max_server_per_host=2)
        self.boot(group, min_count=8, max_count=8, wait=False)
        for server in self.cloud.admin.compute.servers():
            self.cloud.wait(server)
        hosts = self.hosts()
        self.assertEqual([2, 2, 2, 2], [hosts.count(host) for host in set(hosts)])
        self.boot(group, 'ninth', status='ERROR')

    def test_soft_anti_affinity_gives_way(self):
        group = self.group('soft-anti-affinity')
        for number in range(5):
            self.boot(group, f'member-{number}')
        hosts = self.hosts()
        self.assertEqual(4, len(set(hosts)))

    def test_soft_affinity(self):
        group = self.group('soft-affinity')
        for number in range(3):
            self.boot(group, f'member-{number}')
        self.assertEqual(1, len(set(self.hosts())))

    def test_no_such_group(self):
        message = self.refused(
            400,
            'POST',
            '/servers',
            {
                'server': {'name': 'x', 'flavorRef': '1', 'networks': 'none'},
                'os:scheduler_hints': {'group': '7d0b0a3c-59bd-4ba5-9e5b-6e1a3e5b1b0d'},
            },
        )
        self.assertIn('7d0b0a3c', message)


class ZoneTest(base.CloudTest):
    settings = SETTINGS

    def test_zone_and_host(self):
        compute = self.cloud.admin.compute
        aggregate = compute.create_aggregate(name='east', availability_zone='east')
        compute.add_host_to_aggregate(aggregate, 'cell2-host1')
        self.assertEqual('cell2-host1', self.cloud.boot(availability_zone='east').compute_host)
        for host in ('cell1-host2', 'cell2-host2'):
            server = self.cloud.boot(availability_zone=f'nova:{host}')
            self.assertEqual(host, server.compute_host)
        body = {'server': {'name': 'x', 'flavorRef': '1', 'networks': 'none'}}
        body['server']['availability_zone'] = 'nowhere'
        self.refused(400, 'POST', '/servers', body)
        self.assertEqual([], self.cloud.findings())
        self.delete(*compute.servers())
        compute.remove_host_from_aggregate(aggregate, 'cell2-host1')
        compute.delete_aggregate(aggregate)

    def test_requested_host(self):
        image = self.cloud.admin.image.find_image('cirros').id
        body = {
            'server': {
                'name': 'there',
                'flavorRef': '1',
                'imageRef': image,
                'networks': 'none',
                'host': 'cell2-host2',
            }
        }
        self.api('POST', '/servers', body, status=202)
        (server,) = self.cloud.admin.compute.servers()
        self.assertEqual('cell2-host2', self.cloud.wait(server).compute_host)

    def test_disabled_hosts_are_left_out(self):
        services = {
            each.host: each for each in self.cloud.admin.compute.services(binary='nova-compute')
        }
        for host in ('cell1-host1', 'cell1-host2', 'cell2-host1'):
            self.addCleanup(self.cloud.admin.compute.enable_service, services[host])
            self.cloud.admin.compute.disable_service(services[host])
        for number in range(3):
            server = self.cloud.boot(f'server-{number}')
            self.assertEqual('cell2-host2', server.compute_host)

    def test_images_kept_at_hand(self):
        """On hosts of both cells, of which one does not get it; openstacksdk asks."""
        said = self.useFixture(heard.Heard(self.cloud.state_dir))
        compute, image = self.cloud.admin.compute, next(self.cloud.admin.image.images())
        aggregate = compute.create_aggregate(name='cached')
        hosts = ['cell1-host1', 'cell2-host1']
        for host in hosts:
            compute.add_host_to_aggregate(aggregate, host)
        self.cloud.behave(FETCHING)
        for outcomes in (['failed', 'cached'], ['cached', 'cached']):
            compute.aggregate_precache_images(aggregate, [image.id])
            said.first('aggregate.cache_images.end')
            told = [each for each in said.messages if 'cache' in each['event_type']]
            self.assertEqual(
                ['start', 'progress', 'progress', 'end'],
                [each['event_type'].rpartition('.')[2] for each in told],
            )
            found = [each['payload']['nova_object.data'] for each in told[1:3]]
            self.assertEqual(hosts, [data['host'] for data in found])
            for data, outcome in zip(found, outcomes, strict=True):
                self.assertEqual([image.id], data[f'images_{outcome}'])
            said.forget()
        self.cloud.behave(PROMPT)
        for host in hosts:
            compute.remove_host_from_aggregate(aggregate, host)
        compute.delete_aggregate(aggregate)


class RescheduleTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cloud.behave, PROMPT)

    def events(self, server):
        """(event, result) of every attempt to build a server, in their order."""
        compute = self.cloud.admin.compute
        (action,) = compute.server_actions(server)
        found = compute.get_server_action(action.request_id, server).events
        ordered = sorted(found, key=lambda event: event['start_time'])
        return [
            (event['event'], event['result']) for event in ordered if event['event'] == BUILT[0]
        ]

    def test_the_next_host_takes_it(self):
        self.cloud.behave(REFUSES_ONCE)
        network = self.cloud.admin.network.find_network('private')
        server = self.cloud.boot('alone', networks=[{'uuid': network.id}])
        self.assertEqual([REFUSED, BUILT], self.events(server))
        self.assertEqual({server.id: [server.compute_host]}, self.cloud.guests())
        (port,) = self.cloud.admin.network.ports(device_id=server.id)
        self.assertEqual(server.compute_host, port.binding_host_id)

    def test_all_refuse(self):
        self.cloud.behave(REFUSES)
        network = self.cloud.admin.network.find_network('private')
        server = self.cloud.boot(networks=[{'uuid': network.id}], status='ERROR')
        self.assertEqual([REFUSED] * 3, self.events(server))
        self.assertIn('Exceeded maximum number of retries', server.fault['message'])
        self.assertEqual({}, self.cloud.guests())
        self.cloud.behave(PROMPT)
        self.delete(server)
        self.assertEqual([], list(self.cloud.admin.network.ports(device_id=server.id)))

    def test_what_no_other_host_would_mend(self):
        self.cloud.behave(BREAKS)
        server = self.cloud.boot('broken-1', status='ERROR')
        self.assertEqual([REFUSED], self.events(server))
        self.assertIn('it broke', server.fault['message'])
        self.cloud.boot('sound')

    def test_one_of_two_that_were_asked_for_together(self):
        self.cloud.behave(REFUSES_ONCE)
        self.cloud.boot('many', min_count=2, max_count=2, wait=False)
        for server in self.cloud.admin.compute.servers():
            self.cloud.wait(server)
        self.assertEqual(2, len(self.cloud.guests()))
