"""From records to messages: a cell whose conductor tells what its hosts report."""

import testtools

from nova_lite.db import notes
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.notify import derive
from nova_lite.notify import envelope
from nova_lite.notify import spec_payloads
from nova_lite.notify import watch
from nova_lite.objects import request_spec
from tests.fixtures import cell
from tests.unit.objects import test_objects

PHASED = [
    'create',
    'delete',
    'soft_delete',
    'restore',
    'shutdown',
    'power_on',
    'power_off',
    'reboot',
    'pause',
    'unpause',
    'suspend',
    'resume',
    'rescue',
    'unrescue',
    'trigger_crash_dump',
    'snapshot',
    'shelve',
    'shelve_offload',
    'unshelve',
    'rebuild',
    'resize_prep',
    'resize',
    'resize_finish',
    'resize_confirm',
    'resize_revert',
    'live_migration_pre',
    'live_migration_post',
    'live_migration_post_dest',
    'live_migration_rollback',
    'live_migration_rollback_dest',
    'live_migration_abort',
    'live_migration_force_complete',
    'volume_attach',
    'volume_detach',
    'volume_swap',
    'interface_attach',
    'interface_detach',
    'share_attach',
    'share_detach',
]
FAILING = (
    'create',
    'reboot',
    'rebuild',
    'resize',
    'volume_attach',
    'volume_swap',
    'interface_attach',
    'share_attach',
    'share_detach',
)
PLAIN = ('update', 'evacuate', 'exists', 'rebuild_scheduled', 'lock', 'unlock')
TASKS = ('build_instances', 'migrate_server', 'rebuild_server')
REFUSE = """
extends: instant
failures: [{verb: spawn, when: before, reschedule: true, match: {host: '%s'}}]
"""


class Notifier:
    """A notifier that makes bodies at once and keeps them."""

    def __init__(self, conf):
        self.builder = envelope.Builder(conf, spec_parts.of_record)
        self.kept = []

    def is_wanted(self):
        return True

    def take(self, _cell, found):
        self.kept += [each for seen in found for each in self.builder.bodies(seen)]

    def types(self):
        return [body['event_type'] for _host, body, _legacy in self.kept]

    def last(self):
        """Data of the newest."""
        return self.kept[-1][1]['payload']['nova_object.data']


class Late:
    """A notifier that makes nothing of what it takes, until later."""

    def is_wanted(self):
        return True

    def take(self, _cell, found):
        self.found = found


class WatchTestCase(testtools.TestCase):
    options = {}

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell())
        for name, value in self.options.items():
            self.cell.conf.set_override(name, value, group='notifications')
        self.notifier = Notifier(self.cell.conf)
        self.cell.db.watcher = watch.Watcher(self.cell.conf, self.notifier)

    def forget(self):
        self.notifier.kept.clear()


