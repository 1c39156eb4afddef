"""POST /os-aggregates/{id}/images."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import aggregates
from tests.fixtures import api_neighbours
from tests.fixtures import servers_api
from tests.unit.api import base

KNOWN = api_neighbours.IMAGE_ID


class CacheTest(base.ApiTest):
    def make_api(self):
        return servers_api.ServersApi()

    def setUp(self):
        super().setUp()
        made = self.api.api_db.write(
            aggregates.create, uuid=runtime.new_uuid(), name='one', metadata={}
        )
        self.number = made.id

    def ask(self, *images, number=None, status=202, version='2.81', **options):
        body = {'cache': [{'id': image} for image in images]}
        path = f'/os-aggregates/{number or self.number}/images'
        return self.admin('POST', path, body, status=status, version=version, **options)

    def refused(self, status, *images, **options):
        (error,) = self.ask(*images, status=status, **options).values()
        self.assertEqual([], self.api.super_conductor.calls)
        return error['message']

    def test_accepted(self):
        self.assertIsNone(self.ask(KNOWN))
        call = {'aggregate_id': self.number, 'image_ids': [KNOWN]}
        self.assertEqual([('cache_images', call)], self.api.super_conductor.calls)

    def test_from_2_81(self):
        self.refused(404, KNOWN, version='2.80')

    def test_an_image_twice(self):
        self.assertIn(KNOWN, self.refused(400, KNOWN, KNOWN))

    def test_an_unknown_image(self):
        unknown = runtime.new_uuid()
        self.assertIn(unknown, self.refused(400, KNOWN, unknown))

    def test_an_unknown_aggregate(self):
        self.refused(404, KNOWN, number=4711)
        self.refused(400, KNOWN, number='x')

    def test_what_is_no_list_of_images(self):
        path = f'/os-aggregates/{self.number}/images'
        for content in ([], [{}], [{'id': 'x'}], [{'id': KNOWN, 'x': 1}], {'id': KNOWN}, None):
            self.admin('POST', path, {'cache': content}, status=400, version='2.81')

    def test_administrators_only(self):
        path = f'/os-aggregates/{self.number}/images'
        self.request('POST', path, {'cache': [{'id': KNOWN}]}, status=403, version='2.81')

    def test_no_bus(self):
        error = exception.Unavailable(service='The message bus', reason='test')
        self.api.super_conductor.answers['cache_images'] = error
        self.ask(KNOWN, status=503)
