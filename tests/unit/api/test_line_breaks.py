"""Line breaks at the end of a path: the last one is ignored, as by a nova 34."""

from tests.unit.api.servers import base


class TestLineBreaks(base.Case):
    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server()

    def ask(self, method, path, body=None, *, code=200):
        answer = self.api.call(method, f'/servers/{self.uuid}{path}', body, version='2.26')
        self.assertEqual(code, answer.status_code, answer.text)
        return answer

    def tags(self):
        return self.ask('GET', '/tags').json['tags']

    def test_server(self):
        self.assertEqual(self.uuid, self.ask('GET', '%0A').json['server']['id'])
        self.ask('GET', '%0A%0A', code=404)
        self.ask('GET', '%0A/tags', code=404)

    def test_tags(self):
        answer = self.ask('PUT', '/tags/a%0A', code=201)
        self.assertTrue(answer.headers['Location'].endswith('/tags/a'))
        self.ask('PUT', '/tags/a', code=204)
        self.assertEqual(['a'], self.tags())
        self.ask('GET', '/tags/a%0A', code=204)
        self.ask('PUT', '/tags/a%0A%0A', code=201)
        self.assertEqual(['a', 'a\n'], self.tags())
        self.ask('DELETE', '/tags/a%0A', code=204)
        self.assertEqual(['a\n'], self.tags())
        self.ask('PUT', '/tags/%0A', code=201)
        self.assertEqual(['\n', 'a\n'], self.tags())

    def test_metadata(self):
        self.ask('PUT', '/metadata/key%0A', {'meta': {'key': 'value'}})
        self.ask('PUT', '/metadata/key%0A', {'meta': {'key\n': 'value'}}, code=400)
        self.ask('PUT', '/metadata/key%0A%0A', {'meta': {'key\n': 'other'}})
        self.assertEqual(
            {'key': 'value', 'key\n': 'other'}, self.ask('GET', '/metadata').json['metadata']
        )
        self.assertEqual({'meta': {'key': 'value'}}, self.ask('GET', '/metadata/key%0A').json)
        self.ask('DELETE', '/metadata/key%0A', code=204)
        self.assertEqual({'key\n': 'other'}, self.ask('GET', '/metadata').json['metadata'])
