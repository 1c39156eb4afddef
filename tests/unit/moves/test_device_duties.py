"""Sagas of devices whose host falls silent: what they could not undo is settled later."""

import os

import testscenarios

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import sagas
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.moves import attach_interface
from nova_lite.moves import attach_volume
from nova_lite.moves import kinds
from nova_lite.moves import neighbours
from nova_lite.saga import cleaning
from nova_lite.saga import engine
from nova_lite.saga import journal
from nova_lite.saga import run
from nova_lite.saga import step
from tests.unit.moves import moves_base
from tests.unit.moves import test_device_sagas

HOST, OTHER = 'host-1', 'host-2'
# Attempts, or seconds, until a saga or a hypervisor is stuck.
LONGEST = 60
POLL_S = 0.05
SLOW = "extends: instant\nhosts: [{match: '*', delays: {detach_volume: 1}}]\n"


class Silenced:
    """The computes: one method takes effect once, and its host is not heard of again."""

    def __init__(self, compute, method, silence):
        self._compute, self._method, self._silence = compute, method, silence

    def __getattr__(self, name):
        target = getattr(self._compute, name)

        def call(*args, **kwargs):
            answer = target(*args, **kwargs)
            if name == self._method:
                self._method = None
                self._silence()
                raise exception.Unavailable(service='compute', reason='no reply')
            return answer

        return call


class LostHostCase(test_device_sagas.DeviceSagasCase):
    hosts = (HOST, OTHER)

    def setUp(self):
        super().setUp()
        self.patch(run, 'FIRST_PAUSE_S', 0)
        self.ctxt = context.admin()

    # ---- the host ----

    def force_down(self, down=True):
        service = self.cell.db.read(services.find, HOST)
        self.cell.db.write(services.update, service.uuid, {'forced_down': down})

    def lose(self, method):
        """The host is silent as soon as `method` has taken effect."""
        silenced = Silenced(self.cell.answers, method, self.force_down)
        self.world.compute = lambda cell: silenced

    def answer(self, method, error, *, after):
        """The host's next answer to a method is an error."""
        compute = self.cell.answers

        class Answering:
            def __getattr__(self, name):
                target = getattr(compute, name)

                def call(*args, **kwargs):
                    if name != method or error in given:
                        return target(*args, **kwargs)
                    given.append(error)
                    if after:
                        target(*args, **kwargs)
                    raise error

                return call

        given = []
        self.world.compute = lambda cell: Answering()
        self.force_down(False)

    def plugged(self, host=HOST):
        guest = self.cell.driver.get_guest(host, self.server)
        return {device.id for device in guest.spec.devices}

    # ---- the saga ----

    def record(self, made):
        """Put a saga into the journal."""
        values = {'uuid': made.uuid, 'kind': made.kind, 'instance_uuid': self.server}
        self.world.api_db.write(sagas.create, made.ctxt, arguments=made.plain_arguments, **values)

    def attempt(self, made):
        """Run a saga once; its state then."""
        past = sagas.TABLE.update().where(sagas.TABLE.c.uuid == made.uuid)
        past = past.values(wake_at=sagas.TABLE.c.created_at)
        self.world.api_db.write(lambda connection: connection.execute(past))
        runner = engine.Engine(sagas.Journal(self.world.api_db), self.remake, owner='one')
        try:
            return runner.run(made.uuid)
        finally:
            runner.stop()

    def remake(self, row):
        ctxt = context.RequestContext.from_wire(row.context)
        return kinds.KINDS[row.kind](self.world, row, ctxt)

    def run_until(self, made, *states):
        for _attempt in range(LONGEST):
            state = self.attempt(made)
            if state in states:
                return state
        raise AssertionError(f'{made.kind} is {state}')

    def lost(self, name, method):
        """Run a saga whose host is lost in the middle, until only its duty is left."""
        made = getattr(self, name)()
        self.record(made)
        self.lose(method)
        self.run_until(made, journal.CLEANING)
        self.assertEqual('undo', self.journal_row(made).direction)
        return made

    def journal_row(self, made):
        return self.world.api_db.read(sagas.get, made.uuid)

    def is_reserved(self):
        """Return whether the server has an attachment of the new volume."""
        found = self.cell.volume.list_attachments(self.ctxt, self.server)
        return self.new in {each['volume_id'] for each in found}


