"""The notifications of each kind of operation, in order: the tables here are the contract."""

from tests.fixtures import attaching
from tests.fixtures import crossing
from tests.fixtures import heard
from tests.fixtures import live_moving
from tests.functional import base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

INSTANT = 'extends: instant\n'
DECIDED = ['scheduler.select_destinations.start', 'scheduler.select_destinations.end']


def both(*actions):
    """Types of actions that follow each other."""
    return [f'instance.{action}.{phase}' for action in actions for phase in ('start', 'end')]


CREATED = [*DECIDED, *both('create')]
DELETED = [
    'instance.delete.start',
    'instance.shutdown.start',
    'instance.shutdown.end',
    'instance.delete.end',
]
RESIZED = [*DECIDED, 'instance.exists', *both('resize_prep', 'resize', 'resize_finish')]
CONFIRMED = both('resize_confirm')
REVERTED = ['instance.exists', *both('resize_revert')]
LIVE_MIGRATED = [
    *DECIDED,
    *both('live_migration_pre'),
    'instance.live_migration_post.start',
    'instance.live_migration_post_dest.start',
    'instance.live_migration_post_dest.end',
    'instance.live_migration_post.end',
]
# An abort is told of by the API's daemons, all else by those of the move: each in its order.
ABORTED = [
    *DECIDED,
    *both('live_migration_pre'),
    'instance.live_migration_rollback.start',
    'instance.live_migration_rollback_dest.start',
    'instance.live_migration_rollback_dest.end',
    'instance.live_migration_rollback.end',
]
ABORT = both('live_migration_abort')
EVACUATED = [
    'instance.evacuate',
    *DECIDED,
    'instance.rebuild_scheduled',
    'instance.exists',
    *both('rebuild'),
]
REBUILT = [*DECIDED, *EVACUATED[3:]]
SHELVED = both('shelve', 'shelve_offload')
UNSHELVED = [*DECIDED, *both('unshelve')]


class NotificationsTestCase(base.CloudTest):
    settings = base.ROOMY

    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)
        self.heard = self.useFixture(heard.Heard(self.cloud.state_dir))

    def assertTold(self, expected, server, last=None):
        self.heard.until(server, last or expected[-1])
        self.assertEqual(expected, self.heard.types(server))
        self.heard.forget()

    def boot(self, **options):
        """A server of the first cell, its creation told of and forgotten."""
        server = self.cloud.boot(availability_zone='nova:cell1-host1', **options)
        self.assertTold(CREATED, server)
        return server

    def act(self, server, action, content=None, *, status=202, until='ACTIVE'):
        self.moving.act(server, action, content, status=status)
        return self.cloud.wait(server, until)


