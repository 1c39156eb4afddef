"""Images and their contents, on the simulated image service."""

import io
import types

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import image
from nova_lite.simcloud import seed
from nova_lite.simcloud.image import fields
from tests.unit.clients import neighbours


class ImageTestCase(neighbours.NeighbourTestCase):
    """An image service with an image that belongs to alice's project."""

    def setUp(self):
        super().setUp()
        self.image = image.Image(self.credentials)
        self.made = self.image.create(
            self.member,
            {
                'name': 'cat',
                'disk_format': 'raw',
                'container_format': 'bare',
                'min_disk': 2,
                'min_ram': 64,
                'hw_disk_bus': 'virtio',
                'trait:CUSTOM_GOLD': 'required',
            },
        )


class RecordTest(ImageTestCase):
    """Records."""

    def test_get(self):
        found = self.image.get(self.member, self.made['id'])
        self.assertEqual(self.made, found)
        self.assertEqual(
            ('cat', 'queued', 2, 64, 'wonderland'),
            tuple(found[name] for name in ('name', 'status', 'min_disk', 'min_ram', 'owner')),
        )
        self.assertEqual(
            {'hw_disk_bus': 'virtio', 'trait:CUSTOM_GOLD': 'required'}, found['properties']
        )

    def test_not_found(self):
        stranger = self.context_of('hatter', 'tea', 'member')
        for ctxt, image_id in (
            (self.member, runtime.new_uuid()),
            (self.member, '-1'),
            (self.member, '..'),
            (self.member, ''),
            (self.member, 'a/b?c'),
            (stranger, self.made['id']),
        ):
            error = self.assertRaises(exception.ImageNotFound, self.image.get, ctxt, image_id)
            self.assertIn(image_id, error.message)

    def test_list(self):
        names = [item['name'] for item in self.image.list(self.member)]
        self.assertEqual({'cat', *seed.IMAGES}, set(names))
        self.assertEqual(1, len(self.image.list(self.member, limit=1)))
        self.assertEqual(
            ['cat'], [item['name'] for item in self.image.list(self.member, visibility='shared')]
        )

    def test_list_in_pages(self):
        self.patch_page(1)
        self.assertEqual(len(seed.IMAGES) + 1, len(self.image.list(self.member)))
        self.assertEqual(2, len(self.image.list(self.member, limit=2)))

    def patch_page(self, size):
        before, image.PAGE = image.PAGE, size
        self.addCleanup(setattr, image, 'PAGE', before)

    def test_update(self):
        self.image.update(
            self.member, self.made['id'], values={'name': 'dog', 'a/b': 'c'}, remove=['hw_disk_bus']
        )
        found = self.image.get(self.member, self.made['id'])
        self.assertEqual('dog', found['name'])
        self.assertEqual({'a/b': 'c', 'trait:CUSTOM_GOLD': 'required'}, found['properties'])

    def test_delete(self):
        self.image.delete(self.member, self.made['id'])
        self.assertRaises(exception.ImageNotFound, self.image.delete, self.member, self.made['id'])
        self.image.delete(self.member, self.made['id'], missing_ok=True)

    def test_delete_protected(self):
        self.image.update(self.member, self.made['id'], values={'protected': True})
        self.assertRaises(exception.Forbidden, self.image.delete, self.member, self.made['id'])

    def test_a_given_id_is_created_once(self):
        image_id = runtime.new_uuid()
        values = {'name': 'once', 'disk_format': 'raw', 'container_format': 'bare'}
        for _ in range(2):
            made = self.image.create(self.member, values, image_id=image_id)
            self.assertEqual(image_id, made['id'])

    def test_answers_are_kept_if_so_configured(self):
        for seconds, requests in ((0, 2), (60, 1)):
            self.conf.set_override('image_cache_seconds', seconds, group='glance')
            client = image.Image(self.credentials)
            client.get(self.member, self.made['id'])['properties'].clear()
            self.cloud.requests.clear()
            client = image.Image(self.credentials)
            found = [client.get(self.member, self.made['id']) for _ in range(2)]
            self.assertEqual(requests, len(self.cloud.requests))
            self.assertEqual(found[0], found[1])
            self.assertEqual('virtio', found[1]['properties']['hw_disk_bus'])

    def test_a_refusal_is_read_as_text(self):
        """The service answers with a page of HTML."""
        error = self.assertRaises(
            exception.Invalid, self.image.list, self.member, marker='<nonsense & more>'
        )
        self.assertNotRegex(error.message, r'<h|<b|&lt;|\n')
        self.assertIn('<nonsense & more>', error.message)

    def test_properties_beyond_the_limit(self):
        values = {f'p{number}': '' for number in range(fields.PROPERTY_QUOTA + 1)}
        self.assertRaises(
            exception.Forbidden, self.image.update, self.member, self.made['id'], values=values
        )


class ContentTest(ImageTestCase):
    """Contents."""

    def read(self):
        path = f'/images/{self.made["id"]}/file'
        return self.image.service.call(self.member, 'GET', path, as_user=True).content

    def test_bytes(self):
        for _ in range(2):  # again, as after a lost reply
            self.image.upload(self.member, self.made['id'], b'mouse')
        found = self.image.get(self.member, self.made['id'])
        self.assertEqual(('active', 5), (found['status'], found['size']))
        self.assertEqual(b'mouse', self.read())

    def test_file(self):
        self.image.upload(self.member, self.made['id'], io.BytesIO(b'mouse'))
        self.assertEqual(b'mouse', self.read())

    def test_unknown(self):
        self.assertRaises(
            exception.ImageNotFound, self.image.upload, self.member, runtime.new_uuid(), b'mouse'
        )


