"""Volumes of servers that move, by the rules of a volume service that is strict.

tests.fixtures.neighbours.Volume connects a volume to a second host as Cinder does: with a
new attachment, never by an update of one that was made before.
"""

from nova_lite import exception
from nova_lite.db.cell import services
from nova_lite.moves import kinds
from nova_lite.moves import revert
from nova_lite.moves import steps
from tests.unit.moves import moves_base
from tests.unit.moves import test_rebuild

SOURCE, DEST = moves_base.SOURCE, moves_base.DEST
VOLUME = {
    'source_type': 'volume',
    'destination_type': 'volume',
    'boot_index': -1,
    'device_name': '/dev/vdb',
    'volume_id': 'v',
}


class VolumesTest(moves_base.MoveTestCase):
    def boot(self):
        self.cell.volume.add_volume('v')
        return self.cell.boot(devices=[VOLUME])

    def attached(self):
        """[(host, mountpoint, whether it is complete)] of the volume's attachments."""
        found = self.cell.volume.attachments.values()
        return sorted((one['host'] or '', one['mountpoint'], one['complete']) for one in found)

    def until(self, made, name):
        """The steps of a saga up to one of that name, and this one."""
        steps = made.steps()
        names = [step.id for step in steps]
        return steps[: names.index(name)], steps[names.index(name)]

    def test_go_to_the_destination_and_back(self):
        at_source = [(SOURCE, '/dev/vdb', True)]
        self.assertEqual(at_source, self.attached())
        reverting = self.revert()
        self.assertEqual([(DEST, '/dev/vdb', True)], self.attached())
        self.do(reverting, reverting.steps(), times=2)
        self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
        self.assertEqual(at_source, self.attached())

    def test_destination_is_detached_once_by_a_revert_that_polls(self):
        made = self.revert()
        before, finish = self.until(made, revert.FINISH)
        self.do(made, before)
        gone = [self.cell.volume.calls.count('delete_attachment')]
        for _poll in range(2):
            finish.do()
            gone.append(self.cell.volume.calls.count('delete_attachment'))
        self.assertEqual([0, 1, 1], [count - gone[0] for count in gone])

    def test_stay_where_they_are_when_a_resize_is_undone(self):
        made = self.resize()
        before, reserve = self.until(made, steps.RESERVE)
        self.do(made, [*before, reserve])
        self.assertEqual([(SOURCE, '/dev/vdb', True), (DEST, '/dev/vdb', False)], self.attached())
        self.undo(made, [*before, reserve])
        self.assertEqual([(SOURCE, '/dev/vdb', True)], self.attached())

    def test_attachment_that_connects_nothing_is_replaced(self):
        """The volume service made it, but its back end failed, before a takeover."""
        made = self.resize()
        before, reserve = self.until(made, steps.RESERVE)
        self.do(made, before)
        useless = self.cell.volume.create_attachment(None, 'v', self.server)['id']
        self.do(made, [reserve], times=2)
        self.assertNotIn(useless, self.cell.volume.attachments)
        ((_former, new),) = made.data[steps.RESERVE].values()
        self.assertEqual(DEST, self.cell.volume.attachments[new]['host'])
        self.assertEqual(2, len(self.cell.volume.attachments))

    def test_attachment_that_connects_another_host_is_replaced(self):
        """It could not be ended when the move turned to another destination."""
        made = self.resize()
        before, reserve = self.until(made, steps.RESERVE)
        self.do(made, before)
        connector = {'host': 'refused'}
        self.cell.volume.create_attachment(None, 'v', self.server, connector=connector)
        self.do(made, [reserve], times=2)
        self.assertEqual([(SOURCE, '/dev/vdb', True), (DEST, '/dev/vdb', False)], self.attached())

    def test_no_host_to_ask(self):
        made = self.resize()
        before, reserve = self.until(made, steps.RESERVE)
        self.do(made, before)
        service = self.cell.db.read(services.find, DEST)
        self.cell.db.write(services.update, service.uuid, {'forced_down': True})
        self.assertRaises(exception.Unavailable, reserve.do)
        self.assertEqual([(SOURCE, '/dev/vdb', True)], self.attached())

    def test_all_moves_ask_the_destination(self):
        asking = {kind for kind in kinds.KINDS if 'get_volume_connector' in kinds.calls(kind)}
        self.assertEqual(
            {
                'resize',
                'migrate',
                'cross-cell-resize',
                'cross-cell-migrate',
                'live-migration',
                'evacuation',
            },
            asking,
        )


class RebuildTest(test_rebuild.RebuildTestCase):
    def boot(self):
        self.cell.volume.add_volume('v')
        return self.cell.boot(devices=[test_rebuild.ROOT, VOLUME])

    def test_other_volumes_than_the_root_stay_connected(self):
        (data,) = (each for each in self.cell.devices(self.server) if each.volume_id == 'v')
        made = self.rebuild(reimage=test_rebuild.NEW)
        self.play(made, self.before_pivot(made.steps()), times=2)
        self.assertEqual(SOURCE, self.cell.volume.attachments[data.attachment_id]['host'])
