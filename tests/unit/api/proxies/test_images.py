"""/images and their metadata, on the simulated image service."""

from nova_lite import runtime
from nova_lite.simcloud import seed
from tests.fixtures import compute_api
from tests.unit.api.proxies import base


class ImageTest(base.Case):
    def add(self, name='mine', **values):
        given = {'name': name, 'disk_format': 'raw', 'container_format': 'bare', **values}
        return self.api.image.create(self.api.ctxt, given)['id']

    def names(self, query='', **options):
        found = self.ok('GET', f'/images{query}', **options).json['images']
        return [image['name'] for image in found]


class TestImages(ImageTest):
    def test_brief(self):
        image_id = self.add()
        (image,) = self.ok('GET', '/images?name=mine').json['images']
        self.assertEqual({'id', 'name', 'links'}, set(image))
        self.assertEqual(
            ['self', 'bookmark', 'alternate'], [each['rel'] for each in image['links']]
        )
        own, _bookmark, alternate = (each['href'] for each in image['links'])
        self.assertTrue(own.endswith(f'/v2.1/images/{image_id}'), own)
        self.assertEqual(f'{self.api.services.url}/image/images/{image_id}', alternate)

    def test_full(self):
        server = runtime.new_uuid()
        image_id = self.add(min_ram=64, min_disk=2, instance_uuid=server, auto_disk_config='yes')
        image = self.ok('GET', f'/images/{image_id}').json['image']
        self.assertEqual([image], self.ok('GET', '/images/detail?name=mine').json['images'])
        del image['links']
        record = self.api.image.get(self.api.ctxt, image_id)
        self.assertEqual(server, image['server'].pop('id'))
        self.assertEqual(
            {
                'id': image_id,
                'name': 'mine',
                'minRam': 64,
                'minDisk': 2,
                'metadata': {'instance_uuid': server, 'auto_disk_config': 'yes'},
                'created': record['created_at'],
                'updated': record['updated_at'],
                'status': 'SAVING',
                'progress': 25,
                'OS-EXT-IMG-SIZE:size': 0,
                'OS-DCF:diskConfig': 'AUTO',
                'server': {'links': image['server']['links']},
            },
            image,
        )
        self.api.image.upload(self.api.ctxt, image_id, b'12345')
        (image,) = self.ok('GET', '/images/detail?name=mine').json['images']
        self.assertEqual(('ACTIVE', 100, 5),
                         (image['status'], image['progress'], image['OS-EXT-IMG-SIZE:size']))  # fmt: skip

    def test_filters(self):
        server = runtime.new_uuid()
        self.add('snapshot', instance_uuid=server, image_type='snapshot', min_ram=5, color='red')
        for query in (
            'name=snapshot',
            'type=snapshot',
            'minRam=5',
            'status=SAVING',
            'status=saving',
            f'server={server}',
            f'server=http://compute/servers/{server}',
            'property-color=red',
            'color=blue&name=snapshot',
        ):
            self.assertEqual(['snapshot'], self.names(f'?{query}'), query)
        self.assertEqual(set(seed.IMAGES), set(self.names('?status=ACTIVE')))
        self.assertEqual(
            len(seed.IMAGES) + 1, len(self.names('?changes-since=2020-01-01T00:00:00Z'))
        )
        self.assertEqual([], self.names('?changes-since=2100-01-01T00:00:00Z'))
        for query, text in (
            ('status=nonsense', 'status'),
            ('changes-since=nonsense', 'nonsense'),
            ('changes-since=', 'updated_at'),
            ('limit=-1', 'limit'),
            ('minRam=x', 'min_ram'),
            ('marker=nonsense', 'nonsense'),
        ):
            self.refused('GET', f'/images?{query}', code=400, text=text)

    def test_properties_of_any_name(self):
        for name in ('self', 'ctxt', 'kind'):
            self.assertEqual([], self.names(f'?property-{name}=red'))
        self.assertEqual(sorted(seed.IMAGES), sorted(self.names('?property-limit=1')))

    def test_pages(self):
        query, names = 'limit=1&status=ACTIVE', []
        for _image in seed.IMAGES:
            found = self.ok('GET', f'/images?{query}').json
            names += [image['name'] for image in found['images']]
            (link,) = found['images_links']
            query = link['href'].partition('?')[2]
        self.assertEqual(sorted(seed.IMAGES), sorted(names))
        self.assertEqual([], self.names(f'?{query}'))
        self.assertNotIn('images_links', self.ok('GET', '/images').json)

    def test_deleted(self):
        image_id = self.add()
        one = f'/images/{image_id}'
        self.refused('DELETE', one, code=404, text=image_id, who=compute_api.OTHER)
        self.ok('DELETE', one, code=204)
        self.refused('DELETE', one, code=404, text=image_id)
        self.refused('GET', one, code=404, text=image_id)
        kept = self.add(protected=True)
        self.refused('DELETE', f'/images/{kept}', code=403)
        self.refused('GET', '/images/nonsense', code=404, text='nonsense')

    def test_gone_from_2_36(self):
        self.assert_ends(
            ('GET', '/images'), ('GET', '/images/detail'), ('GET', '/images/1'),
            ('DELETE', '/images/1'),
        )  # fmt: skip


class TestMetadata(ImageTest):
    until = '2.38'

    def setUp(self):
        super().setUp()
        self.path = f'/images/{self.add(a="b", c="d")}/metadata'

    def metadata(self):
        return self.ok('GET', self.path).json['metadata']

    def test_all(self):
        self.assertEqual({'a': 'b', 'c': 'd'}, self.metadata())
        for method, wanted in (
            ('POST', {'a': 'x', 'c': 'd', 'e': 'f'}),
            ('PUT', {'a': 'x', 'e': 'f'}),
        ):
            body = {'metadata': {'a': 'x', 'e': 'f'}}
            self.assertEqual({'metadata': wanted}, self.ok(method, self.path, body).json)
            self.assertEqual(wanted, self.metadata())

    def test_one(self):
        one = f'{self.path}/a'
        self.assertEqual({'meta': {'a': 'b'}}, self.ok('GET', one).json)
        body = {'meta': {'a': 'x'}}
        self.assertEqual(body, self.ok('PUT', one, body).json)
        self.assertEqual({'a': 'x', 'c': 'd'}, self.metadata())
        self.ok('DELETE', one, code=204)
        self.assertEqual({'c': 'd'}, self.metadata())
        for method in ('GET', 'DELETE'):
            self.refused(method, one, code=404, text='not found')

    def test_refused(self):
        self.refused('PUT', f'{self.path}/a', {'meta': {'b': 'x'}}, code=400, text='mismatch')
        for body in ({'metadata': {'a': 1}}, {'metadata': None}, {}):
            self.refused('POST', self.path, body, code=400)
        many = {'metadata': {str(number): 'x' for number in range(127)}}
        self.refused('POST', self.path, many, code=403, text='metadata_items')
        for who in (compute_api.OTHER, compute_api.READER):
            code = 404 if who is compute_api.OTHER else 403
            self.refused('POST', self.path, {'metadata': {'a': 'x'}}, code=code, who=who)
        one = f'{self.path}/a'
        self.assert_ends(
            ('GET', self.path), ('POST', self.path, {}), ('PUT', self.path, {}), ('GET', one),
            ('PUT', one, {}), ('DELETE', one),
        )  # fmt: skip
