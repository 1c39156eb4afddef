"""Volumes and attachments, on the simulated volume service."""

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import image
from nova_lite.clients import volume
from tests.fixtures import ready_volumes
from tests.unit.clients import neighbours

SOURCE, DEST = {'host': 'cell1-host1'}, {'host': 'cell2-host1'}


class VolumeTestCase(neighbours.NeighbourTestCase):
    """A volume service with a volume of alice's project."""

    def setUp(self):
        super().setUp()
        self.volume = volume.Volume(self.credentials)
        self.made = self.create(size=1, name='data')
        self.server = self.server()

    def create(self, **options):
        made = self.volume.create(self.member, **options)
        return ready_volumes.wait(self.volume, self.member, made['id'])

    def read(self):
        return self.volume.get(self.member, self.made['id'])

    def attach(self, connector=SOURCE):
        made = self.volume.create_attachment(self.admin, self.made['id'], self.server.uuid)
        self.volume.update_attachment(self.admin, made['id'], connector)
        self.volume.complete_attachment(self.admin, made['id'])
        return made['id']

    def mode(self, attachment_id):
        path = f'/attachments/{attachment_id}'
        return self.volume.service.get(self.admin, path)['attachment']['attach_mode']


class VolumeTest(VolumeTestCase):
    """Volumes."""

    def test_made_for_a_device(self):
        """A marked volume that its device does not name was made without an answer."""
        device, other = (
            {'uuid': runtime.new_uuid(), 'source_type': 'blank', 'destination_type': 'volume'}
            for _ in range(2)
        )
        uuid = self.server.uuid
        made = self.create(size=1, **volume.marks_of(uuid, device))
        self.create(size=1, name=made['name'])
        for ctxt in (self.member, self.admin):
            self.assertEqual([made['id']], volume.strays(self.volume, ctxt, uuid, [device, other]))
        named = {**device, 'volume_id': made['id']}
        self.assertEqual([], volume.strays(self.volume, self.member, uuid, [named, other]))

    def test_get(self):
        found = self.read()
        self.assertEqual(
            (self.made['id'], 'data', 'available', 1, False, False, {}),
            tuple(
                found[name]
                for name in (
                    'id',
                    'name',
                    'status',
                    'size',
                    'bootable',
                    'multiattach',
                    'attachments',
                )
            ),
        )
        age = (runtime.now() - found['changed_at']).total_seconds()
        self.assertTrue(0 <= age < 600, age)

    def test_not_found(self):
        stranger = self.context_of('hatter', 'tea', 'member')
        for ctxt, volume_id in (
            (self.member, runtime.new_uuid()),
            (self.member, '..'),
            (self.member, 'a/b'),
            (stranger, self.made['id']),
        ):
            error = self.assertRaises(exception.VolumeNotFound, self.volume.get, ctxt, volume_id)
            self.assertIn(volume_id, error.message)

    def test_from_an_image(self):
        images = image.Image(self.credentials)
        cirros = images.list(self.member, name='cirros')[0]
        made = self.create(size=2, image_id=cirros['id'])
        self.assertTrue(made['bootable'])
        self.assertEqual(
            (cirros['id'], 'cirros', 'qcow2', 0),
            tuple(made['image'][name] for name in ('id', 'name', 'disk_format', 'min_disk')),
        )
        self.assertEqual('virtio', made['image']['properties']['hw_rng_model'])

    def test_image_metadata_that_its_owner_changed(self):
        cirros = image.Image(self.credentials).list(self.member, name='cirros')[0]
        made = self.create(size=2, image_id=cirros['id'])
        metadata = {'min_disk': 'none', 'min_ram': '\u00bd', 'size': '9' * 255}
        self.volume.service.call(
            self.member,
            'POST',
            f'/volumes/{made["id"]}/action',
            json={'os-set_image_metadata': {'metadata': metadata}},
            as_user=True,
        )
        found = self.volume.get(self.member, made['id'])['image']
        self.assertEqual(
            (0, 0, int('9' * 255)), tuple(found[name] for name in ('min_disk', 'min_ram', 'size'))
        )

    def test_from_a_snapshot(self):
        snapshot = self.volume.create_snapshot(self.member, self.made['id'], 'snap')
        self.assertEqual(
            snapshot['id'], self.create(size=1, snapshot_id=snapshot['id'])['snapshot_id']
        )

    def test_types(self):
        types = self.volume.service.get(self.admin, '/types', as_user=True)['volume_types']
        for known in (types[0]['id'], types[0]['name']):
            self.volume.require_type(self.member, known)
        error = self.assertRaises(
            exception.VolumeTypeNotFound, self.volume.require_type, self.member, 'nope'
        )
        self.assertIn('nope', error.message)

    def test_impossible(self):
        self.assertRaises(
            exception.Invalid, self.volume.create, self.member, size=1, image_id=runtime.new_uuid()
        )

    def test_over_quota(self):
        self.volume.service.call(
            self.admin,
            'PUT',
            '/os-quota-sets/wonderland',
            json={'quota_set': {'volumes': 1, 'snapshots': 0}},
        )
        self.assertRaises(exception.OverQuota, self.volume.create, self.member, size=1)
        self.assertRaises(
            exception.OverQuota, self.volume.create_snapshot, self.member, self.made['id'], 'snap'
        )

    def test_for_a_project(self):
        """The context of a build that was taken over has no roles."""
        ctxt = context.RequestContext(
            user_id='alice', project_id='wonderland', roles=[], overwrite=False
        )
        made = self.volume.create(ctxt, size=1)
        self.assertEqual('wonderland', self.volume.get(self.member, made['id'])['project_id'])
        self.assertRaises(exception.Forbidden, self.volume.create, self.admin, size=1)

    def test_delete(self):
        for _ in range(2):
            self.volume.delete(self.member, self.made['id'])
        self.assertRaises(exception.VolumeNotFound, self.read)

    def test_delete_in_use(self):
        self.attach()
        self.assertRaises(exception.Conflict, self.volume.delete, self.member, self.made['id'])

    def test_detaching(self):
        self.assertRaises(
            exception.VolumeNotUsable, self.volume.begin_detaching, self.member, self.made['id']
        )
        self.attach()
        self.volume.begin_detaching(self.member, self.made['id'])
        self.assertEqual('detaching', self.read()['status'])
        self.volume.roll_detaching(self.member, self.made['id'])
        self.assertEqual('in-use', self.read()['status'])

    def test_another_volume_in_its_place(self):
        new = self.create(size=1)['id']
        kept = self.volume.complete_migration(self.admin, self.made['id'], new)
        self.assertEqual(new, kept)
        self.assertRaises(
            exception.VolumeNotFound,
            self.volume.complete_migration,
            self.admin,
            runtime.new_uuid(),
            new,
        )

    def test_another_image(self):
        cirros = image.Image(self.credentials).list(self.member, name='cirros')[0]
        self.volume.create_attachment(self.admin, self.made['id'], self.server.uuid)
        self.volume.reimage(self.member, self.made['id'], cirros['id'])
        ready_volumes.wait(self.volume, self.member, self.made['id'])
        self.assertEqual(cirros['id'], self.read()['image']['id'])