@sample.in_turns(2)
class ServersTest(NotificationsTestCase):
    def test_created_and_deleted(self):
        server = self.boot()
        self.delete(server)
        self.assertTold(DELETED, server)

    def test_actions_of_one_step(self):
        server = self.boot()
        for action, content, status, told in (
            ('reboot', {'type': 'HARD'}, 'ACTIVE', both('reboot')),
            ('os-stop', None, 'SHUTOFF', both('power_off')),
            ('os-start', None, 'ACTIVE', both('power_on')),
            ('pause', None, 'PAUSED', both('pause')),
            ('unpause', None, 'ACTIVE', both('unpause')),
            ('suspend', None, 'SUSPENDED', both('suspend')),
            ('resume', None, 'ACTIVE', both('resume')),
            ('trigger_crash_dump', None, 'ACTIVE', both('trigger_crash_dump')),
            ('lock', None, 'ACTIVE', ['instance.lock']),
            ('unlock', None, 'ACTIVE', ['instance.unlock']),
            ('createImage', {'name': 'copy'}, 'ACTIVE', both('snapshot')),
        ):
            self.act(server, action, content, until=status)
            self.assertTold(told, server)
        self.act(server, 'rescue', status=200, until='RESCUE')
        self.assertTold(both('rescue'), server)
        self.act(server, 'unrescue')
        self.assertTold(both('unrescue'), server)

    def test_shelved_and_unshelved(self):
        server = self.boot()
        self.act(server, 'shelve', until='SHELVED_OFFLOADED')
        self.assertTold(SHELVED, server)
        self.act(server, 'unshelve')
        self.assertTold(UNSHELVED, server)

    def test_rebuilt(self):
        server = self.boot()
        self.act(server, 'rebuild', {'imageRef': self.moving.image()})
        self.assertTold(REBUILT, server)
        image_id = self.moving.image('odd', hw_architecture='s390x')
        self.act(server, 'rebuild', {'imageRef': image_id}, until='ERROR')
        self.assertTold([DECIDED[0], 'compute_task.rebuild_server.error'], server)

    def test_devices_that_come_and_go(self):
        server = self.boot()
        hands = attaching.Attaching(self.cloud)
        volume = hands.volume()
        hands.attached(server, volume)
        self.heard.until(server, 'instance.volume_attach.end')
        for message in self.heard.of(server):
            self.assertEqual(volume, message['payload']['nova_object.data']['volume_id'])
        self.assertTold(both('volume_attach'), server)
        hands.detached(server, volume)
        self.assertTold(both('volume_detach'), server)
        port = hands.plug(server, net_id=hands.network())['port_id']
        self.assertTold(both('interface_attach'), server)
        hands.unplug(server, port)
        self.assertTold(both('interface_detach'), server)

    def test_use_of_hosts_and_volumes(self):
        """As reports of the hosts and a detachment tell it, if options ask for them."""
        server, manager, hands = self.boot(), self.moving.manager, attaching.Attaching(self.cloud)
        volume = hands.volume()
        hands.attached(server, volume)
        self.assertTold(both('volume_attach'), server)
        for option, value in {
            'compute_monitors': ['cpu.virt_driver'],
            'volume_usage_poll_interval': 3600,
        }.items():
            manager.conf.set_override(option, value)
            self.addCleanup(manager.conf.clear_override, option)
        manager.report_inventory()
        measured = self.heard.first('metrics.update')
        self.assertIn(measured['host'], manager.site.hosts)
        self.assertEqual(10, len(measured['metrics']))
        manager.report_volume_usage()
        self.assertTold(['volume.usage'], server)
        hands.detached(server, volume)
        start, end = both('volume_detach')
        self.heard.until(server, end)
        used = next(
            each['nova_object.data']
            for each in (message['payload'] for message in self.heard.of(server))
            if each['nova_object.name'] == 'VolumeUsagePayload'
        )
        self.assertEqual(
            (volume, server.id, server.user_id),
            (used['volume_id'], used['instance_uuid'], used['user_id']),
        )
        self.assertGreater(used['write_bytes'], 0)
        self.assertTold([start, 'volume.usage', end], server)

    def test_a_build_that_fits_nowhere(self):
        self.moving.flavor('huge', vcpus=4000, ram=512, disk=1)
        server = self.cloud.boot(flavor='huge', status='ERROR')
        told = self.heard.until(server, 'compute_task.build_instances.error')
        self.assertEqual([DECIDED[0], 'compute_task.build_instances.error'], told)
        (failed,) = [each for each in self.heard.of(server) if each['event_type'].endswith('error')]
        self.assertEqual('ERROR', failed['priority'])
        self.assertEqual('nova-conductor:top', failed['publisher_id'])
        reason = failed['payload']['nova_object.data']['reason']['nova_object.data']
        self.assertIn('No valid host', reason['exception_message'])

    def test_who_says_what(self):
        server = self.boot()
        self.act(server, 'reboot', {'type': 'HARD'})
        self.heard.until(server, 'instance.reboot.end')
        message = self.heard.of(server)[-1]
        self.assertEqual('nova-compute:cell1-host1', message['publisher_id'])
        self.assertEqual('INFO', message['priority'])
        self.assertEqual('cell1', message['bus'][-5:])
        payload = message['payload']
        self.assertEqual('nova', payload['nova_object.namespace'])
        self.assertEqual('InstanceActionPayload', payload['nova_object.name'])
        data = payload['nova_object.data']
        self.assertEqual('active', data['state'])
        self.assertEqual('running', data['power_state'])
        self.assertEqual('m1.tiny', data['flavor']['nova_object.data']['name'])
        self.assertEqual(server.user_id, data['action_initiator_user'])
        self.assertIsNone(data['fault'])
        self.assertIsNone(data['cross_cell_move'])

    def test_a_failed_action_tells_why(self):
        server = self.boot()
        self.moving.behave('extends: instant\nfailures: [{verb: rescue, when: before, first: 1}]\n')
        self.addCleanup(self.moving.behave, INSTANT)
        self.act(server, 'rescue', status=200, until='ERROR')
        data = self.heard.first('compute.exception')
        self.assertEqual(['instance.rescue.start'], self.heard.types(server))
        (failed,) = [
            each for each in self.heard.messages if each['event_type'] == 'compute.exception'
        ]
        self.assertEqual('ERROR', failed['priority'])
        self.assertEqual('nova-compute:cell1-host1', failed['publisher_id'])
        self.assertEqual('DriverError', data['exception'])
        self.assertIn('rescue', data['exception_message'])


