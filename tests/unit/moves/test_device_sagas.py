"""Steps of the sagas about devices, over a real cell and its hosts, without a bus.

Every step is done twice and undone twice: both must be safe to repeat, and an undo
must be safe when nothing was done. Steps come from the code.
"""

import testscenarios
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import moves
from nova_lite.db.cell import services
from nova_lite.lifecycle import intents
from nova_lite.moves import attach_interface
from nova_lite.moves import attach_volume
from nova_lite.moves import detach_interface
from nova_lite.moves import detach_volume
from nova_lite.moves import swap_volume
from nova_lite.moves.parts import detaching
from nova_lite.saga import cleaning
from nova_lite.states import transitions
from tests.fixtures import cell as cell_fixture
from tests.fixtures import database
from tests.fixtures import neighbours
from tests.unit.moves import moves_base

HOST = 'host-1'
NETWORK = {'network_id': 'net', 'port_id': None, 'fixed_ip': None, 'tag': 'blue'}


class DeviceSagasCase(testtools.TestCase):
    """The server has a volume and a port, and there are others."""

    hosts = (HOST,)

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell(hosts=self.hosts))
        self.cell.uuid = cell_fixture.CELL_UUID
        self.cell.placement = neighbours.Placement()
        api_db = self.useFixture(database.ApiDatabase()).database
        self.world = moves_base.World(self.cell, api_db, self.cell.placement)
        self.cell.db.write(services.beat, self.hosts, services.COMPUTE, 'compute')
        self.new, self.port = runtime.new_uuid(), runtime.new_uuid()
        self.cell.volume.add_volume(self.new)
        self.cell.network.add_port(self.port)
        volume = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}
        self.server = self.cell.boot(networks='auto', devices=[volume])
        (self.device,) = self.cell.devices(self.server)
        (self.vif,) = self.cell.row(self.server).network_info

    # ---- making them ----

    def make(self, made_by, guard, recorded=None, *, order=None, kind=None, **arguments):
        """A saga whose first transaction the API has made. made_by: its class"""
        order = order or intents.order(guard, guard.verb, device=recorded)
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        record = moves_base.saga_record(
            kind or made_by.kind, self.cell, self.server, order=order, arguments=arguments
        )
        made = made_by(self.world, record, ctxt)
        self.cell.db.write(moves.begin, made.ctxt, self.server, order)
        return made

    def attach_volume(self):
        device = {
            'uuid': runtime.new_uuid(),
            'source_type': 'volume',
            'destination_type': 'volume',
            'delete_on_termination': False,
            'volume_id': self.new,
        }
        return self.make(
            attach_volume.AttachVolume,
            transitions.ATTACH_VOLUME,
            device,
            device=device['uuid'],
            volume_id=self.new,
        )

    def detach_volume(self):
        volume = self.device.volume_id
        return self.make(detach_volume.DetachVolume, transitions.DETACH_VOLUME, volume_id=volume)

    def swap_volume(self):
        old = self.device.volume_id
        return self.make(
            swap_volume.SwapVolume, transitions.SWAP_VOLUME, old_volume_id=old, volume_id=self.new
        )

    def attach_interface(self):
        kind = attach_interface.AttachInterface
        return self.make(kind, transitions.ATTACH_INTERFACE, request=NETWORK)

    def attach_port(self, **asked):
        kind = attach_interface.AttachInterface
        request = {**NETWORK, 'network_id': None, 'port_id': self.port, **asked}
        return self.make(kind, transitions.ATTACH_INTERFACE, request=request)

    def detach_interface(self):
        port = self.vif['id']
        return self.make(
            detach_interface.DetachInterface, transitions.DETACH_INTERFACE, port_id=port
        )

    # ---- playing them ----

    def picture(self):
        """Return what the server, its guest and the neighbours have."""
        devices = [
            (each.volume_id, each.device_name, each.attachment_id)
            for each in self.cell.devices(self.server)
        ]
        guest = self.cell.driver.get_guest(HOST, self.server)
        plugged = sorted(device.id for device in guest.spec.devices)
        info = self.cell.row(self.server).network_info
        return devices, plugged, info, self.cell.leftovers()

    def pivot(self, made):
        return next(i for i, step in enumerate(made.steps()) if step.pivot)

    def do(self, made, steps, *, times=1):
        for step in steps:
            for _time in range(times):
                made.repeated = times > 1
                result = step.do()
                if result is not None:
                    made.results.keep(step.id, result)

    def undo(self, made, steps):
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        for step in reversed(steps):
            for _time in range(2):
                if step.undo is not None:
                    step.undo()