class AttachableTest(VolumeTestCase):
    """Volumes that a server may attach."""

    def check(self, **options):
        self.volume.check_attachable(self.read(), **options)

    def refused(self, **options):
        return self.assertRaises(exception.VolumeNotUsable, self.check, **options).message

    def test_available(self):
        self.check()

    def test_in_use(self):
        self.attach()
        self.assertIn('in-use', self.refused())

    def test_shared(self):
        self.made = self.create(size=1, volume_type='multiattach')
        self.attach()
        self.check(instance_uuid=runtime.new_uuid())
        self.assertIn('already', self.refused(instance_uuid=self.server.uuid))

    def test_zone(self):
        zone = self.read()['availability_zone']
        self.check(availability_zone='moon')
        self.assertEqual('nova', self.create(size=1, availability_zone='moon')['availability_zone'])
        self.conf.set_override('cross_az_attach', False, group='cinder')
        self.check(availability_zone=zone)
        self.check()
        self.assertIn('moon', self.refused(availability_zone='moon'))
        self.assertEqual('moon', self.create(size=1, availability_zone='moon')['availability_zone'])


class AttachmentTest(VolumeTestCase):
    """Attachments, also during a move."""

    def status(self):
        return self.read()['status']

    def test_life(self):
        made = self.volume.create_attachment(self.admin, self.made['id'], self.server.uuid)
        self.assertEqual(('reserved', {}), (self.status(), made['connection_info']))
        for _ in range(2):
            updated = self.volume.update_attachment(
                self.admin, made['id'], SOURCE, mountpoint='/dev/vdb'
            )
            self.assertEqual(made['id'], updated['id'])
            self.assertIn('driver_volume_type', updated['connection_info'])
        self.assertEqual(updated, self.volume.get_attachment(self.admin, made['id']))
        for _ in range(2):
            self.volume.complete_attachment(self.admin, made['id'])
        self.assertEqual('in-use', self.status())
        for ctxt, host in ((self.member, None), (self.operator, SOURCE['host'])):
            self.assertEqual(
                {
                    self.server.uuid: {
                        'attachment_id': made['id'],
                        'host': host,
                        'mountpoint': '/dev/vdb',
                    }
                },
                self.volume.get(ctxt, self.made['id'])['attachments'],
            )
        for _ in range(2):
            self.volume.delete_attachment(self.admin, made['id'])
        self.assertEqual('available', self.status())

    def test_two_hosts_during_a_move(self):
        source = self.attach()
        empty = self.volume.create_attachment(self.admin, self.made['id'], self.server.uuid)
        self.assertRaises(
            exception.Conflict, self.volume.update_attachment, self.admin, empty['id'], DEST
        )
        self.volume.delete_attachment(self.admin, empty['id'])
        dest = self.volume.create_attachment(
            self.admin, self.made['id'], self.server.uuid, connector=DEST, mountpoint='/dev/vdb'
        )
        self.assertEqual('attaching', self.status())
        self.volume.complete_attachment(self.admin, dest['id'])
        self.assertEqual(['rw', 'rw'], [self.mode(each) for each in (source, dest['id'])])
        listed = self.volume.list_attachments(self.admin, self.server.uuid)
        self.assertEqual({source, dest['id']}, {item['id'] for item in listed})
        self.volume.delete_attachment(self.admin, source)
        self.assertEqual('in-use', self.status())
        attached = self.read()['attachments'][self.server.uuid]
        self.assertEqual(
            (dest['id'], '/dev/vdb'), (attached['attachment_id'], attached['mountpoint'])
        )

    def test_connected_at_once(self):
        made = self.volume.create_attachment(
            self.admin, self.made['id'], self.server.uuid, connector=SOURCE
        )
        self.assertIn('driver_volume_type', made['connection_info'])

    def test_of_another_server(self):
        self.attach()
        self.assertRaises(
            exception.VolumeNotUsable,
            self.volume.create_attachment,
            self.admin,
            self.made['id'],
            runtime.new_uuid(),
        )

    def test_unknown(self):
        unknown = runtime.new_uuid()
        self.assertRaises(
            exception.VolumeNotFound,
            self.volume.create_attachment,
            self.admin,
            unknown,
            self.server.uuid,
        )
        for call, *args in (
            (self.volume.get_attachment,),
            (self.volume.update_attachment, SOURCE),
            (self.volume.complete_attachment,),
        ):
            self.assertRaises(exception.AttachmentNotFound, call, self.admin, unknown, *args)
        self.volume.delete_attachment(self.admin, unknown)
        self.assertRaises(
            exception.AttachmentNotFound, self.volume.get_attachment, self.admin, '..'
        )


class SnapshotTest(VolumeTestCase):
    """Snapshots."""

    def test_life(self):
        self.attach()
        made = self.volume.create_snapshot(self.member, self.made['id'], 'snap')
        found = self.volume.get_snapshot(self.member, made['id'])
        self.assertEqual(
            ('snap', self.made['id'], 1), (found['name'], found['volume_id'], found['size'])
        )
        for _ in range(2):
            self.volume.delete_snapshot(self.member, made['id'])
        self.assertRaises(
            exception.SnapshotNotFound, self.volume.get_snapshot, self.member, made['id']
        )

    def test_unknown(self):
        self.assertRaises(
            exception.VolumeNotFound,
            self.volume.create_snapshot,
            self.member,
            runtime.new_uuid(),
            'snap',
        )