@sample.in_turns(3)
class MovesTest(NotificationsTestCase):
    def test_resized_and_confirmed(self):
        server = self.boot()
        self.moving.resize(server, 'm1.small')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertTold(RESIZED, server)
        self.act(server, 'confirmResize', status=204)
        self.assertTold(CONFIRMED, server)

    def test_migrated_and_reverted(self):
        server = self.boot()
        self.act(server, 'migrate', {'host': 'cell1-host2'}, until='VERIFY_RESIZE')
        self.assertTold(RESIZED, server)
        self.act(server, 'revertResize')
        self.assertTold(REVERTED, server)

    def test_a_resize_that_fits_nowhere(self):
        server = self.boot()
        self.moving.flavor('giant', vcpus=4000, ram=512, disk=1)
        self.moving.resize(server, 'giant')
        self.assertTold([DECIDED[0], 'compute_task.migrate_server.error'], server)
        self.cloud.wait(server)

    def test_migrated_to_another_cell_and_back(self):
        server = self.boot()
        self.act(server, 'migrate', {'host': 'cell2-host1'}, until='VERIFY_RESIZE')
        self.heard.until(server, RESIZED[-1])
        buses = [
            (each['event_type'], each['bus'][-5:], each['publisher_id'].partition(':')[2])
            for each in self.heard.of(server)[2:]
        ]
        there, here = ('cell2', 'cell2-host1'), ('cell1', 'cell1-host1')
        self.assertEqual(
            [
                ('instance.exists', *there),
                ('instance.resize_prep.start', *there),
                ('instance.resize_prep.end', *there),
                ('instance.resize.start', *here),
                ('instance.resize.end', *here),
                ('instance.resize_finish.start', *there),
                ('instance.resize_finish.end', *there),
            ],
            buses,
        )
        for message in self.heard.of(server)[3:]:
            self.assertIs(True, message['payload']['nova_object.data']['cross_cell_move'])
        self.assertTold(RESIZED, server)
        self.act(server, 'revertResize')
        self.assertTold(REVERTED, server)
        crossing.Crossing(self.cloud).idle(server)

    def test_confirmed_in_another_cell(self):
        server = self.boot()
        self.act(server, 'migrate', {'host': 'cell2-host1'}, until='VERIFY_RESIZE')
        self.assertTold(RESIZED, server)
        self.act(server, 'confirmResize', status=204)
        self.assertTold(CONFIRMED, server)

    def test_live_migrated(self):
        server = self.boot()
        self.moving.go(server)
        prepared = self.heard.first('instance.live_migration_pre.end')
        self.assertEqual('cell1-host1', prepared['host'])
        self.assertTold(LIVE_MIGRATED, server)
        self.moving.ended(server)

    def test_live_migration_aborted(self):
        server = self.boot()
        self.moving.behave(live_moving.ENDLESS)
        self.addCleanup(self.moving.behave, INSTANT)
        self.moving.go(server)
        migration = self.moving.watched(server, 'running')
        self.assertEqual(ABORTED[:4], self.heard.until(server, 'instance.live_migration_pre.end'))
        self.moving.abort(server, migration)
        self.moving.ended(server)
        for last in (ABORTED[-1], ABORT[-1]):
            self.heard.until(server, last)
        found = self.heard.types(server)
        self.assertEqual(ABORTED, [each for each in found if each not in ABORT])
        self.assertEqual(ABORT, [each for each in found if each in ABORT])

    def test_evacuated(self):
        server = self.boot()
        source = server.compute_host
        self.moving.fail(source)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.assertTold(EVACUATED, server)
        self.cloud.wait(server)
        self.moving.come_back(source)