class DeviceSagasTest(testscenarios.WithScenarios, DeviceSagasCase):
    scenarios = [
        ('attach volume', {'name': 'attach_volume'}),
        ('detach volume', {'name': 'detach_volume'}),
        ('swap volume', {'name': 'swap_volume'}),
        ('attach interface', {'name': 'attach_interface'}),
        ('attach a given port', {'name': 'attach_port'}),
        ('detach interface', {'name': 'detach_interface'}),
    ]

    def test_each_step_is_undone(self):
        start, last, pivot = self.picture(), 0, 1
        while last < pivot:
            made = getattr(self, self.name)()
            pivot = self.pivot(made)
            steps = made.steps()[: last + 1]
            last += 1
            self.do(made, steps)
            self.undo(made, steps)
            self.assertEqual(start, self.picture(), steps[-1].id)
            self.assertEqual(('active', None, HOST), self.cell.state(self.server))

    def test_steps_may_be_repeated(self):
        made = getattr(self, self.name)()
        self.do(made, made.steps(), times=2)
        devices, plugged, info, left = self.picture()
        volumes = {volume for volume, _name, _attachment in devices}
        ports = {vif['id'] for vif in info}
        self.assertEqual(sorted(volumes | ports), plugged)
        self.assertEqual(
            {(volume, self.server, HOST) for volume in volumes}, set(left['attachments'])
        )
        mine = {port for port, entry in left['ports'].items() if entry['server'] == self.server}
        self.assertEqual(ports, mine)
        old, own = self.device.volume_id, self.vif['id']
        wanted = {
            'attach_volume': ({old, self.new}, 1),
            'detach_volume': (set(), 1),
            'swap_volume': ({self.new}, 1),
            'attach_interface': ({old}, 2),
            'attach_port': ({old}, 2),
            'detach_interface': ({old}, 0),
        }[self.name]
        self.assertEqual(wanted, (volumes, len(ports)))
        self.assertEqual(self.name == 'attach_port', self.port in ports)
        self.assertEqual(self.name != 'detach_interface', own in ports)
        events = [result for _event, _host, result in self.cell.events(self.server)]
        self.assertNotIn(None, events)

    def test_server_that_is_deleted_before_the_pivot(self):
        made = getattr(self, self.name)()
        pivot = self.pivot(made)
        steps = made.steps()
        self.do(made, steps[:pivot])
        self.cell.db.write(instances.force, self.server, {'task_state': 'deleting'})
        if self.name == 'detach_volume':
            # Its volume is free already; the deletion finds nothing to give back.
            self.do(made, steps[pivot:])
        elif self.name != 'swap_volume':
            self.assertRaises(exception.InstanceNotFound, steps[pivot].do)
            self.undo(made, steps[:pivot])
        self.assertEqual('deleting', self.cell.row(self.server).task_state)

    def test_server_that_is_deleted_after_the_pivot(self):
        made = getattr(self, self.name)()
        after = self.pivot(made) + 1
        steps = made.steps()
        self.do(made, steps[:after])
        self.cell.db.write(instances.mark_deleted, self.server)
        self.do(made, steps[after:])
        self.assertNotIn(None, [result for _event, _host, result in self.cell.events(self.server)])


class TakenTest(DeviceSagasCase):
    def test_volume_that_was_attached_before_the_swap_began(self):
        """A request that waits for another's end looks again at what that has done."""
        attached = self.attach_volume()
        self.do(attached, attached.steps())
        swap = self.swap_volume()
        before = self.cell.devices(self.server)
        (begin, *_others) = swap.steps()
        error = self.assertRaises(exception.VolumeNotUsable, begin.do)
        self.assertIn('already attached', error.message)
        self.undo(swap, [begin])
        after = self.cell.devices(self.server)
        self.assertEqual([each.volume_id for each in before], [each.volume_id for each in after])


class SwappedTest(DeviceSagasCase):
    def test_a_device_whose_volume_was_made_from_an_image_is_that_no_longer(self):
        """Else the volume it had before, which stays, counts as made for it a second time."""
        made_of = {'source_type': 'snapshot', 'snapshot_id': runtime.new_uuid()}
        self.cell.db.write(children.update_block_device, self.device.uuid, made_of)
        swap = self.swap_volume()
        self.do(swap, swap.steps())
        (device,) = self.cell.devices(self.server)
        found = device.source_type, device.snapshot_id, device.volume_id
        self.assertEqual(('volume', None, self.new), found)

    def test_migration_that_is_none_or_has_ended(self):
        """Cinder refuses to complete it; after the end it removes the other volume."""
        refused = exception.VolumeNotUsable(volume_id=self.new, reason='not mid-migration')
        self.cell.volume.fail('complete_migration', refused)
        swap = self.swap_volume()
        self.do(swap, swap.steps())
        (device,) = self.cell.devices(self.server)
        self.assertEqual(self.new, device.volume_id)
        steps = {step.id: step for step in swap.steps()}
        self.cell.volume.migrations[self.new] = 'deleting'
        self.assertEqual(swap.arguments.old_volume_id, steps[swap_volume.TELL].do())

    def test_migration_of_a_volume_that_stays(self):
        """Cinder gets a report, but not while the guest may still have the new volume."""
        swap = self.swap_volume()
        (begin, mark, *_others) = swap.steps()
        self.do(swap, [begin, mark])
        self.undo(swap, [mark])
        self.assertEqual({self.device.volume_id: 'error'}, self.cell.volume.migrations)
        self.cell.volume.migrations.clear()
        swap.data[cleaning.DUTIES] = [{'step': swap_volume.SWAP, 'alone': True}]
        self.undo(swap, [mark])
        self.assertEqual({}, self.cell.volume.migrations)


