"""A user's port outlives a server that is deleted while the port is being attached."""

import datetime

import testscenarios

from nova_lite import exception
from nova_lite import runtime
from nova_lite.conductor import audit
from nova_lite.db.cell import instances
from nova_lite.db.cell import user_ports
from nova_lite.lifecycle import disposal
from nova_lite.moves import attach_interface
from nova_lite.saga import journal
from tests.unit.moves import moves_base
from tests.unit.moves import test_device_duties

OLD = datetime.timedelta(minutes=10)


class UserPortCase(test_device_duties.LostHostCase):
    def setUp(self):
        super().setUp()
        self.world.image = self.cell.image

    def noted(self):
        row = self.cell.row(self.server)
        return [name for name in row.system_metadata if name.startswith(user_ports.PREFIX)]

    def assert_noted(self):
        self.assertEqual([f'user_port:{self.port}'], self.noted())

    def owner(self):
        """The server that has the user's port; raises KeyError when the port is gone."""
        return self.cell.network.ports[self.port]['server']

    def bound(self):
        """A saga that has bound the port, and did nothing more."""
        made = self.attach_port()
        self.do(made, moves_base.through(made, attach_interface.BIND))
        return made

    def answer_lost(self):
        """A saga that was killed after the port was bound."""
        made = self.attach_port()
        begin, bind, *_others = made.steps()
        self.do(made, [begin])
        lost = exception.Unavailable(service='network', reason='no reply')
        self.cell.network.fail('attach', lost, times=1, after=True)
        self.assertRaises(exception.Unavailable, bind.do)
        return made

    def held(self):
        """A saga whose host is silent since it has plugged the port in."""
        return self.lost('attach_port', 'attach_interface')


class DeletedTest(testscenarios.WithScenarios, UserPortCase):
    scenarios = testscenarios.multiply_scenarios(
        [(moment, {'moment': moment}) for moment in ('bound', 'answer_lost', 'held')],
        [(way, {'way': way}) for way in ('by_host', 'without_host', 'by_audit')],
    )

    def by_host(self):
        self.force_down(False)
        self.cell.delete(self.server)

    def begin(self, **changes):
        self.cell.ask(self.server, 'delete', 'deleting')
        self.cell.db.write(instances.force, self.server, changes)

    def without_host(self):
        self.begin(progress=0)
        disposal.finish(self.world, self.ctxt, self.cell, self.cell.row(self.server))

    def by_audit(self):
        self.begin(host=None, node=None, updated_at=runtime.naive_now() - OLD)
        clients = self.cell._neighbours(self.cell.placement)
        db = self.cell.db
        audit.Audit(db.write, db.read, rescheduler=None, clients=clients, idle_s=0).run()

    def test_the_port_is_kept(self):
        getattr(self, self.moment)()
        self.assertEqual(self.server, self.owner())
        getattr(self, self.way)()
        self.assertTrue(self.cell.row(self.server).deleted)
        self.assertIsNone(self.owner())
        self.assertEqual([self.port], list(self.cell.network.ports))

    def test_a_server_without_other_ports(self):
        self.cell.db.write(instances.update, self.server, {'network_info': []})
        del self.cell.network.ports[self.vif['id']]
        self.test_the_port_is_kept()


class ForgottenTest(UserPortCase):
    def test_when_the_interface_is_recorded(self):
        made = self.bound()
        self.assert_noted()
        self.do(made, moves_base.after(made, attach_interface.BIND))
        self.assertEqual([], self.noted())
        self.assertEqual({self.port}, user_ports.of(self.cell.row(self.server)))

    def test_when_the_port_is_free_again(self):
        for begin in (self.bound, self.answer_lost):
            made = begin()
            self.assert_noted()
            self.undo(made, moves_base.through(made, attach_interface.BIND))
            self.assertEqual([], self.noted())
            self.assertIsNone(self.owner())

    def test_when_it_cannot_be_freed_at_once(self):
        made = self.attach_port()
        self.record(made)
        broken = exception.NeighbourError(
            service='network', status=500, request='PUT', reason='it is broken'
        )
        self.cell.network.fail('attach', broken, times=1, after=True)
        self.cell.network.fail('undo_attach', broken, times=2)
        self.run_until(made, journal.CLEANING)
        self.assert_noted()
        self.run_until(made, journal.UNDONE)
        self.assertEqual([], self.noted())
        self.assertIsNone(self.owner())

    def test_when_the_guest_has_let_go_of_it(self):
        made = self.held()
        self.assert_noted()
        self.force_down(False)
        self.run_until(made, journal.UNDONE)
        self.assertEqual([], self.noted())
        self.assertIsNone(self.owner())

    def test_not_by_a_saga_that_asks_for_it_again(self):
        self.held()
        self.force_down(False)
        again = self.attach_port()
        begin, bind, *_others = again.steps()
        self.do(again, [begin])
        self.assertRaises(exception.PortInUse, bind.do)
        self.undo(again, [begin, bind])
        self.assert_noted()

    def test_nothing_is_noted_for_a_server_that_is_being_deleted(self):
        made = self.attach_port()
        begin, bind, *_others = made.steps()
        self.do(made, [begin])
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
        self.assertRaises(exception.InstanceNotFound, bind.do)
        self.assertEqual([], self.noted())

    def test_a_port_that_was_made_is_none_of_the_users(self):
        made = self.attach_interface()
        self.do(made, moves_base.through(made, attach_interface.BIND))
        self.assertEqual([], self.noted())
        self.assertEqual(set(), user_ports.of(self.cell.row(self.server)))


class RefreshedTest(UserPortCase):
    """The network service showed a port of the server, which came onto its record."""

    def refreshed(self):
        made = self.held()
        found = {'id': self.port, 'address': 'fa:16:3e:00:00:02', 'preserve_on_delete': False}
        self.cell.db.write(instances.update, self.server, {'network_info': [self.vif, found]})
        self.force_down(False)
        return made

    def test_it_stays_the_users(self):
        made = self.refreshed()
        self.run_until(made, journal.UNDONE)
        self.assertEqual([], self.noted())
        self.assertIn(self.port, self.plugged())
        self.cell.delete(self.server)
        self.assertIsNone(self.owner())

    def test_detaching_it_does_not_delete_it(self):
        made = self.refreshed()
        self.vif = {'id': self.port}
        detach = self.detach_interface()
        self.do(detach, detach.steps())
        self.assertIsNone(self.owner())
        self.run_until(made, journal.UNDONE)
        self.assertEqual([], self.noted())
        self.assertNotIn(self.port, self.plugged())


class OtherPortTest(UserPortCase):
    def test_several_are_noted(self):
        other = runtime.new_uuid()
        self.bound()
        row = self.cell.row(self.server)
        self.cell.db.write(user_ports.note, row, other)
        self.cell.db.write(user_ports.forget, self.server, self.port)
        self.assertEqual({other}, user_ports.of(self.cell.row(self.server)))
        self.cell.db.write(instances.mark_deleted, self.server)
        self.cell.db.write(user_ports.forget, self.server, other)