class SnapshotTest(ImageTestCase):
    """Images that servers will be copied to."""

    def setUp(self):
        super().setUp()
        self.server = types.SimpleNamespace(
            uuid=runtime.new_uuid(),
            project_id='wonderland',
            user_id='alice',
            flavor={'root_gb': 1},
        )

    def test_of_a_server_with_an_image(self):
        made = self.image.create_snapshot(
            self.member, 'snap', self.server, base=self.made, properties={'colour': 'red'}
        )
        self.assertEqual(
            ('snap', 'queued', 'raw', 2, 64, 'private', 'wonderland'),
            tuple(
                made[name]
                for name in (
                    'name',
                    'status',
                    'disk_format',
                    'min_disk',
                    'min_ram',
                    'visibility',
                    'owner',
                )
            ),
        )
        self.assertEqual(
            {
                'hw_disk_bus': 'virtio',
                'trait:CUSTOM_GOLD': 'required',
                'colour': 'red',
                'base_image_ref': self.made['id'],
                'image_type': 'snapshot',
                'user_id': 'alice',
                'instance_uuid': self.server.uuid,
            },
            made['properties'],
        )

    def test_properties_that_are_not_inherited(self):
        self.conf.set_override('non_inheritable_image_properties', ['hw_disk_bus'])
        images = image.Image(self.credentials)
        base = images.update(
            self.member,
            self.made['id'],
            values={'cinder_encryption_key_id': 'k', 'img_signature': 's', 'cache_in_nova': 'yes'},
        )
        made = images.create_snapshot(self.member, 'snap', self.server, base=base)
        self.assertEqual(
            {'cache_in_nova', 'trait:CUSTOM_GOLD'},
            base['properties'].keys() & made['properties'].keys(),
        )

    def test_smaller_disks_cannot_boot_from_it(self):
        self.server.flavor = {'root_gb': 20}
        made = self.image.create_snapshot(self.member, 'snap', self.server, base=self.made)
        self.assertEqual(20, made['min_disk'])
        made = self.image.create_snapshot(self.member, 'snap', self.server)
        self.assertEqual(20, made['min_disk'])

    def test_backups_can_be_told_from_snapshots(self):
        made = self.image.create_snapshot(
            self.member, 'b', self.server, properties={'backup_type': 'daily'}, kind='backup'
        )
        self.image.create_snapshot(self.member, 's', self.server)
        found = self.image.list(self.member, image_type='backup', instance_uuid=self.server.uuid)
        self.assertEqual([made['id']], [each['id'] for each in found])

    def test_a_type_that_is_given(self):
        wanted = {'image_type': 'test', 'instance_uuid': 'x', 'user_id': 'x'}
        made = self.image.create_snapshot(self.member, 's', self.server, properties=wanted)
        self.assertEqual(
            {**wanted, 'instance_uuid': self.server.uuid, 'user_id': 'alice'}, made['properties']
        )

    def test_properties_that_the_service_refuses(self):
        for wanted, error in (
            ({f'p{number}': '' for number in range(fields.PROPERTY_QUOTA)}, exception.Forbidden),
            ({'long': 'x' * 65536}, exception.Invalid),
            ({'status': 'active'}, exception.Forbidden),
            ({'id': self.made['id']}, exception.Conflict),
            ({'id': 'no uuid'}, exception.Invalid),
            ({'min_disk': '1'}, exception.Invalid),
        ):
            self.assertRaises(
                error,
                self.image.create_snapshot,
                self.member,
                'snap',
                self.server,
                properties=wanted,
            )
        (image_,) = self.image.list(self.member, owner='wonderland')
        self.assertEqual(self.made['id'], image_['id'])

    def test_of_a_server_made_from_a_shelved_one(self):
        base = self.image.create_snapshot(
            self.member, 'x-shelved', self.server, properties={image.SHELVED: 'True'}
        )
        made = self.image.create_snapshot(self.member, 'snap', self.server, base=base)
        self.assertIn(image.SHELVED, base['properties'])
        self.assertNotIn(image.SHELVED, made['properties'])

    def test_of_a_server_without_an_image(self):
        made = self.image.create_snapshot(self.member, 'snap', self.server)
        self.assertNotIn('base_image_ref', made['properties'])
        self.assertEqual('qcow2', made['disk_format'])

    def test_without_data(self):
        """An empty body is raw, and nothing else."""
        made = self.image.create_snapshot(self.member, 'snap', self.server)
        refused = self.assertRaises(
            exception.NovaLiteError, self.image.upload, self.member, made['id'], b''
        )
        self.assertIn('does not match stream data raw', str(refused))
        self.assertEqual('queued', self.image.get(self.member, made['id'])['status'])
        made = self.image.create_snapshot(
            self.member, 'snap', self.server, properties={'disk_format': 'raw'}
        )
        self.image.upload(self.member, made['id'], b'')
        self.assertEqual('active', self.image.get(self.member, made['id'])['status'])

    def test_by_ourselves_it_belongs_to_the_server_s_project(self):
        made = self.image.create_snapshot(self.admin, 'snap', self.server)
        self.assertEqual('wonderland', made['owner'])
