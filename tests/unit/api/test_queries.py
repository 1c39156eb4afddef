"""Unknown query parameters: accepted, ignored or refused, by microversion."""

from nova_lite.api import operation
from tests.fixtures import compute_api
from tests.unit.api.servers import base

# Operations that read, but accept any query at every microversion, as nova does.
OPEN = {
    'GET /servers/{server_id}/tags',
    'GET /servers/{server_id}/tags/{tag}',
    'GET /servers/{server_id}/os-volume_attachments/{volume_id}',
    'GET /os-quota-sets/{project_id}/defaults',
}


class UnknownParametersTest(base.Case):
    def setUp(self):
        super().setUp()
        self.uuid = self.api.add_server()

    def test_show_refuses_them_from_2_102(self):
        path = f'/servers/{self.uuid}?x=1'
        for version in ('2.1', '2.75', '2.101'):
            self.ok('GET', path, version=version)
        self.refused('GET', path, code=400, version='2.102', text="'x' was unexpected")

    def test_writes_ignore_them(self):
        for version in ('2.1', '2.75', '2.104'):
            self.ok(
                'PUT', f'/servers/{self.uuid}?x=1', {'server': {'name': 'new'}}, version=version
            )
            self.ok(
                'POST',
                f'/servers/{self.uuid}/action?x=1',
                {'lock': None},
                code=202,
                version=version,
            )

    def test_declarations(self):
        refusing = {'additionalProperties': False, 'properties': {}}
        for each in operation.load_all():
            source = each.query.at(each.until).source
            strict = {key: source.get(key) for key in refusing} == refusing
            if each.method != 'GET':
                self.assertFalse(strict, f'{each} refuses every query')
            elif str(each) in OPEN:
                self.assertTrue(source['additionalProperties'], str(each))

    def test_list_ignores_filters_of_later_microversions(self):
        for query, first in (('locked=x', '2.73'), ('changes-before=x', '2.66')):
            minor = int(first.partition('.')[2])
            for version in ('2.1', f'2.{minor - 1}'):
                self.ok('GET', f'/servers?{query}', version=version, who=compute_api.ADMIN)
            self.refused('GET', f'/servers?{query}', code=400, version=first, who=compute_api.ADMIN)

    def test_empty_tags_are_refused(self):
        self.ok('GET', '/servers?tags=', version='2.25')
        for name in ('tags', 'tags-any', 'not-tags', 'not-tags-any'):
            for version in ('2.26', '2.75'):
                self.refused('GET', f'/servers?{name}=', code=400, version=version, text=name)

    def test_some_reads_ignore_them(self):
        self.ok('GET', f'/servers/{self.uuid}/tags?x=1', version='latest')
        self.ok('GET', '/os-quota-sets/alpha/defaults?x=1', version='latest')
