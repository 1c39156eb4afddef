"""Lists and views of servers while a cell does not answer."""

from nova_lite.api import microversion
from tests.unit.api.servers import test_list

SHORT = {'id', 'status', 'links'}
DETAIL = {*SHORT, 'created', 'tenant_id'}
SHOW = {
    *(*DETAIL, 'user_id', 'flavor', 'image'),
    *('OS-EXT-AZ:availability_zone', 'OS-EXT-STS:power_state'),
}


def _fields_of_show(minor):
    later = {71: 'server_groups', 96: 'pinned_availability_zone', 100: 'scheduler_hints'}
    return SHOW | {name for since, name in later.items() if since <= minor}


class TestDownCell(test_list.Case):
    def setUp(self):
        super().setUp()
        self.up = self.api.add_server(display_name='up')
        self.down = self.api.add_server(cell='cell2', display_name='down')
        self.api.cell('cell2').db.url = 'sqlite:////nonexistent/directory/x.sqlite'
        self.api.cell('cell2').db.dispose()
        self.api.cell('cell2').db._engine = None

    def test_skipped_before_2_69(self):
        self.assertEqual(['up'], self.names())

    def test_a_malformed_url(self):
        self.api.cell('cell2').db.url = 'nonsense'
        self.assertEqual(['up'], self.names())
        self.test_show()

    def test_partial_from_2_69(self):
        answer = self.api.call('GET', '/servers', version='2.69').json['servers']
        self.assertEqual([self.down, self.up], [server['id'] for server in answer])
        self.assertEqual({'id', 'status', 'links'}, set(answer[0]))

    def test_fields_of_each_microversion(self):
        """Exactly these, in each microversion that has partial servers."""
        for minor in range(69, microversion.MAXIMUM.minor + 1):
            version = f'2.{minor}'
            for path, key, wanted in (
                ('/servers', 'servers', SHORT),
                ('/servers/detail', 'servers', DETAIL),
                (f'/servers/{self.down}', 'server', _fields_of_show(minor)),
            ):
                found = self.api.call('GET', path, version=version).json[key]
                shown = found[0] if key == 'servers' else found
                self.assertEqual((self.down, 'UNKNOWN'), (shown['id'], shown['status']))
                self.assertEqual(wanted, set(shown), f'{path} {version}')

    def test_nothing_partial_with_filters(self):
        self.assertEqual(['up'], self.names('?name=up', version='2.69'))
        self.assertEqual(['up'], self.names('?limit=5', version='2.69'))
        for query in (
            '?deleted=False&project_id=beta', '?tenant_id=beta', '?soft_deleted=True',
            '?all_tenants=1&project_id=alpha', '?all_tenants=1&tenant_id=alpha',
        ):  # fmt: skip
            self.assertEqual(
                ['up'], self.names(query, version='2.69', who=test_list.ADMIN_OF_ALPHA)
            )
        self.assertEqual(
            [], self.names('?deleted=True', version='2.69', who=test_list.ADMIN_OF_ALPHA)
        )

    def test_nothing_partial_with_filters_that_clients_send(self):
        """They count in nova too, although they say what holds without them."""
        for query in ('?deleted=False', '?project_id=alpha', '?all_tenants=1&deleted=false'):
            self.assertEqual(
                ['up'], self.names(query, version='2.69', who=test_list.ADMIN_OF_ALPHA)
            )
        # A plain user may not filter by them: they are dropped.
        answer = self.api.call('GET', '/servers?deleted=False&project_id=alpha', version='2.69')
        self.assertEqual([self.down, self.up], [each['id'] for each in answer.json['servers']])

    def test_a_page_is_not_longer_with_partial_entries(self):
        self.api.conf.set_override('max_limit', 1, 'api')
        self.assertEqual(['up'], self.names(version='2.69'))

    def test_an_error_where_nothing_may_be_skipped(self):
        self.api.conf.set_override('list_records_by_skipping_down_cells', False, 'api')
        for query, version in (('', '2.68'), ('?name=up', '2.69'), ('?sort_key=uuid', '2.104')):
            self.refused(query, 500, version=version)
        self.assertEqual(200, self.api.call('GET', '/servers', version='2.69').status_code)

    def test_show(self):
        answer = self.api.call('GET', f'/servers/{self.down}', version='2.96')
        self.assertEqual(200, answer.status_code)
        shown = answer.json['server']
        self.assertEqual('UNKNOWN', shown['status'])
        self.assertEqual('m1.nano', shown['flavor']['original_name'])
        self.assertEqual(503, self.api.call('GET', f'/servers/{self.down}').status_code)
