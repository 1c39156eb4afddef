"""Hosts, nodes and unfinished work in the records of a cell."""

from nova_lite import context
from nova_lite import runtime
from nova_lite import states
from nova_lite import versions
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.objects import instance as instance_objects
from tests.unit.conductor import base


class TestHosts(base.CellConductorTestCase):
    def setUp(self):
        super().setUp()
        self.ctxt = context.admin()

    def service(self, host):
        return self.cell.db.read(services.find, host)

    def test_beat(self):
        self.assertEqual({}, self.conductor.beat(self.ctxt, ['host-1', 'host-2'], 1))
        self.clock.advance(100)
        self.assertEqual({}, self.conductor.beat(self.ctxt, ['host-1', 'host-3'], 1))
        up = [host for host in self.cell.hosts if services.is_up(self.service(host), 60)]
        self.assertEqual(['host-1', 'host-3'], up)

    def test_beat_has_the_version_of_the_computes(self):
        """Not of the conductor, which is of a later release during an upgrade."""
        for version in (versions.SERVICE_VERSION + 1, versions.SERVICE_VERSION + 2):
            self.conductor.beat(self.ctxt, ['host-1', 'new'], version)
            for host in ('host-1', 'new'):
                self.assertEqual(version, self.service(host).version)

    def test_new_services_are_disabled_on_request(self):
        self.conductor.beat(self.ctxt, ['host-1'], 1)
        self.cell.conf.set_override('enable_new_services', False)
        found = self.conductor.beat(self.ctxt, ['host-1', 'new'], 1)
        self.assertEqual({'new': {'disabled': True, 'forced_down': False}}, found)
        self.assertEqual(services.NEW, self.service('new').disabled_reason)
        self.assertFalse(self.service('host-1').disabled)
        self.cell.db.write(services.update, self.service('new').uuid, {'disabled': False})
        self.assertEqual({}, self.conductor.beat(self.ctxt, ['new'], 1))

    def test_beat_tells_who_is_disabled(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.cell.db.write(services.update, self.service('host-1').uuid, {'disabled': True})
        self.cell.db.write(services.update, self.service('host-2').uuid, {'forced_down': True})
        self.assertEqual(
            {
                'host-1': {'disabled': True, 'forced_down': False},
                'host-2': {'disabled': False, 'forced_down': True},
            },
            self.conductor.beat(self.ctxt, self.cell.hosts, 1),
        )

    def disable(self, host, disabled):
        self.cell.db.write(services.update, self.service(host).uuid, {'disabled': disabled})

    def evacuate(self, host, status):
        """An evacuation from a host, in a status; returns its uuid."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': runtime.new_uuid(),
            'migration_type': str(states.MigrationType.EVACUATION),
            'status': str(status),
            'source_compute': host,
            'source_node': host,
        }
        self.cell.db.write(migrations.create, values)
        return values['uuid']

    def test_a_host_that_was_evacuated_does_not_count_as_up(self):
        """Nor while the evacuation goes on, though its daemon knows nothing of a pause."""
        status = states.MigrationStatus
        for begun in (status.ACCEPTED, status.PRE_MIGRATING, status.DONE):
            self.conductor.beat(self.ctxt, self.cell.hosts, 1)
            self.clock.advance(100)
            uuid = self.evacuate('host-1', begun)
            for _again in range(2):
                found = self.conductor.beat(self.ctxt, self.cell.hosts, 1)
                self.assertEqual(['host-1'], [name for name in found if found[name]['returned']])
            self.assertFalse(services.is_up(self.service('host-1'), 60))
            self.assertTrue(services.is_up(self.service('host-2'), 60))
            self.disable('host-1', True)
            found = self.conductor.beat(self.ctxt, self.cell.hosts, 1)
            told = {'disabled': True, 'forced_down': False, 'returned': True}
            self.assertEqual({'host-1': told}, found)
            self.disable('host-1', False)
            self.cell.db.write(migrations.update, uuid, {'status': str(status.COMPLETED)})
            self.assertEqual({}, self.conductor.beat(self.ctxt, self.cell.hosts, 1))
            self.assertTrue(services.is_up(self.service('host-1'), 60))

    def test_a_host_that_is_forced_down_is_heard_of(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.cell.db.write(services.update, self.service('host-1').uuid, {'forced_down': True})
        self.evacuate('host-1', states.MigrationStatus.DONE)
        found = self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.assertEqual({'host-1': {'disabled': False, 'forced_down': True}}, found)

    def up(self):
        return [host for host in self.cell.hosts if services.is_up(self.service(host), 60)]

    def down(self):
        return [host for host in self.cell.hosts if services.is_down(self.service(host), 60)]

    def test_hosts_that_no_conductor_could_hear(self):
        """The bus or the database did not answer: that says nothing about the hosts."""
        self.conductor.started()
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        for deaf_s in (31, 61, 180):
            self.clock.advance(15)
            self.conductor.report()
            self.clock.advance(deaf_s)
            self.assertEqual([], self.down())
            self.conductor.report()
            self.assertEqual(list(self.cell.hosts), self.up())
            # They have the rest of the time that they had when none could be heard.
            for _report in range(2):
                self.clock.advance(22)
                self.conductor.report()
            self.assertEqual(list(self.cell.hosts), self.up())
            self.clock.advance(2)
            self.assertEqual([], self.up())
            self.assertEqual(list(self.cell.hosts), self.down())
            self.conductor.beat(self.ctxt, self.cell.hosts, 1)

    def test_hosts_that_are_down_before_are_not_excused(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        for _report in range(3):
            self.clock.advance(25)
            self.conductor.beat(self.ctxt, ['host-1'], 1)
            self.conductor.report()
        self.assertEqual(['host-2', 'host-3'], self.down())
        self.clock.advance(100)
        self.assertEqual(['host-2', 'host-3'], self.down())
        self.conductor.report()
        self.assertEqual(['host-1'], self.up())

    def test_a_dead_host_is_down_although_its_cell_is_often_deaf(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.conductor.report()
        for _turn in range(7):
            self.clock.advance(40)
            self.conductor.report()
            self.clock.advance(9)
            self.conductor.beat(self.ctxt, ['host-1'], 1)
            self.conductor.report()
        self.assertEqual(['host-1'], self.up())

    def test_a_host_that_is_forced_down_is_not_excused(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.conductor.report()
        self.cell.db.write(services.update, self.service('host-1').uuid, {'forced_down': True})
        self.clock.advance(100)
        self.assertEqual(['host-1'], self.down())
        self.conductor.report()
        self.assertEqual(['host-1'], self.down())
        self.assertEqual(['host-2', 'host-3'], self.up())

    def test_hosts_that_another_conductor_could_hear(self):
        """One of several conductors is frozen: hosts are heard by the others."""
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.conductor.started()
        for _report in range(4):
            self.clock.advance(25)
            self.conductor.report_conductor(self.ctxt, 'other')
        self.assertEqual(list(self.cell.hosts), self.down())
        self.conductor.report()
        self.assertEqual([], self.up())

    def test_a_conductor_that_was_dead_excuses_when_it_starts(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.conductor.start()
        self.conductor.started()
        self.clock.advance(100)
        self.assertEqual([], self.down())
        self.conductor.start()
        # Whether it hears its hosts is not known until it hears itself.
        self.assertEqual([], self.up() + self.down())
        self.conductor.started()
        self.assertEqual(list(self.cell.hosts), self.up())

    def test_an_evacuated_host_is_not_excused(self):
        self.conductor.beat(self.ctxt, self.cell.hosts, 1)
        self.conductor.start()
        self.clock.advance(100)
        self.evacuate('host-1', states.MigrationStatus.ACCEPTED)
        self.conductor.report()
        self.assertEqual([host for host in self.cell.hosts if host != 'host-1'], self.up())

    def test_own_heartbeat(self):
        self.conductor.start()
        found = self.cell.db.read(services.find, 'conductor-1', 'nova-conductor')
        self.assertTrue(services.is_up(found, 60))

    def test_nodes_keep_their_names(self):
        node = self.node('host-1')
        before = node()
        self.node('host-2')
        self.node('host-1')
        self.assertEqual(before.uuid, node().uuid)

    def test_records(self):
        _ctxt, first = self.server()
        _ctxt, second = self.server(['host-2'], hidden=True)
        self.server(['host-2'], deleted=True)
        self.server(['host-3'])
        found = self.conductor.host_records(self.ctxt, ['host-1', 'host-2'])
        self.assertEqual({first, second}, {record['uuid'] for record in found})

    # ---- unfinished ----

    def unfinished(self, idle_s=0, hosts=('host-1',)):
        found = self.conductor.unfinished(self.ctxt, list(hosts), idle_s)
        return {work['instance'].uuid: work for work in found}

    def test_unfinished(self):
        ctxt, uuid = self.server(
            networks='auto', devices=[{'source_type': 'blank', 'destination_type': 'volume'}]
        )
        work = self.unfinished()[uuid]
        self.assertIsInstance(work['instance'], instance_objects.Instance)
        self.assertEqual('auto', work['build']['requested_networks'])
        self.assertEqual(1, len(work['block_devices']))
        self.assertEqual(ctxt.request_id, work['context']['request_id'])
        self.assertEqual({}, self.unfinished(hosts=['host-2']))

    def test_unfinished_failure(self):
        """Of a build that failed on a host which could not take all of it back."""
        failed = {'vm_state': 'error', 'task_state': None}
        _ctxt, uuid = self.server(**failed)
        self.server(**failed, build=None)
        self.server(['host-2'], **failed)
        self.assertEqual([uuid], list(self.unfinished()))
        self.clear(uuid)
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertEqual({}, self.unfinished())

    def test_unfinished_deletion(self):
        """Of a server that was deleted while its host was down and had begun to build it."""
        device = {'source_type': 'blank', 'destination_type': 'volume'}
        _ctxt, uuid = self.server(devices=[device])
        self.cell.db.write(instances.mark_deleted, uuid)
        _ctxt, other = self.server()
        self.cell.db.write(instances.mark_deleted, other, build=None)
        (work,) = self.unfinished().values()
        self.assertEqual(uuid, work['instance'].uuid)
        self.assertEqual(1, len(work['block_devices']))
        self.clear(uuid)
        self.assertEqual({}, self.unfinished())
        self.assertEqual([], self.cell.devices(uuid))
        self.assertEqual('host-1', self.cell.row(uuid).host)

    def clear(self, uuid):
        """The host has taken back what was left, and its report is repeated."""
        self.assertTrue(self.conductor.build_is_over(self.ctxt, 'host-1', uuid))
        for _time in range(2):
            self.assertTrue(self.conductor.build_cleared(self.ctxt, 'host-1', uuid))
        self.assertFalse(self.conductor.build_is_over(self.ctxt, 'host-1', uuid))

    def test_builds_that_are_not_over(self):
        for columns in (
            {},
            {'vm_state': 'active', 'task_state': None},
            {'vm_state': 'error', 'task_state': 'deleting'},
        ):
            _ctxt, uuid = self.server(**columns)
            self.assertFalse(self.conductor.build_is_over(self.ctxt, 'host-1', uuid))
            self.assertFalse(self.conductor.build_cleared(self.ctxt, 'host-1', uuid))
            self.assertEqual('host-1', self.cell.row(uuid).host)
        _ctxt, uuid = self.server(['host-2'], vm_state='error', task_state=None)
        self.assertFalse(self.conductor.build_is_over(self.ctxt, 'host-1', uuid))

    def test_unfinished_action(self):
        _ctxt, uuid = self.server(vm_state='active', task_state=None)
        ctxt = self.cell.ask(uuid, 'stop', 'powering-off')
        found = context.RequestContext.from_wire(self.unfinished()[uuid]['context'])
        self.assertEqual(ctxt.request_id, found.request_id)
        self.assertEqual(('user', 'project'), (found.user_id, found.project_id))

    def test_idle(self):
        _ctxt, uuid = self.server()
        self.assertEqual({}, self.unfinished(idle_s=60))
        self.clock.advance(60)
        self.assertIn(uuid, self.unfinished(idle_s=60))
        self.change(uuid, progress=1)
        self.assertEqual({}, self.unfinished(idle_s=60))

    def test_what_is_none_of_a_hosts_business(self):
        for task in (None, 'resize_prep', 'migrating', 'rebuilding', 'shelving'):
            self.server(vm_state='active', task_state=task)
        self.server(deleted=True)
        self.assertEqual({}, self.unfinished())
