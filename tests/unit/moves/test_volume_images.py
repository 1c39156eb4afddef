"""Images of servers that boot from volumes: nothing stays of one that cannot be made."""

import json

import testscenarios
from testtools import matchers

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.moves import volume_image
from nova_lite.states import transitions
from tests.unit.moves import test_device_sagas

AWAY = exception.Unavailable(service='volume', reason='test')
REFUSED = exception.OverQuota('no more snapshots')


class Case(test_device_sagas.DeviceSagasCase):
    """A server with two volumes, one of which ends with it, and a local disk."""

    def setUp(self):
        super().setUp()
        for device in (self.other(), self.swap()):
            self.cell.db.write(children.create_block_devices, [device])
        end = {'delete_on_termination': True, 'boot_index': 0}
        self.cell.db.write(children.update_block_device, self.device.uuid, end)
        self.volumes, self.images = self.cell.volume, self.cell.image
        self.saga = self.begin()
        self.steps = self.saga.steps()

    def other(self):
        return {
            'uuid': self.new,
            'instance_uuid': self.server,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': self.new,
        }

    def swap(self):
        local = {'source_type': 'blank', 'destination_type': 'local', 'guest_format': 'swap'}
        return {'uuid': self.port, 'instance_uuid': self.server, 'volume_size': 1, **local}

    def begin(self):
        options = {'name': 'copy', 'metadata': {'a': 'b'}}
        return self.make(volume_image.VolumeImage, transitions.SNAPSHOT_VOLUMES, **options)

    def kept(self):
        """Return (ids of snapshots, ids of images)."""
        return [*self.volumes.snapshots], [*self.images.images]

    def check_nothing_stays(self):
        self.assertEqual(([], []), self.kept())