class EventsTest(WatchTestCase):
    def test_a_build_and_a_deletion(self):
        uuid = self.cell.boot()
        self.cell.delete(uuid)
        self.assertEqual(
            [
                'instance.create.start',
                'instance.create.end',
                'instance.delete.start',
                'instance.shutdown.start',
                'instance.shutdown.end',
                'instance.delete.end',
            ],
            self.notifier.types(),
        )
        self.assertEqual('deleted', self.notifier.last()['state'])
        self.assertEqual(
            {'nova-compute:host-1'},
            {body['publisher_id'] for _host, body, _older in self.notifier.kept},
        )

    def test_a_build_that_fails_goes_on_elsewhere(self):
        self.cell.driver.use_profile(self.profile(REFUSE % 'host-1'))
        uuid = self.cell.boot(('host-1', 'host-2'))
        self.cell.run_dry()
        self.assertEqual('active', self.cell.row(uuid).vm_state)
        self.assertEqual(
            [
                'instance.create.start',
                'instance.create.error',
                'compute.exception',
                'instance.create.start',
                'instance.create.end',
            ],
            self.notifier.types(),
        )
        hosts = [host for host, _body, _older in self.notifier.kept]
        self.assertEqual(['host-1'] * 3 + ['host-2'] * 2, hosts)
        failed = self.notifier.kept[1][1]
        self.assertEqual('ERROR', failed['priority'])
        fault = failed['payload']['nova_object.data']['fault']
        self.assertEqual('ExceptionPayload', fault['nova_object.name'])

    def test_a_build_that_no_host_takes(self):
        self.cell.driver.use_profile(self.profile(REFUSE % '*'))
        self.cell.boot(('host-1', 'host-2'), image_properties={'hw_numa_nodes': '1'})
        self.cell.run_dry()
        self.assertEqual(
            ['instance.create.start', 'instance.create.error', 'compute.exception'] * 2
            + ['compute_task.build_instances.error'],
            self.notifier.types(),
        )
        self.assertEqual('error', self.notifier.last()['state'])
        spec = self.notifier.last()['request_spec']['nova_object.data']
        self.assertEqual(1, len(spec['numa_topology']['nova_object.data']['cells']))
        self.assertEqual('nova-conductor:conductor-1', self.notifier.kept[-1][1]['publisher_id'])

    def profile(self, text):
        path = f'{self.cell.directory}/profile.yaml'
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_what_is_repeated_is_told_once(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'reboot', 'rebooting')
        self.forget()
        for _again in range(2):
            self.cell.db.write(
                actions.start_event, uuid, ctxt.request_id, 'compute_reboot_instance'
            )
        for _again in range(2):
            self.cell.db.write(
                actions.finish_event, uuid, ctxt.request_id, 'compute_reboot_instance'
            )
        self.assertEqual(['instance.reboot.start', 'instance.reboot.end'], self.notifier.types())

    def test_what_cannot_be_told_breaks_nothing(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'reboot', 'rebooting')
        self.notifier.take = None
        event = (uuid, ctxt.request_id, 'compute_reboot_instance')
        self.cell.db.write(actions.start_event, *event)
        self.cell.db.watcher = watch.Watcher(self.cell.conf, None)
        self.cell.db.watcher.wants = lambda: True
        self.cell.db.write(lambda connection: notes.add(connection, 'event', broken=True))
        self.cell.db.write(actions.finish_event, *event)
        self.assertIn(('compute_reboot_instance', None, 'Success'), self.cell.events(uuid))

    def test_a_hidden_copy_is_silent(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'reboot', 'rebooting')
        self.forget()
        self.cell.db.write(instances.update, uuid, {'hidden': True})
        self.cell.db.write(actions.start_event, uuid, ctxt.request_id, 'compute_reboot_instance')
        self.assertEqual([], self.notifier.types())

    def test_a_volume(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'attach_volume', None)
        self.forget()
        self.cell.db.write(self._attached, uuid, ctxt.request_id)
        self.assertEqual(
            ['instance.volume_attach.start', 'instance.volume_attach.end'], self.notifier.types()
        )
        self.assertEqual(test_objects.UUID, self.notifier.last()['volume_id'])

    def test_what_a_server_was_before_a_move(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'revertResize', 'resize_reverting')
        self.forget()
        self.cell.db.write(
            actions.start_event, uuid, ctxt.request_id, 'compute_revert_resize', host='host-1'
        )
        self.assertEqual(['instance.exists', 'instance.resize_revert.start'], self.notifier.types())
        _host, body, _older = self.notifier.kept[0]
        self.assertEqual('nova-compute:host-1', body['publisher_id'])
        self.assertEqual('InstanceExistsPayload', body['payload']['nova_object.name'])
        period = body['payload']['nova_object.data']['audit_period']['nova_object.data']
        self.assertEqual('01T00:00:00Z', period['audit_period_beginning'][-12:])

    @staticmethod
    def _attached(connection, uuid, request_id):
        actions.tell_of(connection, uuid, volume_id=test_objects.UUID)
        actions.record_event(connection, uuid, request_id, 'compute_attach_volume', host='host-1')

    def test_a_conductor_is_not_blamed_for_a_host(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'migrate', 'resize_prep')
        self.forget()
        for event in ('conductor_migrate_server', 'compute_finish_resize'):
            self.cell.db.write(actions.start_event, uuid, ctxt.request_id, event)
        self.cell.db.write(actions.end_open, uuid, ctxt.request_id, error='no')
        self.assertEqual(
            ['instance.resize_finish.start', 'instance.resize.error', 'compute.exception'],
            self.notifier.types(),
        )


class UpdatesTest(WatchTestCase):
    options = {'notify_on_state_change': 'vm_state'}

    def updates(self):
        return [
            (data['state_update']['nova_object.data']['old_state'], data['state'])
            for data in (body['payload']['nova_object.data'] for _h, body, _o in self.notifier.kept)
            if 'state_update' in data
        ]

    def test_of_states(self):
        self.cell.boot()
        self.assertEqual([('building', 'active')], self.updates())

    def test_of_the_name(self):
        uuid = self.cell.boot()
        former = self.cell.row(uuid).display_name
        self.cell.db.write(instances.update, uuid, {'display_name': 'new'})
        self.assertEqual('instance.update', self.notifier.types()[-1])
        self.assertEqual(former, self.notifier.last()['old_display_name'])


class TasksTest(UpdatesTest):
    options = {'notify_on_state_change': 'vm_and_task_state'}

    def test_of_states(self):
        self.cell.boot()
        self.assertEqual([('building', 'building'), ('building', 'active')], self.updates())


