"""metrics.update and volume.usage: from hosts of a cell to messages, if options ask for them."""

import dataclasses

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.notify import watch
from nova_lite.virt import model
from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.fixtures import clock
from tests.unit.notify import test_watch

# A server has one CPU of the two of a host, and writes a request to each disk in each second.
PROFILE = """
extends: instant
hosts: [{capacity: {vcpus: 2, memory_mb: 8192, disk_gb: 100}, delays: {detach_volume: 1}}]
guests: [{match: {}, usage: {cpu: 0.5, read_bytes_s: 8192, write_bytes_s: 4096}}]
"""
VOLUME = 'd1d0a7cc-31ed-4b69-b6ac-5f2ec5b1a0c5'
DISK = {
    'source_type': 'volume',
    'destination_type': 'volume',
    'volume_id': VOLUME,
    'volume_size': 1,
}
HOST = 'host-1'


class UsageTestCase(testtools.TestCase):
    options = {}

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.useFixture(
            cell.Cell(hosts=(HOST, 'host-2'), profile=profile.parse(PROFILE))
        )
        for name, value in self.options.items():
            self.cell.conf.set_override(name, value)
        self.cell.conf.set_override('notification_format', 'both', group='notifications')
        self.cell.volume.volumes[VOLUME] = {'id': VOLUME, 'status': 'available', 'size': 1}
        self.notifier = test_watch.Notifier(self.cell.conf)
        self.cell.db.watcher = watch.Watcher(self.cell.conf, self.notifier)
        self.cell.conductor.beat(context.admin(), [*self.cell.hosts], 1)

    def told(self, event_type):
        """Bodies of this type and their unversioned forms, of which there are no further ones."""
        found = [
            (body, older)
            for _host, body, older in self.notifier.kept
            if body['event_type'] == event_type
        ]
        self.notifier.kept.clear()
        return found

    def boot(self):
        return self.cell.boot(devices=[DISK])


class MetricsTest(UsageTestCase):
    options = {'compute_monitors': ['cpu.virt_driver']}

    def report(self):
        self.cell.compute._inventory._registration.register = lambda *_args: {}
        self.cell.compute._inventory.report()
        return {body['publisher_id']: (body, older) for body, older in self.told('metrics.update')}

    def test_each_report_has_the_metrics_of_each_host(self):
        self.clock.advance(50)
        self.boot()
        self.clock.advance(100)
        found = self.report()
        self.assertEqual({'nova-compute:host-1', 'nova-compute:host-2'}, {*found})
        body, older = found['nova-compute:host-1']
        self.assertEqual('INFO', body['priority'])
        data = body['payload']['nova_object.data']
        facts = self.cell.driver.get_facts(HOST)
        self.assertEqual(
            (HOST, HOST, facts.host_ip), (data['host'], data['nodename'], data['host_ip'])
        )
        metrics = [each['nova_object.data'] for each in data['metrics']]
        self.assertEqual({None}, {each['numa_membw_values'] for each in metrics})
        self.assertEqual(
            {
                'cpu.frequency': 2400,
                'cpu.user.time': 50 * 10**9,
                'cpu.kernel.time': 0,
                'cpu.iowait.time': 0,
                'cpu.idle.time': 250 * 10**9,
                'cpu.user.percent': 17,
                'cpu.kernel.percent': 0,
                'cpu.iowait.percent': 0,
                'cpu.idle.percent': 83,
                'cpu.percent': 17,
            },
            {each['name']: each['value'] for each in metrics},
        )
        self.assertEqual(
            ('compute.metrics.update', 'compute.host-1'),
            (older['event_type'], older['publisher_id']),
        )
        flat = {each['name']: each['value'] for each in older['payload']['metrics']}
        self.assertEqual((0.17, 50 * 10**9), (flat['cpu.percent'], flat['cpu.user.time']))
        self.assertEqual(flat, self.recorded())

    def recorded(self):
        row = self.cell.db.read(compute_nodes.first_of_host, HOST)
        return {each['name']: each['value'] for each in row.metrics}

    def test_shares_are_of_the_time_between_reports(self):
        self.clock.advance(1000)
        self.assertEqual(0, self.share(self.report()))
        self.boot()
        for _each in range(2):
            self.clock.advance(60)
            self.assertEqual(25, self.share(self.report()))

    def share(self, found):
        data = found['nova-compute:host-1'][0]['payload']['nova_object.data']
        return {
            each['nova_object.data']['name']: each['nova_object.data']['value']
            for each in data['metrics']
        }['cpu.percent']

    def test_a_node_that_cannot_be_measured_is_reported(self):
        error = exception.DiskFull(service='the hypervisor', reason='test')

        def measure(node, measured=self.cell.driver.get_host_cpu_stats):
            if node == HOST:
                raise error
            return measured(node)

        self.cell.driver.get_host_cpu_stats = measure
        self.assertEqual(['nova-compute:host-2'], [*self.report()])
        self.assertEqual({}, self.recorded())

    def test_without_monitors_there_are_none(self):
        """The metrics of a compute that had monitors before its restart do not stay."""
        self.report()
        self.assertIn('cpu.percent', self.recorded())
        self.cell.conf.set_override('compute_monitors', [])
        self.cell.kill()
        self.assertEqual({}, self.report())
        self.assertEqual({}, self.recorded())