class VolumeImageTest(Case):
    def test_image_names_the_snapshots(self):
        self.do(self.saga, self.steps)
        image = self.images.images[self.saga.uuid]
        self.assertEqual(('active', 'raw', 'b'), tuple(image[n] for n in ('status', *FIELDS)))
        mapping = json.loads(image['block_device_mapping'])
        named = [each.get('snapshot_id') for each in mapping]
        self.assertEqual([*self.volumes.snapshots, None], named)
        self.assertEqual('swap', mapping[-1]['guest_format'])
        row = self.cell.db.read(actions.get, self.server, self.saga.ctxt.request_id)
        (event,) = self.cell.db.read(actions.events_of, [row.id])[row.id]
        self.assertEqual(('api_snapshot_instance', 'Success'), (event.event, event.result))

    def test_snapshots_are_of_the_project_of_the_server(self):
        """An administrator of another project asks, whose token the saga does not have."""
        self.saga.scope.ctxt.project_id = 'admin'
        self.do(self.saga, self.steps)
        projects = {each['project_id'] for each in self.volumes.snapshots.values()}
        self.assertEqual({'project'}, projects)

    def test_each_step_twice(self):
        self.do(self.saga, self.steps, times=2)
        snapshots, images = self.kept()
        self.assertEqual((2, [self.saga.uuid]), (len(snapshots), images))

    def test_answers_about_snapshots_are_lost(self):
        """The next owner finds those that were made."""
        first, take, *rest = self.steps
        self.do(self.saga, [first])
        self.saga.repeated = True
        for _ in range(2):
            self.volumes.fail('create_snapshot', AWAY, times=1, after=True)
            self.assertRaises(exception.Unavailable, take.do)
        self.do(self.saga, [take, *rest], times=2)
        mapping = json.loads(self.images.images[self.saga.uuid]['block_device_mapping'])
        self.assertEqual([*self.volumes.snapshots, None], [m.get('snapshot_id') for m in mapping])

    def test_undo_waits_for_cinder(self):
        self.do(self.saga, self.steps[:2])
        (one, other) = self.volumes.snapshots.values()
        one['status'] = 'creating'
        self.assertIsInstance(self.steps[1].undo(), saga.Pending)
        self.assertEqual([one], [*self.volumes.snapshots.values()])
        one['status'] = 'available'
        self.assertIsNone(self.steps[1].undo())
        self.check_nothing_stays()

    def test_undo_does_not_wait_for_ever(self):
        """A duty goes on, which asks less and less often, until Cinder is done."""
        self.do(self.saga, self.steps[:2])
        (one, other) = self.volumes.snapshots.values()
        one['status'] = 'creating'
        self.assertIsInstance(self.steps[1].undo(), saga.Pending)
        self.saga.results[volume_image.SINCE] -= volume_image.LIMIT_S
        error = self.assertRaises(exception.Conflict, self.steps[1].undo)
        self.assertIn(f'snapshot {one["id"]} is creating', error.message)
        self.assertRaises(exception.Conflict, self.steps[1].clean.do)
        one['status'] = 'available'
        self.assertIsNone(self.steps[1].clean.do())
        self.check_nothing_stays()

    def test_duty_does_not_last_for_ever(self):
        """A snapshot that Cinder never finishes stays. The action says so, and why it failed."""
        self.do(self.saga, self.steps[:2])
        (one, other) = self.volumes.snapshots.values()
        one['status'] = 'creating'
        self.give_up()
        self.assertEqual([one], [*self.volumes.snapshots.values()])
        self.check_remark(f'snapshot {one["id"]} is creating')

    def test_snapshot_that_cinder_refuses_to_delete(self):
        """The other one is deleted."""
        self.do(self.saga, self.steps[:2])
        (one, other) = self.volumes.snapshots.values()
        delete = self.volumes.delete_snapshot

        def refuse(ctxt, snapshot_id):
            if snapshot_id == one['id']:
                raise exception.Conflict(reason='it has a backup')
            delete(ctxt, snapshot_id)

        self.volumes.delete_snapshot = refuse
        self.assertRaises(exception.Conflict, self.steps[1].undo)
        self.assertEqual([one], [*self.volumes.snapshots.values()])
        self.assertRaises(exception.Conflict, self.steps[1].clean.do)
        self.give_up()
        self.check_remark('it has a backup')

    def give_up(self):
        """The saga is undone as far as it can be, and its duty lasts for long."""
        self.saga.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        self.saga.results[volume_image.SINCE] = 0.0
        self.assertRaises(exception.Conflict, self.steps[1].undo)
        self.steps[0].undo()
        for _time in range(2):
            self.assertIsNone(self.steps[1].clean.do())

    def check_remark(self, text):
        row = self.cell.db.read(actions.get, self.server, self.saga.ctxt.request_id)
        (event,) = self.cell.db.read(actions.events_of, [row.id])[row.id]
        self.assertEqual(('Error', 'Error'), (row.message, event.result))
        self.assertThat(event.details, matchers.StartsWith('because Snapshots of image'))
        self.assertIn(text, event.details)

    def test_volume_of_a_deleted_server(self):
        """Cinder refused to delete it while it had a snapshot."""
        self.do(self.saga, self.steps[:2])
        self.cell.db.write(instances.mark_deleted, self.server, build=None)
        self.undo(self.saga, self.steps[:2])
        self.check_nothing_stays()
        self.assertEqual([self.new], [*self.volumes.volumes])

    def test_server_is_deleted_meanwhile(self):
        """As in nova, the image is made all the same."""
        self.do(self.saga, self.steps[:2])
        self.cell.db.write(instances.mark_deleted, self.server, build=None)
        self.do(self.saga, self.steps[2:])
        self.assertEqual('active', self.images.images[self.saga.uuid]['status'])

    def test_volume_is_deleted_by_its_owner(self):
        """The image has the other disks."""
        self.volumes.delete(self.saga.ctxt, self.new)
        self.do(self.saga, self.steps)
        mapping = json.loads(self.images.images[self.saga.uuid]['block_device_mapping'])
        named = [each.get('snapshot_id') for each in mapping]
        self.assertEqual([*self.volumes.snapshots, None], named)

    def test_boot_order_has_no_gap_where_a_volume_was(self):
        for uuid, index in ((self.new, 1), (self.port, 2)):
            self.cell.db.write(children.update_block_device, uuid, {'boot_index': index})
        self.volumes.delete(self.saga.ctxt, self.new)
        self.do(self.saga, self.steps)
        mapping = json.loads(self.images.images[self.saga.uuid]['block_device_mapping'])
        self.assertEqual([0, 1], [each['boot_index'] for each in mapping])

    def test_root_disk_is_deleted_by_its_owner(self):
        """There is nothing to make an image of."""
        root = self.device.volume_id
        self.volumes.delete(self.saga.ctxt, root)
        first, take, *_rest = self.steps
        self.do(self.saga, [first])
        self.assertRaises(exception.VolumeNotFound, take.do)

    def test_snapshot_is_deleted_by_its_owner(self):
        self.do(self.saga, self.steps[:2])
        self.volumes.snapshots.popitem()
        self.undo(self.saga, self.steps[:2])
        self.check_nothing_stays()


FIELDS = ('disk_format', 'a')


class RefusedTest(testscenarios.WithScenarios, Case):
    """A step fails before or after its effect, and everything is undone."""

    scenarios = testscenarios.multiply_scenarios(
        [
            ('first snapshot', {'at': ('volume', 'create_snapshot'), 'passes': 0}),
            ('second snapshot', {'at': ('volume', 'create_snapshot'), 'passes': 1}),
            ('create image', {'at': ('image', 'create_snapshot'), 'passes': 0}),
            ('upload', {'at': ('image', 'upload'), 'passes': 0}),
        ],
        [('before', {'after': False}), ('after', {'after': True})],
        [
            ('refused', {'error': REFUSED}),
            ('image gone', {'error': exception.ImageNotFound(image_id='x')}),
        ],
    )

    def test_nothing_stays(self):
        where, method = self.at
        client = getattr(self.cell, where)
        make, passes = getattr(client, method), [None] * self.passes

        def fail(*args, **kwargs):
            if passes:
                passes.pop()
                return make(*args, **kwargs)
            if self.after:
                make(*args, **kwargs)
            raise self.error

        setattr(client, method, fail)
        done = []
        for step in self.steps:
            done.append(step)
            try:
                self.do(self.saga, [step])
            except type(self.error):
                break
        self.assertLess(len(done), len(self.steps))
        self.undo(self.saga, done)
        self.check_nothing_stays()
        self.assertEqual(('active', None), self.cell.state(self.server)[:2])
