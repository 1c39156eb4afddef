"""Both ends of cold moves on one cell's hosts, call by call."""

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.objects import flavor as flavor_objects
from nova_lite.virt.sim import profile
from tests.fixtures import cell as cell_fixture

BIG = {**cell_fixture.FLAVOR, 'id': 2, 'flavorid': '2', 'name': 'big', 'memory_mb': 2048}
VOLUME = {'source_type': 'volume', 'destination_type': 'volume', 'boot_index': -1}
SOURCE, DEST = 'host-1', 'host-2'
SLOW = """
extends: instant
hosts:
  - match: '*'
    delays: {migrate_out: 30}
"""
ISOLATED = """
extends: instant
hosts:
  - match: host-2
    volume_types: [rbd]
"""


class ColdTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.ctxt = context.admin().for_saga(runtime.new_uuid(), 1)
        self.move = runtime.new_uuid()

    def boot(self, **options):
        self.uuid = self.cell.boot(**options)
        self.before = self.cell.leftovers()

    def call(self, method, **arguments):
        return self.cell.call(method, self.ctxt, **arguments)

    def at(self, host, key='key'):
        return {
            'host': host,
            'instance_uuid': self.uuid,
            'node': host,
            'move': self.move,
            'key': key,
        }

    def instance(self):
        found = self.cell.instance(self.uuid)
        found.flavor = flavor_objects.Flavor(**BIG)
        return found

    def prepare(self, devices=()):
        return self.call(
            'prep_resize',
            host=DEST,
            instance=self.instance(),
            node=DEST,
            block_devices=list(devices),
        )

    def arrive(self, handover, devices=(), power_on=True):
        return self.call(
            'finish_resize',
            host=DEST,
            instance=self.instance(),
            block_devices=list(devices),
            arrival={'node': DEST, 'handover': handover, 'power_on': power_on, 'key': 'key'},
        )

    def move_it(self):
        self.prepare()
        handover = self.call('resize_instance', **self.at(SOURCE))['handover']
        return self.arrive(handover)

    def where(self):
        return {(node, role): power for node, role, power in self.cell.guests().get(self.uuid, ())}

    def memory(self, node):
        return self.cell.compute.site.claims.used(node)['MEMORY_MB']

    def test_there(self):
        self.boot()
        self.assertEqual({'done': True}, self.prepare())
        self.assertEqual(2048, self.memory(DEST))
        left = self.call('resize_instance', **self.at(SOURCE))
        self.assertEqual({(SOURCE, 'departed'): 4}, self.where())
        arrived = self.arrive(left['handover'])
        self.assertEqual(1, arrived['power_state'])
        self.assertEqual({(SOURCE, 'departed'): 4, (DEST, 'resident'): 1}, self.where())

    def test_every_call_may_be_repeated(self):
        self.boot()
        for _time in range(2):
            self.prepare()
        left = [self.call('resize_instance', **self.at(SOURCE)) for _time in range(2)]
        arrived = [self.arrive(left[0]['handover']) for _time in range(2)]
        self.assertEqual(left[0], left[1])
        self.assertEqual(arrived[0], arrived[1])
        for _time in range(2):
            self.call('confirm_resize', **self.at(SOURCE))
        self.assertEqual({(DEST, 'resident'): 1}, self.where())
        self.assertEqual((0, 2048), (self.memory(SOURCE), self.memory(DEST)))

    def test_gone_after_it_arrived(self):
        """A repeated call does not say that the guest is there, and does not make it again."""
        self.boot()
        self.prepare()
        handover = self.call('resize_instance', **self.at(SOURCE))['handover']
        self.arrive(handover)
        self.call('revert_resize', **self.at(DEST))
        self.assertRaises(exception.DriverError, self.arrive, handover)
        self.assertEqual({(SOURCE, 'departed'): 4}, self.where())

    def test_and_back(self):
        self.boot()
        self.move_it()
        self.call('revert_resize', **self.at(DEST))
        answer = self.call('finish_revert_resize', **self.at(SOURCE), power_on=True)
        self.assertEqual(1, answer['power_state'])
        self.assertEqual(self.before, self.cell.leftovers())

    def test_stays_off(self):
        self.boot()
        self.prepare()
        left = self.call('resize_instance', **self.at(SOURCE))
        self.assertEqual(4, self.arrive(left['handover'], power_on=False)['power_state'])
        self.call('revert_resize', **self.at(DEST))
        answer = self.call('finish_revert_resize', **self.at(SOURCE), power_on=False)
        self.assertEqual(4, answer['power_state'])

    def test_no_room(self):
        self.boot()
        limits = self.cell.compute.site.inventory.limits(DEST)['MEMORY_MB']
        self.cell.compute.site.claims.claim(
            DEST, 'other', {'VCPU': 0, 'MEMORY_MB': limits, 'DISK_GB': 0}, {'MEMORY_MB': limits}
        )
        self.assertRaises(exception.NoCapacity, self.prepare)
        self.assertEqual({(SOURCE, 'resident'): 1}, self.where())

    def test_forgone(self):
        self.boot()
        self.prepare()
        self.call('drop_move_claim_at_destination', host=DEST, instance_uuid=self.uuid, node=DEST)
        self.assertEqual(self.before, self.cell.leftovers())

    def test_volume_is_connected_and_completed(self):
        self.boot_with_volume()
        device = self.device_for_destination()
        self.prepare([device])
        made = self.cell.volume.attachments[device.attachment_id]
        self.assertEqual((DEST, False), (made['host'], made['complete']))
        left = self.call('resize_instance', **self.at(SOURCE))
        arrived = self.arrive(left['handover'], [self.device_for_destination(device)])
        self.assertTrue(made['complete'])
        self.assertEqual(device.uuid, arrived['block_devices'][0]['uuid'])

    def test_volume_whose_attachment_is_deleted_while_the_guest_is_made(self):
        """The guest has the volume, so it stays on record: a reboot finds it and unplugs it."""
        self.boot_with_volume()
        device = self.device_for_destination()
        self.prepare([device])
        left = self.call('resize_instance', **self.at(SOURCE))
        self.arrive(left['handover'], [self.device_for_destination(device)])
        self.cell.volume.delete_attachment(self.ctxt, device.attachment_id)
        answer = self.arrive(left['handover'], [self.device_for_destination(device)])
        self.assertEqual([], answer['block_devices'])
        spec = self.cell.driver.get_guest(DEST, self.uuid).spec
        self.assertEqual(['v'], [each.id for each in spec.devices])

    def test_volume_whose_attachment_is_deleted_before_the_guest_is_made(self):
        self.boot_with_volume()
        device = self.device_for_destination()
        self.prepare([device])
        left = self.call('resize_instance', **self.at(SOURCE))
        self.cell.volume.delete_attachment(self.ctxt, device.attachment_id)
        for _time in range(2):
            answer = self.arrive(left['handover'], [self.device_for_destination(device)])
            (lost,) = answer['block_devices']
            self.assertTrue(lost['lost'])

    def test_no_path_to_the_volume(self):
        self.boot_with_volume()
        device = self.device_for_destination()
        self.cell.driver.use_profile(profile.parse(ISOLATED))
        refused = self.assertRaises(exception.MoveRefused, self.prepare, [device])
        self.assertTrue(refused.reschedule)
        self.assertEqual(0, self.memory(DEST))

    def boot_with_volume(self):
        self.cell.volume.add_volume('v')
        self.boot(devices=[{**VOLUME, 'volume_id': 'v'}])

    def device_for_destination(self, like=None):
        device = self.cell.devices(self.uuid)[0]
        if like is None:
            connector = self.call('get_volume_connector', host=DEST, node=DEST)
            made = self.cell.volume.create_attachment(
                self.ctxt, 'v', self.uuid, connector=connector
            )
            device.attachment_id = made['id']
        else:
            device.attachment_id = like.attachment_id
        device.connection_info = None
        return device

    def test_discarded_wherever_it_is(self):
        self.boot()
        self.move_it()
        self.call('discard_guest', **self.at(SOURCE))
        self.call('discard_guest', **self.at(DEST))
        self.assertEqual({}, self.where())
        self.assertEqual((0, 0), (self.memory(SOURCE), self.memory(DEST)))

    def test_former_owner_is_refused(self):
        self.boot()
        self.call('resize_instance', **self.at(SOURCE))
        saga, self.ctxt = self.ctxt.saga, context.admin().for_saga(self.ctxt.saga, 2)
        self.call('finish_revert_resize', **self.at(SOURCE), power_on=True)
        self.ctxt = context.admin().for_saga(saga, 1)
        self.assertRaises(
            exception.StaleEpoch, self.call, 'resize_instance', **self.at(SOURCE, 'late')
        )
        self.assertEqual({(SOURCE, 'resident'): 1}, self.where())

    def test_departure_that_comes_after_its_undo_does_nothing(self):
        self.boot()
        self.call('finish_revert_resize', **self.at(SOURCE), power_on=True)
        self.assertRaises(exception.DriverError, self.call, 'resize_instance', **self.at(SOURCE))
        self.assertEqual(self.before, self.cell.leftovers())

    def test_hypervisors_that_take_their_time(self):
        self.boot()
        self.cell.driver.use_profile(profile.parse(SLOW))
        self.prepare()
        answer = self.call('resize_instance', **self.at(SOURCE))
        self.assertEqual(['pending'], list(answer))
        self.assertTrue(29 < answer['pending'] <= 30, answer)

    # ---- a guest that returns has the devices that its server has by then ----

    def restore(self, devices, **options):
        return self.call(
            'restore_guest',
            host=SOURCE,
            instance=self.cell.instance(self.uuid),
            block_devices=devices,
            arrival={
                'node': SOURCE,
                'move': self.move,
                'power_on': True,
                'key': 'restore',
                **options,
            },
        )

    def volumes_of_guest(self):
        devices = self.cell.driver.get_guest(SOURCE, self.uuid).spec.devices
        return [device.id for device in devices]

    def test_volumes_that_changed_meanwhile(self):
        self.boot(devices=[VOLUME | {'volume_size': 1}])
        (gone,) = self.cell.devices(self.uuid)
        self.call('resize_instance', **self.at(SOURCE))
        new = self.reserved_device()
        for _time in range(2):
            answer = self.restore([new])
            self.assertEqual(1, answer['power_state'])
            (told,) = answer['block_devices']
            self.assertEqual(new.uuid, told['uuid'])
        self.assertEqual([new.volume_id], self.volumes_of_guest())
        self.assertNotIn(gone.volume_id, self.volumes_of_guest())
        attachment = self.cell.volume.attachments[new.attachment_id]
        self.assertEqual((SOURCE, True), (attachment['host'], attachment['complete']))

    def test_volume_whose_attachment_is_deleted_while_the_guest_returns(self):
        self.boot(devices=[VOLUME | {'volume_size': 1}])
        self.call('resize_instance', **self.at(SOURCE))
        new = self.reserved_device()
        self.restore([new])
        self.cell.volume.delete_attachment(self.ctxt, new.attachment_id)
        self.assertEqual([], self.restore([new])['block_devices'])
        self.assertEqual([new.volume_id], self.volumes_of_guest())

    def reserved_device(self):
        """The server's volume, replaced by another one that no host is connected to."""
        new = self.cell.devices(self.uuid)[0]
        new.volume_id = runtime.new_uuid()
        self.cell.volume.add_volume(new.volume_id)
        made = self.cell.volume.create_attachment(self.ctxt, new.volume_id, self.uuid)
        new.attachment_id, new.connection_info = made['id'], None
        return new

    def test_volume_that_another_delivery_connects_first(self):
        self.boot(devices=[VOLUME | {'volume_size': 1}])
        self.call('resize_instance', **self.at(SOURCE))
        self.cell.volume.fail(
            'update_attachment',
            exception.Conflict(reason='duplicate connectors'),
            times=1,
            after=True,
        )
        self.assertEqual(1, self.restore([self.reserved_device()])['power_state'])

    def test_volume_that_another_host_has(self):
        self.boot(devices=[VOLUME | {'volume_size': 1}])
        self.call('resize_instance', **self.at(SOURCE))
        self.cell.volume.fail(
            'update_attachment', exception.Conflict(reason='duplicate connectors')
        )
        new = self.reserved_device()
        self.assertRaises(exception.Conflict, self.restore, [new])
