"""Moves to and from hosts whose compute service was removed from the cloud."""

from nova_lite import exception
from nova_lite.db.cell import services
from nova_lite.moves import asking
from nova_lite.moves import resize
from nova_lite.moves import steps
from tests.unit.moves import moves_base

DEST, OTHER = moves_base.DEST, moves_base.OTHER


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
        index = [step.name for step in plan].index(name)
        self.do(made, plan[:index])
        return plan[index]

    def test_a_resize_takes_the_next_alternate(self):
        made = self.resize()
        claim = self.up_to(made, steps.CLAIM)
        self.remove(DEST)
        error = self.assertRaises(asking.HostRemoved, claim.do)
        self.assertEqual(steps.CHOOSE, made.turn(claim, error))
        self.assertEqual(OTHER, made.choice.choose().service_host)

    def test_the_error_says_what_to_do(self):
        made = self.resize()
        self.up_to(made, steps.CLAIM)
        self.remove(DEST)
        for require in (asking.require_heard, asking.require_up):
            error = self.assertRaises(asking.HostRemoved, require, made, DEST)
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
