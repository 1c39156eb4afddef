"""The mark 'detaching' of a volume, which sagas of several servers may make."""

import functools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import sagas
from nova_lite.moves.parts import detaching
from tests.unit.moves import moves_base
from tests.unit.moves import test_device_sagas


class MarkTest(test_device_sagas.DeviceSagasCase):
    """A volume has one mark, and it does not tell whose it is."""

    def setUp(self):
        super().setUp()
        self.volume, self.ctxt = self.device.volume_id, context.admin()
        self.made = self.detach_volume()
        self.steps = moves_base.through(self.made, detaching.MARK)
        self.do(self.made, self.steps[:-1])

    def another(self):
        """The saga of another server has marked the volume, or is about to."""
        uuid = runtime.new_uuid()
        options = {'uuid': uuid, 'kind': 'detach-volume', 'instance_uuid': runtime.new_uuid()}
        self.world.api_db.write(sagas.create, self.ctxt, arguments={}, **options)
        return uuid

    def change(self, uuid, **values):
        change = sagas.TABLE.update().where(sagas.TABLE.c.uuid == uuid).values(values)
        self.world.api_db.write(lambda connection: connection.execute(change))

    def is_marked(self):
        return self.cell.volume.get(self.ctxt, self.volume)['status'] == 'detaching'

    def test_whose_it_may_be(self):
        """A mark without a record counts as the saga's own, unless another saga has it."""
        uuid = self.another()
        self.cell.volume.begin_detaching(self.ctxt, self.volume)
        self.change(uuid, data={detaching.MARKED: self.volume})
        self.made.repeated = True
        self.assertRaises(exception.VolumeNotUsable, self.steps[-1].do)
        self.undo(self.made, self.steps)
        self.assertTrue(self.is_marked())
        self.change(uuid, data={})
        self.made.data.pop(detaching.MARKED)
        self.steps[-1].do()
        self.undo(self.made, self.steps)
        self.assertFalse(self.is_marked())

    def test_taken_back_twice(self):
        """In between another has marked it."""
        self.do(self.made, self.steps[-1:])
        uuid = self.another()
        self.change(uuid, data={detaching.MARKED: self.volume})
        self.undo(self.made, self.steps)
        self.assertTrue(self.is_marked())
        self.change(uuid, active_for=None)
        self.undo(self.made, self.steps)
        self.assertFalse(self.is_marked())

    def test_made_after_a_successor_has_taken_over(self):
        """The mark is taken back, also if its reply was lost."""
        mark, volume = self.steps[-1], self.cell.volume
        options = {'uuid': self.made.uuid, 'kind': 'detach-volume', 'instance_uuid': self.server}
        self.world.api_db.write(sagas.create, self.ctxt, arguments={}, **options)
        self.change(self.made.uuid, epoch=self.made.ctxt.epoch)
        guard = functools.partial(self.world.api_db.read, sagas.require_newest, self.made.ctxt)
        self.made.ctxt = self.made.ctxt.guarded(guard)
        self.do(self.made, [mark])
        self.assertTrue(self.is_marked())
        self.undo(self.made, [mark])
        self.change(self.made.uuid, epoch=self.made.ctxt.epoch + 1)
        self.assertRaises(exception.StaleEpoch, mark.do)
        self.assertFalse(self.is_marked())
        lost = exception.Unavailable(service='Cinder', reason='no reply')
        volume.fail('begin_detaching', lost, times=1, after=True)
        self.assertRaises(exception.StaleEpoch, mark.do)
        self.assertFalse(self.is_marked())