class UnversionedTest(WatchTestCase):
    options = {'notification_format': 'both'}

    def test_a_flat_payload(self):
        uuid = self.cell.boot()
        _host, _body, older = self.notifier.kept[-1]
        self.assertEqual('compute.instance.create.end', older['event_type'])
        self.assertEqual('compute.host-1', older['publisher_id'])
        self.assertEqual(uuid, older['payload']['instance_id'])
        self.assertEqual('active', older['payload']['state'])
        self.assertEqual('project', older['payload']['tenant_id'])

    def test_of_use(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'evacuate', 'rebuilding')
        self.cell.db.write(
            actions.start_event, uuid, ctxt.request_id, 'compute_rebuild_instance', host='host-1'
        )
        (_host, _body, older), (_host, _body, then) = self.notifier.kept[-2:]
        self.assertEqual('compute.instance.exists', older['event_type'])
        self.assertEqual('compute.instance.rebuild.start', then['event_type'])
        self.assertIn('audit_period_ending', older['payload'])
        self.assertEqual({}, older['payload']['bandwidth'])


class DevicesTest(WatchTestCase):
    options = {'bdms_in_notifications': True}

    def test_told_when_asked_for(self):
        uuid = self.cell.boot()
        devices = self.notifier.last()['block_devices']
        self.assertEqual(len(self.cell.devices(uuid)), len(devices))


SHARE = {
    'uuid': '5c7c2f4b-0e6c-4a53-8d2f-8f62f3b5c9a1',
    'share_id': 'e1f0a5a4-9b8b-4c31-a6a7-1c06a0d0f3f4',
    'tag': 'data',
    'share_proto': 'NFS',
    'export_location': '10.0.0.50:/data',
    'access_type': 'ip',
    'access_to': '10.0.0.1',
    'granted': True,
}
SHARE_FIELDS = 'share_mapping_uuid', 'share_id', 'tag', 'status'


class SharesTest(WatchTestCase):
    options = {'include_share_mapping': True}

    def test_those_of_a_server_that_is_powered_on(self):
        uuid = self.cell.boot()
        self.assertEqual([], self.notifier.last()['shares'])
        self.cell.db.write(shares.add, uuid, SHARE)
        ctxt = self.cell.ask(uuid, 'start', 'powering-on')
        self.cell.db.write(
            actions.start_event, uuid, ctxt.request_id, 'compute_start_instance', host='host-1'
        )
        self.assertEqual('instance.power_on.start', self.notifier.types()[-1])
        (told,) = self.notifier.last()['shares']
        self.assertEqual(
            (SHARE['uuid'], SHARE['share_id'], 'data', 'attaching'),
            tuple(map(told['nova_object.data'].get, SHARE_FIELDS)),
        )
        self.assertNotIn(SHARE['export_location'], str(self.notifier.last()))


class NoDevicesTest(WatchTestCase):
    def test_null_when_not_asked_for(self):
        self.cell.boot()
        self.assertEqual({None}, {self.notifier.last()[key] for key in ('block_devices', 'shares')})


class NoticesTest(WatchTestCase):
    def test_a_decision(self):
        spec = request_spec.RequestSpec(
            instance_uuid=test_objects.UUID,
            project_id='p',
            user_id='u',
            flavor=test_objects.flavor.Flavor(**test_objects.FLAVOR),
            ignore_hosts=['host-1'],
        )
        ctxt = self.cell.ask(self.cell.boot(), 'reboot', None)
        self.forget()
        seen = Late()
        watch.Notices(seen).scheduling(ctxt, spec, 'start', lambda _spec: spec_payloads.Parts())
        spec.ignore_hosts.append('host-2')
        spec.flavor.vcpus += 1
        self.notifier.take(None, seen.found)
        self.assertEqual(['scheduler.select_destinations.start'], self.notifier.types())
        self.assertEqual(['host-1'], self.notifier.last()['ignore_hosts'])
        told = self.notifier.last()['flavor']['nova_object.data']['vcpus']
        self.assertEqual(test_objects.FLAVOR['vcpus'], told)


class TypesTest(testtools.TestCase):
    def test_what_consumers_know(self):
        """The names are nova's; none of them may go away."""
        expected = {
            *(f'instance.{action}.{phase}' for action in PHASED for phase in ('start', 'end')),
            *(f'instance.{action}.error' for action in FAILING),
            *(f'instance.{action}' for action in PLAIN),
            *(f'compute_task.{task}.error' for task in TASKS),
        }
        known = {
            name for name in derive.every_type() if name.startswith(('instance.', 'compute_task.'))
        }
        self.assertEqual(expected, known)