class UndoneTest(testscenarios.WithScenarios, LostHostCase):
    """Whatever the host has done, it ends with what is on record."""

    scenarios = [
        (name.replace('_', ' '), {'name': name, 'method': method, 'wanted': wanted})
        for name, method, wanted in (
            ('attach_volume', 'attach_volume', {'new', 'old', 'vif'}),
            ('swap_volume', 'swap_volume', {'new', 'vif'}),
            ('detach_volume', 'detach_volume', {'vif'}),
            ('attach_port', 'attach_interface', {'port', 'old', 'vif'}),
            ('detach_interface', 'detach_interface', {'old'}),
        )
    ]

    def names(self):
        known = {
            self.new: 'new',
            self.device.volume_id: 'old',
            self.vif['id']: 'vif',
            self.port: 'port',
        }
        return {known[each] for each in self.plugged()}

    def test_a_device_is_free_when_the_guest_has_it_no_longer(self):
        start = self.plugged(), self.cell.leftovers()
        made = self.lost(self.name, self.method)
        for _attempt in range(3):
            self.assertEqual(journal.CLEANING, self.attempt(made))
            self.assertEqual(self.wanted, self.names())
            self.assertIsNone(self.journal_row(made).active_for)
            if 'new' in self.wanted:
                self.assertTrue(self.is_reserved())
            if 'port' in self.wanted:
                owner = self.cell.leftovers()['ports'][self.port]['server']
                self.assertEqual(self.server, owner)
        self.force_down(False)
        self.assertEqual(journal.UNDONE, self.run_until(made, *journal.ENDED))
        self.assertEqual(start, (self.plugged(), self.cell.leftovers()))
        self.assertEqual({'old', 'vif'}, self.names())


class HeldTest(LostHostCase):
    """Devices that a duty holds are not those of a later saga, and are released once."""

    def test_volume_is_not_attached_again_before(self):
        made = self.lost('attach_volume', 'attach_volume')
        self.force_down(False)
        again = self.attach_volume()
        error = self.assertRaises(exception.VolumeNotUsable, again.steps()[0].do)
        self.assertIn('is not undone yet', error.message)
        self.assertRaises(exception.VolumeNotUsable, self.swap_volume().steps()[0].do)
        self.cell.db.write(children.destroy_block_device, again.arguments.device)
        self.run_until(made, journal.UNDONE)
        again = self.attach_volume()
        self.do(again, again.steps())
        self.assertIn(self.new, self.plugged())

    def test_port_is_not_attached_again_before(self):
        self.lost('attach_port', 'attach_interface')
        self.force_down(False)
        again = self.attach_port()
        bound = moves_base.through(again, attach_interface.BIND)
        self.do(again, bound[:-1])
        self.assertRaises(exception.PortInUse, bound[-1].do)
        self.undo(again, bound)
        self.assertEqual(self.server, self.cell.leftovers()['ports'][self.port]['server'])

    def test_resources_of_a_port_are_not_claimed_again(self):
        """A repetition would first give up what the server's port holds."""
        made = self.attach_port(port_id=self.vif['id'], resource_request={'request_groups': []})
        begin, claim, *_others = made.steps()
        self.do(made, [begin])
        self.assertRaises(exception.PortInUse, claim.do)

    def test_other_sagas_leave_it(self):
        made = self.lost('attach_volume', 'attach_volume')
        neighbours.drop_foreign(made.scope, made.scope.devices)
        self.assertTrue(self.is_reserved())
        self.force_down(False)
        self.run_until(made, journal.UNDONE)
        self.cell.volume.create_attachment(self.ctxt, self.new, self.server)
        neighbours.drop_foreign(made.scope, made.scope.devices)
        self.assertFalse(self.is_reserved())

    def test_server_that_was_deleted(self):
        made = self.lost('attach_volume', 'attach_volume')
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
        self.force_down(False)
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertTrue(self.is_reserved())
        self.force_down()
        self.cell.db.write(instances.mark_deleted, self.server)
        self.assertEqual(journal.UNDONE, self.attempt(made))
        self.assertFalse(self.is_reserved())

    def test_server_that_is_on_no_host(self):
        made = self.lost('attach_volume', 'attach_volume')
        values = {'host': None, 'node': None}
        self.cell.db.write(instances.force, self.server, values)
        self.assertEqual(journal.UNDONE, self.attempt(made))
        self.assertFalse(self.is_reserved())

    def test_server_that_was_evacuated(self):
        made = self.lost('attach_volume', 'attach_volume')
        values = {'host': OTHER, 'node': OTHER}
        self.cell.db.write(instances.force, self.server, values)
        self.assertEqual(journal.UNDONE, self.run_until(made, *journal.ENDED))
        self.assertFalse(self.is_reserved())

    def test_server_that_is_at_work(self):
        made = self.lost('attach_volume', 'attach_volume')
        self.force_down(False)
        self.cell.db.write(instances.force, self.server, {'task_state': 'rebooting'})
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertIn(self.new, self.plugged())
        self.assertIsNone(self.journal_row(made).active_for)

    def test_volume_that_cannot_be_freed_at_once(self):
        """The guest has let go of it; its service is silent, once."""
        made = self.lost('attach_volume', 'attach_volume')
        self.force_down(False)
        end = self.cell.volume.delete_attachment

        def hang(ctxt, attachment_id):
            self.cell.volume.delete_attachment = end
            raise exception.Unavailable(service='volume', reason='it hangs')

        self.cell.volume.delete_attachment = hang
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertNotIn(self.new, self.plugged())
        self.assertEqual(journal.UNDONE, self.run_until(made, *journal.ENDED))
        self.assertFalse(self.is_reserved())


