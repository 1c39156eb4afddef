"""Former owners of builds release only their own resources, and add none."""

import types

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.db.api import build_requests
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.superconductor import bury
from nova_lite.superconductor import manager as super_module
from tests.unit.superconductor import build_base

NODE = {
    'host': 'host-1',
    'hypervisor_hostname': 'host-1',
    'hypervisor_type': 'sim',
    'hypervisor_version': 1,
    'vcpus': 8,
    'memory_mb': 8192,
    'local_gb': 100,
}


class ZombieTest(build_base.BuildTestCase):
    def test_a_zombie_in_another_cell_removes_only_its_own_record(self):
        zombie = self.attempt()

        def overtaken():
            self.scheduler.before = lambda: None
            self.scheduler.host = 'host-2'
            self.take_over().run()
            self.placement.freed.clear()
            self.scheduler.host = 'host-1'

        self.scheduler.before = overtaken
        zombie.run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([('host-2', self.uuid)], self.compute.built)
        self.assertEqual([], self.placement.freed, "the allocation is the other one's")

    def overtake_before(self, asked):
        """Make another one take over and build when `asked`, a double, is asked next."""

        def overtaken():
            asked.before = lambda: None
            self.take_over().run()
            self.placement.freed.clear()

        asked.before = overtaken

    def test_a_zombie_in_the_same_cell_changes_nothing(self):
        zombie = self.attempt()
        self.overtake_before(self.scheduler)
        zombie.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        self.assertEqual([], self.placement.freed)

    def late_zombie(self):
        """Run a zombie when its successor has cleared the claims and not yet chosen hosts."""
        zombie = self.attempt()

        def late():
            self.scheduler.before = lambda: None
            zombie.run()
            self.scheduler.host, self.scheduler.error = 'host-2', None

        self.scheduler.before = late

    def test_a_zombie_that_comes_after_the_clearing_adds_nothing(self):
        self.late_zombie()
        self.take_over().run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([('host-2', self.uuid)], self.compute.built)

    def test_a_zombie_that_finds_no_host_after_the_clearing(self):
        self.scheduler.error = exception.NoValidHost(reason='nothing fits')
        self.late_zombie()
        self.take_over().run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())

    def test_a_zombie_whose_release_is_late_leaves_the_claim_of_the_next(self):
        zombie = self.take_over()
        self.overtake_before(self.placement)
        asked = []
        zombie.world = types.SimpleNamespace(
            **{name: getattr(self.world, name) for name in ('cells', 'api_db', 'placement')},
            scheduler=types.SimpleNamespace(
                select_destinations=lambda *_args, **_what: asked.append(1)
            ),
        )
        zombie.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual(([], []), (self.placement.freed, asked))

    def test_a_zombie_that_gives_up_late_ends_no_attachment(self):
        """Given a build that was overtaken, when its former owner gives up, then nothing ends."""
        zombie, ended = self.take_over(), []
        self.overtake_before(self.placement)
        self.world.volume = types.SimpleNamespace(
            delete_attachment=lambda _ctxt, attachment: ended.append(attachment)
        )
        for request in zombie.requests.values():
            request.block_devices.append({'attachment_id': 'its'})
        zombie.give_up(exception.NoValidHost(reason='each time'))
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual(([], []), (self.placement.freed, ended))

    def test_claims_of_later_attempts_have_other_generations(self):
        """Given builds that are taken over, when they claim, then no generation is repeated."""
        self.scheduler.before = lambda: self.placement.advanced.append('claim')
        for number in range(3):
            self.placement.conflict = exception.AllocationConflict(consumer=self.uuid)
            self.take_over().run()
            self.assertEqual(([], None, True), self.where(), f'attempt {number}')
            self.placement.conflict = None
        self.take_over().run()
        self.assertEqual(['claim'] * 4 + [(self.uuid, 6)], self.placement.advanced)
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_a_first_attempt_changes_no_generation(self):
        self.attempt().run()
        self.assertEqual([], self.placement.advanced)

    def test_an_attempt_that_is_overtaken_gives_no_claim_back(self):
        """Given a claim on a host without a mapping, when another has taken over, it stays."""
        self.scheduler.host = 'elsewhere'
        zombie = self.attempt()
        self.overtake_before(self.placement)
        before = self.placement.before

        def overtaken():
            self.scheduler.host = 'host-1'
            before()

        self.placement.before = overtaken
        zombie.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([], self.placement.freed)

    def test_a_zombie_killed_after_the_clearing_leaves_no_record(self):
        zombie, other = self.attempt(), self.take_over()
        other._clear_former_attempt()
        self.assertEqual({}, zombie._create_records(self.cell('cell1'), self.chosen()))
        self.assertEqual(([], None, True), self.where())

    def test_a_zombie_leaves_the_record_that_took_the_place_of_its_own(self):
        zombie, cell = self.attempt(), self.cell('cell1')
        zombie._create_records(cell, self.chosen())
        other = self.take_over()
        other._clear_former_attempt()
        created = other._create_records(cell, self.chosen())
        zombie._lost(self.uuid, cell, 'no row with epoch 0')
        self.assertEqual((['cell1'], None, True), self.where())
        self.assertEqual([self.uuid], list(created))

    def test_a_zombie_leaves_its_own_record_that_a_host_has_begun(self):
        """The one that took over is about to map the server to it."""
        zombie, cell = self.attempt(), self.cell('cell1')
        zombie._create_records(cell, self.chosen())
        cell.db.write(instances.force, self.uuid, {'task_state': 'spawning'})
        other = self.take_over()
        self.assertEqual(cell, other._find_begun(self.uuid))
        zombie._lost(self.uuid, cell, 'no row with epoch 0')
        self.assertEqual((['cell1'], None, True), self.where())

    def test_a_zombie_leaves_it_also_before_the_other_looks(self):
        zombie, cell = self.attempt(), self.cell('cell1')
        zombie._create_records(cell, self.chosen())
        cell.db.write(instances.force, self.uuid, {'task_state': 'spawning'})
        other = self.take_over()
        zombie._lost(self.uuid, cell, 'no row with epoch 0')
        other.run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())
        self.assertEqual([], self.compute.built, 'its host is at it')

    def test_a_build_that_starts_over_leaves_what_a_host_has_begun(self):
        build, cell = self.attempt(), self.cell('cell1')
        chosen = self.chosen()
        build._create_records(cell, chosen)
        cell.db.write(instances.force, self.uuid, {'task_state': 'spawning'})
        self.placement.freed.clear()
        refusal = exception.GroupPolicyViolated(policy='affinity', group='g', host='host-1')
        build._start_over(cell, chosen, refusal)
        self.assertEqual((['cell1'], None, True), self.where())
        self.assertEqual([], self.placement.freed)
        self.take_over().run()
        self.assertEqual((['cell1'], 'cell1', False), self.where())

    def test_a_zombie_that_looks_while_the_server_is_mapped(self):
        """Between its two looks the other maps the server, to another cell."""
        zombie, cell = self.attempt(), self.cell('cell1')
        zombie._create_records(cell, self.chosen())
        other, test = self.take_over(), self
        test.placement.freed.clear()

        class Between(transactions.Database):
            def read(self, function, *args, **kwargs):
                found = super().read(function, *args, **kwargs)
                if other.requests:
                    test.world.api_db = test.api_db
                    test.scheduler.host = 'host-2'
                    other.run()
                    other.requests = {}
                    test.placement.freed.clear()
                return found

        between = Between(self.api_db.url)
        self.addCleanup(between.dispose)
        self.world.api_db = between
        zombie._lost(self.uuid, cell, 'no row with epoch 0')
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([], self.placement.freed)

    def test_a_zombie_that_buries_while_the_other_is_about_to(self):
        """The other has its record in cell0 already."""
        self.scheduler.error = exception.NoValidHost(reason='nothing fits')
        zombie, other = self.attempt(), self.take_over()
        cell0 = self.cell('cell0')
        request = other.requests[self.uuid]
        cell0.db.write(bury._create, context.admin(), request, self.scheduler.error, 'top')
        zombie.run()
        self.assertEqual((['cell0'], None, True), self.where())

    def test_a_late_message_does_not_build_beside_the_owner(self):
        owner = self.take_over()
        boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(boss.stop)

        def late():
            self.scheduler.before = lambda: None
            boss.build_servers(context.admin(), [self.uuid])
            self.scheduler.host = 'host-2'

        self.scheduler.before = late
        owner.run()
        self.assertEqual((['cell2'], 'cell2', False), self.where())
        self.assertEqual([('host-2', self.uuid)], self.compute.built)

    # ---- cells that are away ----

    def test_a_first_attempt_asks_no_cell_but_its_own(self):
        self.away('cell2')
        self.attempt().run()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)

    def test_a_cell_that_no_claim_was_made_in_is_not_waited_for(self):
        self.away('cell2')
        self.take_over().run()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)

    def test_a_cell_that_the_claim_was_made_in_is_waited_for(self):
        self.placement.held[self.uuid] = [runtime.new_uuid()]
        self.away('cell2')
        self.take_over().run()
        self.assertEqual([], self.compute.built)
        self.assertEqual([], self.placement.freed)
        self.assertIsNotNone(self.api_db.read(build_requests.find, self.uuid))

    def test_a_claim_in_a_cell_that_answers_is_given_up(self):
        node = runtime.new_uuid()
        self.cell('cell1').db.write(compute_nodes.report, [{**NODE, 'uuid': node}])
        self.placement.held[self.uuid] = [node]
        self.away('cell2')
        self.take_over().run()
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
