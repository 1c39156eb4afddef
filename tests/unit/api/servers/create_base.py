"""Base classes of tests of POST /servers."""

from nova_lite.db.api import build_requests
from nova_lite.db.api import request_specs
from tests.fixtures import api_neighbours
from tests.unit.api.servers import base

ABSENT = object()


class Case(base.Case):
    def body(self, hints=None, **fields):
        server = {
            'name': 'web',
            'flavorRef': '42',
            'imageRef': api_neighbours.IMAGE_ID,
            'networks': 'none',
            **fields,
        }
        body = {'server': {k: v for k, v in server.items() if v is not ABSENT}}
        if hints is not None:
            body['os:scheduler_hints'] = hints
        return body

    def create(self, version='latest', *, who=None, hints=None, **fields):
        """The accepted servers' build requests."""
        self.ok('POST', '/servers', self.body(hints, **fields), code=202, version=version, who=who)
        method, arguments = self.api.super_conductor.calls[-1]
        self.assertEqual('build_servers', method)
        return self.api.api_db.read(build_requests.of, arguments['uuids'])

    def refuse(self, code, text='', *, version='latest', who=None, hints=None, **fields):
        body = self.body(hints, **fields)
        self.refused('POST', '/servers', body, code=code, text=text, version=version, who=who)
        self.assert_nothing_left()

    def assert_nothing_left(self):
        self.assertEqual([], self.api.api_db.read(build_requests.every))
        self.assertEqual([], self.api.super_conductor.calls)
        attached = [each[2] for each in self.api.neighbours.volume.attached]
        self.assertEqual(attached, self.api.neighbours.volume.deleted)

    def spec(self, request):
        return self.api.api_db.read(request_specs.get, request.instance_uuid)