class VolumesTest(UsageTestCase):
    options = {'volume_usage_poll_interval': 60}

    def poll(self):
        self.cell.compute.report_volume_usage()
        return [body['payload']['nova_object.data'] for body, _older in self.told('volume.usage')]

    def counters(self, *seconds):
        """The counters after so many seconds, each of which has two reads and one write."""
        return [
            {
                'reads': 2 * each,
                'read_bytes': 8192 * each,
                'writes': each,
                'write_bytes': 4096 * each,
            }
            for each in seconds
        ]

    def assert_used(self, seconds, found):
        self.assertEqual(
            self.counters(*seconds),
            [{name: each[name] for name in self.counters(0)[0]} for each in found],
        )

    def test_a_poll(self):
        uuid = self.boot()
        self.clock.advance(30)
        self.cell.compute.report_volume_usage()
        ((body, older),) = self.told('volume.usage')
        self.assertEqual(('nova-compute:host-1', 'INFO'), (body['publisher_id'], body['priority']))
        data = body['payload']['nova_object.data']
        self.assertEqual(
            {
                'volume_id': VOLUME,
                'instance_uuid': uuid,
                'project_id': 'project',
                'user_id': 'user',
                'availability_zone': None,
                'last_refreshed': data['last_refreshed'],
                **self.counters(30)[0],
            },
            data,
        )
        self.assertEqual(
            ('volume.usage', 'compute.host-1'), (older['event_type'], older['publisher_id'])
        )
        self.assertEqual(
            ('project', uuid, 60),
            (
                older['payload']['tenant_id'],
                older['payload']['instance_id'],
                older['payload']['reads'],
            ),
        )

    def test_a_reboot_does_not_lose_what_was_used_before(self):
        uuid = self.boot()
        self.clock.advance(30)
        self.assert_used([30], self.poll())
        for after_s, total_s in ((10, 40), (45, 85)):
            action = model.PowerAction.SOFT_REBOOT
            self.cell.driver.change_power(HOST, uuid, action, key=f'reboot/{after_s}')
            self.clock.advance(after_s)
            # A report whose reply was lost comes again.
            for _each in range(2):
                self.assert_used([total_s], self.poll())

    def test_a_late_report_counts_nothing(self):
        """Neither one of the same counters, nor one of those before a reboot."""
        uuid = self.boot()
        late = []
        for number in range(2):
            self.clock.advance(30)
            (found,) = self.cell.driver.list_volume_usage(HOST)
            late.append(self.report_of(found))
            self.clock.advance(10)
            self.poll()
            self.assertEqual([], self.repeat(late))
            self.cell.driver.change_power(
                HOST, uuid, model.PowerAction.SOFT_REBOOT, key=f'reboot/{number}'
            )
        self.clock.advance(10)
        self.assertEqual([], self.repeat(late))
        self.assert_used([90], self.poll())

    def report_of(self, found):
        values = dataclasses.asdict(found)
        return {'instance_uuid': values.pop('guest'), **values}

    def repeat(self, reports):
        for each in reports:
            self.cell.conductor.report_volume_usage(context.admin(), HOST, [each])
        return self.told('volume.usage')

    def test_servers_that_are_off_or_elsewhere(self):
        uuid = self.boot()
        self.clock.advance(30)
        self.cell.db.write(instances.force, uuid, {'host': 'host-2'})
        self.assertEqual([], self.poll())
        self.cell.db.write(instances.force, uuid, {'host': HOST})
        self.cell.driver.change_power(HOST, uuid, model.PowerAction.OFF, key='off')
        self.assertEqual([], self.poll())

    def test_a_detachment_tells_once(self):
        uuid = self.boot()
        self.clock.advance(30)
        ctxt = self.cell.ask(uuid, 'detach_volume', None)
        arguments = {'instance': self.cell.instance(uuid), 'volume_id': VOLUME, 'key': 'detach'}
        for _each in range(2):
            reply = self.cell.call('detach_volume', ctxt, host=HOST, **arguments)
            self.assertIn('pending', reply)
        self.clock.advance(2)
        self.assertIn('done', self.cell.call('detach_volume', ctxt, host=HOST, **arguments))
        found = [body['payload']['nova_object.data'] for body, _old in self.told('volume.usage')]
        self.assert_used([30], found)

    def test_a_detachment_goes_on_without_a_conductor(self):
        uuid = self.boot()
        self.cell.lossy.lose('report_volume_usage')
        arguments = {'instance': self.cell.instance(uuid), 'volume_id': VOLUME, 'key': 'detach'}
        self.assertIn(
            'pending', self.cell.call('detach_volume', context.admin(), host=HOST, **arguments)
        )

    def test_a_copy_of_the_server_keeps_its_counters(self):
        uuid = self.boot()
        self.clock.advance(30)
        self.poll()
        (device,) = self.cell.db.read(copies.read, uuid).devices
        self.assertEqual(60, device['usage']['current']['reads'])


class OffTest(UsageTestCase):
    def test_nothing_is_asked_or_told(self):
        uuid = self.boot()
        self.clock.advance(30)
        intervals = [method.__name__ for _s, method in self.cell.compute.periodics()]
        self.assertEqual(['report_inventory', 'audit'], intervals)
        arguments = {'instance': self.cell.instance(uuid), 'volume_id': VOLUME, 'key': 'detach'}
        self.cell.call('detach_volume', context.admin(), host=HOST, **arguments)
        self.assertEqual([], self.told('volume.usage'))
        self.assertNotIn('report_volume_usage', self.cell.lossy.calls)