class DeletedVolumeTest(DeviceSagasCase):
    """A volume is deleted with its server while a saga that marked it runs."""

    def setUp(self):
        super().setUp()
        self.volume, self.ctxt = self.device.volume_id, context.admin()

    def test_nothing_is_marked_any_more(self):
        for make in (self.detach_volume, self.swap_volume):
            made = make()
            steps = made.steps()[:2]
            self.cell.volume.volumes[self.volume] = 'available'
            self.do(made, steps)
            self.cell.volume.delete(self.ctxt, self.volume)
            self.undo(made, steps)
            self.assertNotIn(detaching.MARKED, made.data)

    def test_detachment_goes_on(self):
        """The owner deletes the volume, or a first try is lost, before the volume is marked."""
        for times in (1, 2):
            made = self.detach_volume()
            begin, *rest = made.steps()
            self.do(made, [begin])
            self.cell.volume.delete(self.ctxt, self.volume)
            self.do(made, rest, times=times)
            self.assertEqual([], self.cell.devices(self.server))
            self.device.volume_id = self.volume = self.new
            self.cell.db.write(children.create_block_devices, [self.again()])

    def again(self):
        return {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.server,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': self.new,
        }

    def test_late_mark_of_a_volume_that_is_gone(self):
        """A super-conductor that has lost its lease ends with that, also without the volume."""
        made = self.detach_volume()
        begin, mark, *_rest = made.steps()
        self.do(made, [begin])

        def lose():
            self.cell.volume.delete(self.ctxt, self.volume)
            raise saga.LostLease('another')

        made.ctxt.guard = lose
        self.assertRaises(saga.LostLease, mark.do)

    def test_no_migration_is_completed(self):
        """After the pivot. Where Cinder has deleted the new one, an earlier answer was lost."""
        for gone, kept in ((self.volume, self.new), (self.new, self.volume)):
            swap = self.swap_volume()
            steps = {step.id: step for step in swap.steps()}
            self.cell.volume.volumes.update({self.volume: 'in-use', self.new: 'reserved'})
            self.cell.volume.delete(self.ctxt, gone)
            self.assertEqual(kept, steps[swap_volume.TELL].do())


class ForeignAttachmentsTest(DeviceSagasCase):
    """The duty to end attachments that are none of the server's."""

    def setUp(self):
        super().setUp()
        self.world.cells.of_instance = lambda uuid: self.cell
        made = self.attach_volume()
        steps = {step.id: step for step in made.steps()}
        self.duty = steps[attach_volume.RESERVE].clean.do
        self.ctxt = context.admin()
        self.cell.db.write(children.destroy_block_device, made.arguments.device)

    def attach(self):
        return self.cell.volume.create_attachment(self.ctxt, self.new, self.server)['id']

    def attachments(self):
        found = self.cell.volume.list_attachments(self.ctxt, self.server)
        return {attachment['id'] for attachment in found}

    def record(self, attachment_id):
        (device,) = self.cell.devices(self.server)
        values = {'attachment_id': attachment_id}
        self.cell.db.write(children.update_block_device, device.uuid, values)

    def test_what_no_device_names(self):
        foreign, (device,) = self.attach(), self.cell.devices(self.server)
        self.assertIsNone(self.duty())
        self.assertEqual({device.attachment_id}, self.attachments() - {foreign})
        self.assertNotIn(foreign, self.attachments())

    def test_what_a_host_has_not_recorded_yet(self):
        made = self.attach()
        self.cell.db.write(instances.force, self.server, {'task_state': 'rebuilding'})
        self.assertIsInstance(self.duty(), saga.Pending)
        self.assertIn(made, self.attachments())
        self.record(made)
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        self.assertIsNone(self.duty())
        self.assertEqual({made}, self.attachments())

    def test_what_is_made_and_recorded_while_the_duty_looks(self):
        """Once the list is read, a host has time to make one and to record it."""
        listed = self.cell.volume.list_attachments
        made = []

        def late(ctxt, uuid):
            if not made:
                made.append(self.attach())
                self.record(made[0])
            return listed(ctxt, uuid)

        self.cell.volume.list_attachments = late
        self.assertIsNone(self.duty())
        self.assertEqual(set(made), self.attachments())