class RecordsTest(NotificationsTestCase):
    def told(self, prefix):
        return [
            each['event_type']
            for each in self.heard.messages
            if each['event_type'].startswith(prefix)
        ]

    def test_aggregates(self):
        compute = self.cloud.admin.compute
        aggregate = compute.create_aggregate(name='rack')
        compute.add_host_to_aggregate(aggregate, 'cell1-host1')
        data = self.heard.first('aggregate.add_host.end')
        self.assertEqual(['cell1-host1'], data['hosts'])
        compute.set_aggregate_metadata(aggregate, {'ssd': 'true'})
        compute.remove_host_from_aggregate(aggregate, 'cell1-host1')
        compute.delete_aggregate(aggregate)
        self.heard.first('aggregate.delete.end')
        changes = ('create', 'add_host', 'update_metadata', 'remove_host', 'delete')
        self.assertEqual(
            [f'aggregate.{change}.{phase}' for change in changes for phase in ('start', 'end')],
            self.told('aggregate.'),
        )

    def test_flavors(self):
        compute = self.cloud.admin.compute
        flavor = compute.create_flavor(name='own', ram=64, vcpus=1, disk=1)
        compute.create_flavor_extra_specs(flavor, {'hw:x': 'y'})
        self.assertEqual({'hw:x': 'y'}, self.heard.first('flavor.update')['extra_specs'])
        compute.delete_flavor(flavor)
        self.assertEqual('own', self.heard.first('flavor.delete')['name'])
        self.assertEqual(['flavor.create', 'flavor.update', 'flavor.delete'], self.told('flavor.'))

    def test_key_pairs_and_groups(self):
        compute = self.cloud.admin.compute
        compute.create_keypair(name='mine')
        compute.delete_keypair('mine')
        self.heard.first('keypair.delete.end')
        self.assertEqual(
            [
                f'keypair.{change}.{phase}'
                for change in ('create', 'delete')
                for phase in ('start', 'end')
            ],
            self.told('keypair.'),
        )
        group = compute.create_server_group(name='pair', policy='affinity')
        server = self.cloud.boot(scheduler_hints={'group': group.id})
        self.assertEqual([server.id], self.heard.first('server_group.add_member')['members'])
        compute.delete_server_group(group)
        self.assertEqual('pair', self.heard.first('server_group.delete')['name'])

    def test_services(self):
        with self.moving.disabled('cell1-host1'):
            data = self.heard.first('service.update')
        self.assertTrue(data['disabled'])
        self.assertEqual('nova-compute', data['binary'])
        (first, *_others) = self.heard.messages
        self.assertEqual('nova-compute:cell1-host1', first['publisher_id'])
