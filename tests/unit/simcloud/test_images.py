"""Images: attributes, data, sharing, lists."""

import hashlib

from nova_lite.simcloud import seed
from tests.unit.simcloud import base

IMAGES = '/image/v2/images'
PATCH = 'application/openstack-images-v2.1-json-patch'
BYTES = {'Content-Type': 'application/octet-stream'}


class ImageTestCase(base.SimCloudTestCase):
    def create(self, client=None, **attributes):
        return (client or self.demo).post(
            IMAGES, {'name': 'i', 'disk_format': 'raw', 'container_format': 'bare', **attributes}
        )

    def upload(self, image, data, client=None, *, expect=204, headers=()):
        result = self.wsgi.simulate_put(
            f'{IMAGES}/{image["id"]}/file',
            body=data,
            headers={**(client or self.demo).headers, **BYTES, **dict(headers)},
        )
        self.assertEqual(expect, result.status_code, result.text)

    def patch(self, image, *changes, client=None, expect=200, media_type=PATCH):
        return (client or self.demo).request(
            'PATCH',
            f'{IMAGES}/{image["id"]}',
            list(changes),
            expect=expect,
            headers={'Content-Type': media_type},
        )

    def test_the_role_of_services_has_no_rights(self):
        image = self.create()
        service = self.believed('someone', 'elsewhere', 'service')
        path = f'{IMAGES}/{image["id"]}'
        service.get(path, expect=404)
        service.delete(path, expect=404)
        self.assertEqual([], service.get(f'{IMAGES}?owner={image["owner"]}')['images'])
        community = self.create(visibility='community')
        service.delete(f'{IMAGES}/{community["id"]}', expect=403)
        service.post(IMAGES, {'name': 'mine'}, expect=403)
        self.believed('nova', 'elsewhere', 'admin', 'service').delete(path)

    def test_snapshot_is_created_uploaded_and_read(self):
        image = self.create(
            image_type='snapshot', base_image_ref='b', min_disk=1, visibility='private'
        )
        self.assertEqual(
            ('queued', 'private', None, 'snapshot'),
            (image['status'], image['visibility'], image['size'], image['image_type']),
        )
        data = b'x' * (2**20 + 17)
        self.upload(image, data)
        shown = self.demo.get(f'{IMAGES}/{image["id"]}')
        self.assertEqual(
            ('active', len(data), hashlib.md5(data).hexdigest()),
            (shown['status'], shown['size'], shown['checksum']),
        )
        self.assertEqual(hashlib.sha512(data).hexdigest(), shown['os_hash_value'])
        result = self.demo.raw('GET', f'{IMAGES}/{image["id"]}/file')
        self.assertEqual(data, result.content)
        self.upload(image, b'again', expect=409)
        self.demo.delete(f'{IMAGES}/{image["id"]}')
        self.demo.get(f'{IMAGES}/{image["id"]}', expect=404)
        self.demo.delete(f'{IMAGES}/{image["id"]}', expect=404)
        # Servers of the former owner name it.
        for other in (self.demo, self.admin):
            other.post(IMAGES, {'id': image['id'], 'visibility': 'community'}, expect=409)

    def test_broken_upload_leaves_the_image_queued(self):
        image = self.create()
        self.upload(image, b'short', expect=400, headers={'Content-Length': '100'})
        self.assertEqual('queued', self.demo.get(f'{IMAGES}/{image["id"]}')['status'])
        self.demo.get(f'{IMAGES}/{image["id"]}/file', expect=204)
        self.upload(image, b'all of it')
        self.assertEqual(9, self.demo.get(f'{IMAGES}/{image["id"]}')['size'])

    def test_upload_needs_formats_and_a_media_type(self):
        image = self.demo.post(IMAGES, {'name': 'bare'})
        self.upload(image, b'x', expect=400)
        self.upload(image, b'x', expect=415, headers={'Content-Type': 'text/plain'})

    def test_patch_changes_attributes_and_properties(self):
        image = self.create(colour='red', shape='round')
        shown = self.patch(
            image,
            {'op': 'replace', 'path': '/name', 'value': 'j'},
            {'op': 'add', 'path': '/hw_qemu_guest_agent', 'value': 'yes'},
            {'op': 'replace', 'path': '/colour', 'value': 'blue'},
            {'op': 'remove', 'path': '/shape'},
            {'op': 'replace', 'path': '/tags', 'value': ['a', 'b', 'a']},
        )
        self.assertEqual(
            ('j', 'yes', 'blue', ['a', 'b']),
            (shown['name'], shown['hw_qemu_guest_agent'], shown['colour'], shown['tags']),
        )
        self.assertNotIn('shape', shown)

    def test_patch_refuses_what_it_must(self):
        image = self.create()
        for status, change in (
            (403, {'op': 'replace', 'path': '/status', 'value': 'active'}),
            (403, {'op': 'replace', 'path': '/visibility', 'value': 'public'}),
            (403, {'op': 'remove', 'path': '/name'}),
            (403, {'op': 'replace', 'path': '/owner', 'value': 'me'}),
            (409, {'op': 'remove', 'path': '/nothing'}),
            (409, {'op': 'replace', 'path': '/nothing', 'value': 'x'}),
            (400, {'op': 'add', 'path': '/min_disk', 'value': 'big'}),
            (400, {'op': 'add', 'path': '/a/b', 'value': 'x'}),
            (400, {'op': 'add', 'path': '/a'}),
            (400, {'op': 'move', 'path': '/a', 'from': '/b'}),
        ):
            self.patch(image, change, expect=status)
        self.patch(image, expect=415, media_type='application/json')

    def test_protected_images_stay(self):
        image = self.create(protected=True)
        self.demo.delete(f'{IMAGES}/{image["id"]}', expect=403)
        self.patch(image, {'op': 'replace', 'path': '/protected', 'value': False})
        self.demo.delete(f'{IMAGES}/{image["id"]}')

    def test_projects_do_not_see_each_other(self):
        image = self.create(visibility='private')
        other = self.believed('u', 'elsewhere', 'member')
        other.get(f'{IMAGES}/{image["id"]}', expect=404)
        other.delete(f'{IMAGES}/{image["id"]}', expect=404)
        self.assertNotIn(image['id'], [one['id'] for one in other.get(IMAGES)['images']])
        self.assertIn(image['id'], [one['id'] for one in self.admin.get(IMAGES)['images']])
        other.delete(f'{IMAGES}/{self.image_id()}', expect=403)
        self.patch({'id': self.image_id()}, expect=403, client=other)
        self.believed('u', 'demo', 'reader').post(IMAGES, {'name': 'r'}, expect=403)

    def test_sharing_waits_for_the_member(self):
        image = self.create()
        path = f'{IMAGES}/{image["id"]}'
        other = self.believed('u', 'elsewhere', 'member')
        other.get(path, expect=404)
        self.demo.post(f'{path}/members', {'member': 'elsewhere'}, expect=200)
        self.demo.post(f'{path}/members', {'member': 'elsewhere'}, expect=409)
        other.get(path)
        self.assertEqual([], other.get(f'{IMAGES}?visibility=shared')['images'])
        self.demo.put(f'{path}/members/elsewhere', {'status': 'accepted'}, expect=403)
        other.put(f'{path}/members/elsewhere', {'status': 'accepted'})
        self.assertEqual(1, len(other.get(f'{IMAGES}?visibility=shared')['images']))
        self.demo.delete(f'{path}/members/elsewhere')
        other.get(path, expect=404)

    def test_lists_filter_sort_and_page(self):
        for number in range(5):
            self.create(
                name=f'n{number}',
                min_ram=number,
                kind='odd' if number % 2 else 'even',
                tags=['t'] if number == 3 else [],
            )

        def names(query):
            return [one['name'] for one in self.demo.get(f'{IMAGES}?{query}')['images']]

        self.assertEqual(['n1', 'n3'], names('kind=odd&sort=name:asc'))
        self.assertEqual(['n3'], names('tag=t'))
        self.assertEqual(['n4', 'n2'], names('name=in:n2,n4&sort_key=name&sort_dir=desc'))
        self.assertEqual([], names('status=active&kind=odd'))
        page = self.demo.get(f'{IMAGES}?limit=2&sort=name:asc&status=queued')
        seen = [one['name'] for one in page['images']]
        while 'next' in page:
            page = self.demo.get('/image' + page['next'])
            seen += [one['name'] for one in page['images']]
        self.assertEqual(['n0', 'n1', 'n2', 'n3', 'n4'], seen)
        for query in (
            'limit=x',
            'limit=-1',
            'marker=none',
            'sort=colour',
            'sort_dir=up',
            'size_min=big',
            'protected=maybe',
            'visibility=odd',
            'a"b=c',
            'created_at=gt:yesterday',
        ):
            self.demo.get(f'{IMAGES}?{query}', expect=400)
        self.assertEqual(len(seed.IMAGES) + 5, len(names('created_at=gte:2020-01-01T00:00:00Z')))

    def test_creation_refuses_what_it_must(self):
        for status, body in (
            (403, {'visibility': 'public'}),
            (403, {'status': 'active'}),
            (400, {'disk_format': 'floppy'}),
            (400, {'min_disk': -1}),
            (400, {'id': 'not-a-uuid'}),
            (400, {'number': 7}),
            (400, []),
            (400, 'x'),
            (403, {'owner': 'someone'}),
            (413, {f'p{number}': '' for number in range(200)}),
        ):
            self.demo.post(IMAGES, body, expect=status)
        image_id = '11111111-1111-4111-8111-111111111111'
        self.create(id=image_id)
        self.demo.post(IMAGES, {'id': image_id}, expect=409)

    def test_closed_images_are_not_read(self):
        image = self.create()
        self.upload(image, b'data')
        path = f'{IMAGES}/{image["id"]}'
        service = self.believed('someone', 'elsewhere', 'service')
        service.post(f'{path}/actions/deactivate', {}, expect=404)
        self.demo.post(f'{path}/actions/deactivate', {}, expect=204)
        self.assertEqual(403, self.demo.raw('GET', f'{path}/file').status_code)
        self.demo.post(f'{path}/actions/reactivate', {}, expect=204)
        self.assertEqual(b'data', self.demo.raw('GET', f'{path}/file').content)

    def test_what_nova_asks_besides(self):
        schema = self.demo.get('/image/v2/schemas/image')
        self.assertTrue(schema['properties']['size']['readOnly'])
        path = f'{IMAGES}/{self.image_id()}'
        self.assertEqual({'tasks': []}, self.demo.get(f'{path}/tasks'))
        self.demo.get(f'{path}/locations', expect=403)
        self.admin.put(f'{path}/tags/t', expect=204)
        self.admin.delete(f'{path}/tags/t')
        self.admin.delete(f'{path}/tags/t', expect=404)
