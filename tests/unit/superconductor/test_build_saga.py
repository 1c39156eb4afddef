"""A build: claim, records, mapping, cast; and who takes it up when its builder died."""

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from nova_lite.superconductor import build
from nova_lite.superconductor import manager as super_module
from tests.unit.superconductor import build_base


class BuildTest(build_base.BuildTestCase):
    def test_built(self):
        self.attempt().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        row = self.cell('cell1').db.read(instances.get, self.uuid)
        self.assertEqual(
            ('host-1', 'building', 'scheduling', 'nova'),
            (row.host, row.vm_state, row.task_state, row.availability_zone),
        )
        self.assertNotIn('auth_token', row.build['context'])

    def test_no_valid_host(self):
        self.scheduler.error = exception.NoValidHost(reason='nothing fits')
        self.attempt().run()
        self.assertEqual((['cell0'], 'cell0', False), self.where())
        fault = self.cell('cell0').db.read(instances.faults, [self.uuid])[self.uuid]
        self.assertEqual(
            (500, 'No valid host was found. nothing fits'), (fault.code, fault.message)
        )
        self.assertIn('Traceback (most recent call last)', fault.details)
        self.assertIn('NoValidHost: No valid host was found. nothing fits', fault.details)
        self.assertEqual([], self.compute.built)

    def test_root_device_of_a_server_without_a_host(self):
        """Its name is that of the image, or none."""
        self.scheduler.error = exception.NoValidHost(reason='nothing fits')
        former = self.uuid
        self.attempt().run()
        self.uuid = self.accept('r-2', image_properties={'root_device_name': '/dev/sda'})
        self.attempt().run()
        cell0 = self.cell('cell0').db
        for uuid, expected in ((former, None), (self.uuid, '/dev/sda')):
            self.assertEqual(expected, cell0.read(instances.get, uuid).root_device_name)

    def test_an_unmapped_host(self):
        """The mapping was deleted during the decision, so another host is chosen."""
        self.scheduler.host = 'elsewhere'
        self.attempt().run()
        self.assertEqual(([], None, True), self.where())
        self.assertEqual([self.uuid], self.placement.freed)
        self.scheduler.host = 'host-1'
        self.take_over().run()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)

    def test_a_deleted_cell(self):
        """Its mapping was deleted during the decision, as that of its host."""
        there = self.scheduler.cell_of['host-1']
        self.scheduler.cell_of['host-1'] = runtime.new_uuid()
        self.attempt().run()
        self.assertEqual(([], None, True), self.where())
        self.assertEqual([self.uuid], self.placement.freed)
        self.scheduler.cell_of['host-1'] = there
        self.take_over().run()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)

    def test_a_first_attempt_reads_the_api_database_once(self):
        """For its request; the pivot checks what the scheduler has said of the cell."""
        boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(boss.stop)
        self.cells.every()
        reads, read = [], self.api_db.read
        self.api_db.read = lambda function, *args: reads.append(function) or read(function, *args)
        boss.build_servers(context.admin(), [self.uuid])
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual(1, len(reads))

    def test_a_build_that_waits_holds_up_no_other(self):
        """Resources of its former attempt are not known; the next batch goes on."""
        waits = self.uuid
        self.uuid = self.accept('r-2')
        self.api_db.write(build_requests.expire, {waits: 0, self.uuid: 0})
        working = self.world.placement

        class Down(build_base.Placement):
            def release(self, ctxt, consumer, nodes, *, unless=None):
                if consumer == waits:
                    raise exception.Unavailable(service='Placement', reason='down')
                return working.release(ctxt, consumer, nodes, unless=unless)

        self.world.placement = Down()
        boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(boss.stop)
        boss.sweep_builds()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertIsNotNone(self.api_db.read(build_requests.find, waits))

    def test_a_stopping_sweep_leaves_the_rest_to_others(self):
        first = self.uuid
        self.uuid = self.accept('r-2')
        self.api_db.write(build_requests.expire, {first: 0, self.uuid: 0})
        boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(boss.stop)
        self.scheduler.before = boss.stopping
        boss.sweep_builds()
        self.assertEqual([('host-1', first)], self.compute.built)
        self.assertEqual(['r-2'], list(self.api_db.write(build_requests.take_over, 60)))

    def test_the_scheduler_does_not_answer(self):
        self.scheduler.error = exception.MessagingTimeout(
            service='scheduler', reason='no reply', method='m', topic='t'
        )
        self.attempt().run()
        self.assertEqual(([], None, True), self.where())
        self.scheduler.error = None
        batches = self.api_db.write(build_requests.take_over, 60)
        build.Build(self.world, context.admin(), batches['r-1']).run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_deleted_while_it_was_scheduled(self):
        def delete():
            self.api_db.write(build_requests.withdraw, self.uuid, 60)
            self.api_db.write(instance_mappings.destroy, self.uuid)

        self.scheduler.before = delete
        self.attempt().run()
        self.assertEqual(([], None, False), self.where())
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertEqual([], self.compute.built)

    def test_the_same_message_twice(self):
        twin = self.attempt()
        self.attempt().run()
        twin.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual([], self.placement.freed)

    def test_killed_after_its_records_were_made(self):
        dead = self.attempt()
        dead._create_records(self.cell('cell1'), self.chosen())
        self.scheduler.host = 'host-2'
        self.take_over().run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([('host-2', self.uuid)], self.compute.built)

    def test_what_a_host_has_begun_is_kept(self):
        """The builder died before it mapped the server; its host found the record."""
        dead = self.attempt()
        dead._create_records(self.cell('cell1'), self.chosen())
        self.cell('cell1').db.write(instances.force, self.uuid, {'task_state': 'spawning'})
        self.scheduler.host = 'host-2'
        self.take_over().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([], self.compute.built)
        self.assertEqual([], self.placement.freed)
