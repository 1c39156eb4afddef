"""Moves to and from hosts that are down, or whose compute service was removed from the cloud."""

import datetime

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import services
from nova_lite.moves import asking
from nova_lite.moves import resize
from nova_lite.moves import steps
from tests.unit.moves import moves_base

SOURCE, DEST, OTHER = moves_base.SOURCE, moves_base.DEST, moves_base.OTHER


class DownHostTest(moves_base.MoveTestCase):
    def change(self, **values):
        service = self.cell.db.read(services.find, SOURCE)
        self.cell.db.write(services.update, service.uuid, values)

    def raised(self):
        """The classes of errors of the three functions that require a host to be up."""
        made = self.resize()
        found = [
            self.assertRaises(exception.NovaLiteError, require, made.scope, SOURCE)
            for require in (asking.require_up_or_retry, asking.require_not_forced_down)
        ]
        found.append(
            self.assertRaises(exception.NovaLiteError, made.scope.here.require_up_or_fail, SOURCE)
        )
        return [(type(error), error.transient) for error in found]

    def test_a_host_that_does_not_report(self):
        self.change(last_seen_up=runtime.naive_now() - datetime.timedelta(hours=1))
        again, never = (exception.Unavailable, True), (exception.ServiceIsDown, False)
        self.assertEqual([again, again, never], self.raised())

    def test_a_host_that_is_forced_down(self):
        self.change(forced_down=True)
        again, never = (exception.Unavailable, True), (exception.ServiceIsDown, False)
        self.assertEqual([again, never, never], self.raised())


class RemovedHostTest(moves_base.MoveTestCase):
    """A host is removed: neither its service nor its mapping to a cell is left."""

    def remove(self, host):
        service = self.cell.db.read(services.find, host)
        self.cell.db.write(services.destroy, service.uuid)
        self.world.cells.of_host = self.unmapped

    def unmapped(self, host):
        raise exception.HostMappingNotFound(host=host)

    def up_to(self, made, name):
        """Take the steps of a saga before the one of a name; that step."""
        plan = made.steps()
        index = [step.id for step in plan].index(name)
        self.do(made, plan[:index])
        return plan[index]

    def test_a_resize_takes_the_next_alternate(self):
        made = self.resize()
        claim = self.up_to(made, steps.CLAIM)
        self.remove(DEST)
        error = self.assertRaises(asking.HostRemoved, claim.do)
        self.assertEqual(steps.CHOOSE, made.go_back(claim, error))
        self.assertEqual(OTHER, made.choice.choose().service_host)

    def test_the_error_says_what_to_do(self):
        made = self.resize()
        self.up_to(made, steps.CLAIM)
        self.remove(DEST)
        for require in (asking.require_up_or_retry, asking.require_not_forced_down):
            error = self.assertRaises(asking.HostRemoved, require, made.scope, DEST)
            self.assertIn(f'Host {DEST} has no compute service', error.message)
            self.assertIn('Choose another host', error.message)
            self.assertIn('cell_v2 discover_hosts', error.message)
            self.assertFalse(error.transient)

    def test_an_undo_does_not_wait_for_it(self):
        made = self.resize()
        finish = self.up_to(made, resize.FINISH)
        self.do(made, [finish])
        self.remove(DEST)
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        error = self.assertRaises(exception.ServiceIsDown, finish.undo)
        self.assertFalse(error.transient)