class AnswersTest(LostHostCase):
    """Duties when the host is up again and its answers are lost."""

    def test_lost(self):
        """The guest may change yet: no other saga gets the server."""
        made = self.lost('attach_volume', 'attach_volume')
        lost = exception.MessagingTimeout(
            service='compute', reason='no reply', method='detach_volume', topic='compute'
        )
        self.answer('detach_volume', lost, after=True)
        self.assertEqual(journal.CLEANING, self.attempt(made))
        row = self.journal_row(made)
        self.assertEqual(self.server, row.active_for)
        self.assertNotIn('failures', row.data[cleaning.DUTIES][0])
        self.assertTrue(self.is_reserved())
        self.assertEqual(journal.UNDONE, self.attempt(made))
        self.assertFalse(self.is_reserved())

    def test_neighbour_of_the_host_does_not_answer(self):
        """The outage may last: other sagas get the server."""
        made = self.lost('attach_volume', 'attach_volume')
        down = exception.Unavailable(service='volume', reason='down')
        self.answer('detach_volume', down, after=False)
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertIsNone(self.journal_row(made).active_for)

    def test_refused(self):
        """Devices that the guest has detached are free, whatever happens to others."""
        made = self.lost('swap_volume', 'swap_volume')
        refused = exception.Conflict(reason='no path')
        self.answer('attach_volume', refused, after=False)
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertNotIn(self.new, self.plugged())
        self.assertFalse(self.is_reserved())
        self.assertIsNone(self.journal_row(made).active_for)
        self.assertEqual(journal.UNDONE, self.attempt(made))
        self.assertEqual({self.device.volume_id, self.vif['id']}, self.plugged())


class FormerReleaseTest(LostHostCase):
    def test_without_a_duty_nothing_is_held(self):
        """Its sagas gave up what they could not undo at the host."""
        made = self.attach_volume()
        self.do(made, moves_base.through(made, attach_volume.PLUG))
        made.data[step.NOT_UNDONE] = {attach_volume.PLUG: {'message': 'no reply'}}
        made.reservation.drop()
        self.assertFalse(self.is_reserved())
        self.assertNotIn(cleaning.HELD, made.data)

    def test_only_what_a_duty_is_to_free_is_held(self):
        held = {cleaning.HELD: {attach_volume.PLUG: {neighbours.VOLUMES: ['v']}}}
        duties = {cleaning.DUTIES: [{'step': attach_volume.PLUG}]}
        self.assertEqual({'v'}, neighbours.held_by({**held, **duties}, neighbours.VOLUMES))
        self.assertEqual(set(), neighbours.held_by({**held, **duties}, neighbours.PORTS))
        self.assertEqual(set(), neighbours.held_by(held, neighbours.VOLUMES))


class NotAskedTest(LostHostCase):
    def test_host_that_was_never_asked_holds_nothing(self):
        made = self.attach_volume()
        self.record(made)
        reserve = self.cell.volume.create_attachment

        def create_attachment(*args, **kwargs):
            self.force_down()
            return reserve(*args, **kwargs)

        self.cell.volume.create_attachment = create_attachment
        self.assertEqual(journal.UNDONE, self.attempt(made))
        self.assertFalse(self.is_reserved())


class SlowTest(LostHostCase):
    def wait_idle(self):
        """Wait until the hypervisor has done all it was asked for."""
        deadline = runtime.monotonic() + LONGEST
        while self.cell.driver.list_jobs(HOST, self.server):
            self.assertLess(runtime.monotonic(), deadline)
            runtime.sleep(POLL_S)

    def test_the_server_is_kept_while_its_hypervisor_works(self):
        made = self.lost('attach_volume', 'attach_volume')
        profile = os.path.join(self.cell.directory, 'slow.yaml')
        with open(profile, 'w') as slow:
            slow.write(SLOW)
        self.cell.driver.use_profile(profile)
        self.force_down(False)
        self.assertEqual(journal.CLEANING, self.attempt(made))
        self.assertEqual(self.server, self.journal_row(made).active_for)
        self.assertTrue(self.is_reserved())
        self.wait_idle()
        self.assertEqual(journal.UNDONE, self.run_until(made, *journal.ENDED))
        self.assertIsNone(self.journal_row(made).active_for)
        self.assertFalse(self.is_reserved())
        self.assertNotIn(self.new, self.plugged())
