"""Lists of servers: pages over cells and build requests, filters, order."""

import datetime

import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.api import flavors
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.fixtures import compute_api
from tests.fixtures import servers_api

ADMIN_OF_ALPHA = {**compute_api.ADMIN, 'project': 'alpha'}
NOW = datetime.datetime.fromisoformat('2026-08-01T12:00:00')


def minutes(number):
    return NOW + datetime.timedelta(minutes=number)


class Case(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.api = self.useFixture(servers_api.ServersApi())

    def names(self, query='', *, version='2.1', who=None):
        answer = self.api.call('GET', '/servers' + query, version=version, who=who)
        self.assertEqual(200, answer.status_code, answer.text)
        return [server['name'] for server in answer.json['servers']]

    def refused(self, query, code, *, version='2.1', who=None, text=''):
        answer = self.api.call('GET', '/servers' + query, version=version, who=who)
        self.assertEqual(code, answer.status_code, answer.text)
        self.assertIn(text, answer.text)


class TestPages(Case):
    def setUp(self):
        super().setUp()
        for number in range(7):
            self.api.add_server(
                cell=f'cell{number % 2 + 1}',
                display_name=f's{number}',
                created_at=minutes(number),
            )

    def add_build_request(self, name, created_at, **values):
        record = self.api.record(
            display_name=name, vm_state='building', task_state='scheduling', **values
        )
        record.update(host=None, node=None, created_at=created_at.isoformat(), launched_at=None)
        mapping = {
            'instance_uuid': record['uuid'],
            'cell_id': None,
            'project_id': record['project_id'],
            'user_id': record['user_id'],
        }
        request = {
            'instance_uuid': record['uuid'],
            'project_id': record['project_id'],
            'reservation_id': 'r-1',
            'request_id': 'req-1',
            'instance': record,
            'block_devices': [],
            'tags': ['blue'],
            'arguments': {},
            'lease_until': runtime.naive_now(),
        }
        self.api.api_db.write(instance_mappings.create, [mapping])
        self.api.api_db.write(build_requests.create, [request])
        return record['uuid']

    def test_newest_first_over_cells(self):
        self.assertEqual(['s6', 's5', 's4', 's3', 's2', 's1', 's0'], self.names())

    def test_pages_join(self):
        self.add_build_request('b', minutes(3.5))
        found, query = [], '?limit=3'
        while query:
            answer = self.api.call('GET', '/servers' + query).json
            found += [server['name'] for server in answer['servers']]
            following = answer.get('servers_links')
            query = following and '?' + following[0]['href'].partition('?')[2]
        self.assertEqual(['s6', 's5', 's4', 'b', 's3', 's2', 's1', 's0'], found)

    def test_pages_in_the_order_of_a_boolean(self):
        for number, direction in ((0, 'asc'), (6, 'desc')):
            uuid = self.api.add_server(display_name=f'locked{number}', locked=True)
            query = f'?sort_key=locked&sort_dir={direction}&limit=3'
            found, marker = [], ''
            while marker is not None:
                answer = self.api.call('GET', f'/servers{query}{marker}', version='2.73').json
                found += [server['id'] for server in answer['servers']]
                marker = f'&marker={found[-1]}' if 'servers_links' in answer else None
            self.assertEqual(len(set(found)), len(found))
            self.assertIn(uuid, found[-2:] if direction == 'asc' else found[:2])

    def test_build_request_has_no_number_yet(self):
        """By which guests are named."""
        uuid = self.add_build_request('new', minutes(9))
        for path, key in (('/servers/detail?limit=1', 'servers'), (f'/servers/{uuid}', 'server')):
            shown = self.api.call('GET', path, who=ADMIN_OF_ALPHA).json[key]
            shown = shown[0] if key == 'servers' else shown
            self.assertEqual('', shown['OS-EXT-SRV-ATTR:instance_name'], path)

    def test_marker_may_be_a_build_request(self):
        uuid = self.add_build_request('b', minutes(3.5))
        self.assertEqual(['s3', 's2'], self.names(f'?marker={uuid}&limit=2'))

    def test_order_by_name(self):
        self.add_build_request('b', minutes(3.5))
        query = '?sort_key=display_name&sort_dir=asc'
        self.assertEqual(['b', 's0', 's1', 's2', 's3', 's4', 's5', 's6'], self.names(query))

    def test_directions(self):
        ignored = '?sort_key=vcpus&sort_dir=asc&sort_key=display_name'
        for query, expected in (
            ('?sort_dir=asc', 's0'),
            ('?sort_key=user_id&sort_dir=asc&sort_key=display_name', 's0'),
            (
                '?sort_key=user_id&sort_key=host&sort_key=created_at&sort_dir=asc&sort_dir=desc',
                's0',
            ),
            (ignored, 's6'),
            (f'{ignored}&sort_dir=asc', 's0'),
        ):
            self.assertEqual(expected, self.names(query, who=ADMIN_OF_ALPHA)[0], query)
        for query in ('?sort_dir=asc&sort_dir=asc', '?sort_key=uuid&sort_dir=asc&sort_dir=asc'):
            self.refused(query, 400, text='Sort direction size exceeds sort key size')

    def test_order_by_a_column_with_nulls(self):
        self.api.add_server(display_name='keyed', key_name='k', created_at=minutes(-1))
        self.assertEqual('keyed', self.names('?sort_key=key_name&sort_dir=desc')[0])
        self.assertEqual('keyed', self.names('?sort_key=key_name&sort_dir=asc')[-1])

    def test_build_request_that_just_got_its_record_is_shown_once(self):
        uuid = self.add_build_request('b', minutes(9))
        self.api.cell('cell1').db.write(
            instances.create, [self.api.record(uuid=uuid, display_name='b', created_at=minutes(9))]
        )
        self.assertEqual(1, self.names().count('b'))

    def test_build_request_in_detail(self):
        uuid = self.add_build_request('b', minutes(9))
        shown = self.api.call('GET', '/servers/detail', version='latest').json['servers'][0]
        self.assertEqual(uuid, shown['id'])
        self.assertEqual('BUILD', shown['status'])
        self.assertEqual('scheduling', shown['OS-EXT-STS:task_state'])
        self.assertEqual(['blue'], shown['tags'])
        self.assertEqual({}, shown['addresses'])

    def test_filters_hold_for_build_requests_too(self):
        self.add_build_request('b', minutes(9))
        self.assertEqual(['b'], self.names('?status=BUILD'))
        self.assertEqual(['b'], self.names('?name=^b'))
        self.assertEqual(['b'], self.names('?tags=blue', version='2.26'))
        self.assertEqual([], self.names('?name=^x'))

    def test_hidden_copies_are_not_shown(self):
        self.api.add_server(display_name='hidden', hidden=True)
        self.assertNotIn('hidden', self.names())

    def test_limit_zero(self):
        self.assertEqual([], self.names('?limit=0'))

    def test_unknown_marker(self):
        self.refused(f'?marker={runtime.new_uuid()}', 400, text='marker')
        self.refused('?marker=nonsense', 400, text='marker')

    def test_empty_marker_is_none(self):
        self.assertEqual(['s6'], self.names('?marker=&limit=1'))

    def test_marker_of_another_project(self):
        uuid = self.api.add_server(project_id='beta')
        self.refused(f'?marker={uuid}', 400, text='marker')


class TestFilters(Case):
    def add(self, name, **values):
        return self.api.add_server(display_name=name, **values)

    def test_other_projects_are_not_shown(self):
        self.add('mine')
        self.add('theirs', project_id='beta', user_id='bob')
        self.assertEqual(['mine'], self.names())
        self.assertEqual(['theirs'], self.names(who=compute_api.OTHER))

    def test_offloaded_servers_are_in_no_zone(self):
        self.add('there', availability_zone='az1')
        self.add('nowhere', availability_zone='az1', vm_state='shelved_offloaded')
        self.assertEqual(['there'], self.names('?availability_zone=az1', version='2.83'))

    def test_all_tenants(self):
        self.add('theirs', project_id='beta')
        admin = compute_api.ADMIN
        self.assertEqual([], self.names(who=admin))
        self.assertEqual(['theirs'], self.names('?all_tenants=1', who=admin))
        self.assertEqual(['theirs'], self.names('?all_tenants', who=admin))
        self.assertEqual(['theirs'], self.names('?all_tenants=1&tenant_id=beta', who=admin))
        self.assertEqual([], self.names('?all_tenants=1&tenant_id=gamma', who=admin))
        self.refused('?all_tenants=1', 403)
        self.refused('?all_tenants=perhaps', 400)

    def test_status(self):
        self.add('active')
        self.add('rebooting', task_state='rebooting')
        self.add('stopped', vm_state='stopped')
        self.add('failed', vm_state='error')
        self.assertEqual(['active'], self.names('?status=ACTIVE'))
        self.assertEqual(['rebooting'], self.names('?status=reboot'))
        self.assertEqual({'stopped', 'failed'}, set(self.names('?status=SHUTOFF&status=ERROR')))
        self.assertEqual([], self.names('?status=NONSENSE'))
        self.refused('?status=NONSENSE', 400, version='2.38', text='NONSENSE')

    def test_last_of_repeated_parameters_counts(self):
        """But all statuses."""
        one, two = self.add('one', config_drive='True'), self.add('two', vm_state='stopped')
        for name, first, second in (
            ('vm_state', 'active', 'stopped'),
            ('uuid', one, two),
            ('name', 'one', 'two'),
            ('tags', 'a', 'b'),
            ('config_drive', 'True', 'False'),
        ):
            query = (f'{name}={first}', f'{name}={second}')
            if name == 'tags':
                cell = self.api.cell('cell1')
                cell.db.write(children.create_tags, one, [first])
                cell.db.write(children.create_tags, two, [second])
            for order, expected in ((query, ['two']), (query[::-1], ['one'])):
                asked = '?' + '&'.join(order)
                found = self.names(asked, version='2.26', who=ADMIN_OF_ALPHA)
                self.assertEqual(expected, found, asked)

    def test_deleted(self):
        uuid = self.add('gone')
        self.api.cell('cell1').db.write(instances.mark_deleted, uuid)
        self.assertEqual([], self.names())
        self.assertEqual(['gone'], self.names('?changes-since=2020-01-01T00:00:00Z'))
        self.refused('?status=deleted', 403)
        admin = ADMIN_OF_ALPHA
        self.assertEqual(['gone'], self.names('?status=deleted', who=admin))
        self.assertEqual(['gone'], self.names('?deleted=True', who=admin))

    def test_soft_deleted(self):
        uuid = self.add('gone')
        self.api.cell('cell1').db.write(instances.mark_deleted, uuid)
        self.add('soft', vm_state='soft-delete')
        self.add('there')
        for query, expected in (
            ('?status=SOFT_DELETED', []),
            ('?soft_deleted=True', ['there', 'soft']),
            ('?deleted=True', ['soft', 'gone']),
            ('?deleted=True&status=SOFT_DELETED', ['soft']),
            ('?deleted=True&soft_deleted=False', ['gone']),
            ('?changes-since=2020-01-01T00:00:00Z&deleted=False', ['there']),
            ('?changes-since=2020-01-01T00:00:00Z', ['there', 'soft', 'gone']),
        ):
            self.assertEqual(expected, self.names(query, who=ADMIN_OF_ALPHA), query)
        self.assertEqual(['there'], self.names())

    def test_changes(self):
        self.add('old', created_at=minutes(0))
        self.add('new', created_at=minutes(10))
        since = '?changes-since=2026-08-01T12:05:00Z'
        self.assertEqual(['new'], self.names(since))
        before = '?changes-before=2026-08-01T12:05:00Z'
        self.assertEqual(['old'], self.names(before, version='2.66'))
        self.refused(since + '&' + before[1:].replace('05', '01'), 400, version='2.66')

    def test_changes_before_the_time_that_a_server_shows(self):
        uuid = self.add('server', created_at=minutes(0).replace(microsecond=600000))
        shown = self.api.call('GET', f'/servers/{uuid}').json['server']['created']
        for query in ('changes-before', 'changes-since'):
            self.assertEqual(['server'], self.names(f'?{query}={shown}', version='2.66'))

    def test_tags(self):
        cell = self.api.cell('cell1')
        for name, tags in (('ab', ['a', 'b']), ('a', ['a']), ('none', [])):
            cell.db.write(children.create_tags, self.add(name), tags)

        def tagged(query):
            return set(self.names(query, version='2.26'))

        self.assertEqual({'ab'}, tagged('?tags=a,b'))
        self.assertEqual({'ab', 'a'}, tagged('?tags-any=a,b'))
        self.assertEqual({'a', 'none'}, tagged('?not-tags=a,b'))
        self.assertEqual({'none'}, tagged('?not-tags-any=a,b'))
        # A repeated tag is one tag, and there may be as many as a request has room for.
        many = 'a,' + ','.join(f'{number}' for number in range(1500))
        self.assertEqual({'ab'}, tagged('?tags=a,b,a'))
        self.assertEqual({'ab', 'a'}, tagged(f'?tags-any={many}'))
        self.assertEqual({'none'}, tagged(f'?not-tags-any={many}'))
        self.assertEqual(set(), tagged(f'?tags={many}'))
        self.assertEqual({'ab', 'a', 'none'}, tagged(f'?not-tags={many}'))

    def test_addresses(self):
        info = {
            'address': 'fa:16:3e:00:00:01',
            'network': {
                'label': 'private',
                'subnets': [{'ips': [{'address': '10.0.0.7', 'version': 4}]}],
            },
        }
        self.add('other')
        self.add('seven', network_info=[info])
        self.assertEqual(['seven'], self.names('?ip=10.0.0.7'))
        self.assertEqual([], self.names('?ip=10.1'))

    def test_flavor_and_image(self):
        self.add('one')
        self.assertEqual(['one'], self.names('?flavor=42'))
        self.assertEqual([], self.names('?flavor=unknown'))
        hidden = sa.update(flavors.TABLE).values(is_public=False)
        self.api.api_db.write(lambda connection: connection.execute(hidden))
        self.assertEqual([], self.names('?flavor=42'))
        self.assertEqual(['one'], self.names('?flavor=42', who=ADMIN_OF_ALPHA))
        self.assertEqual([], self.names('?image=unknown'))

    def test_filters_for_administrators_only(self):
        self.add('one', host='host1')
        self.assertEqual(['one'], self.names('?host=elsewhere'))
        self.assertEqual([], self.names('?host=elsewhere', who=ADMIN_OF_ALPHA))
        self.refused('?sort_key=host', 403)

    def test_unknown_parameters(self):
        self.add('one')
        self.assertEqual(['one'], self.names('?nonsense=1'))
        self.refused('?nonsense=1', 400, version='2.75', text='nonsense')
        for query in ('?_private=1', '?metadata=1'):
            for version in ('2.1', '2.104'):
                self.assertEqual(['one'], self.names(query, version=version))
                self.refused(query, 400, version=version, who=ADMIN_OF_ALPHA, text=query[1:-2])
        for query in ('?sort_dir=', '?sort_dir=ASC'):
            self.refused(query, 400, text='sort direction')
        self.refused('?locked=maybe', 400, version='2.73', text='locked')
        self.assertEqual(['one'], self.names('?locked=maybe&locked=n', version='2.73'))
        self.refused('?sort_key=nonsense', 400, text='sort_key')
        self.assertEqual(['one'], self.names('?sort_key=vcpus'))
        self.refused('?sort_key=vcpus', 400, version='2.75')

    def test_broken_pattern(self):
        self.refused('?name=(', 400, text='name')

    def test_patterns_are_matched_in_linear_time(self):
        """An engine that backtracks would not come back from these."""
        address = {'address': '10.0.0.123', 'version': 4}
        info = {'address': 'a', 'network': {'label': 'l', 'subnets': [{'ips': [address]}]}}
        self.add('a' * 255, network_info=[info])
        self.assertEqual([], self.names('?ip=' + '(.%7C.%7C.)*' * 15 + 'x'))
        answer = self.api.call('GET', '/servers?name=((((a%2B)*)*)*)*x')
        # A server may give up on it, in time.
        codes = (200,) if self.api.api_db.url.startswith('sqlite') else (200, 400)
        self.assertIn(answer.status_code, codes, answer.text)
        self.assertEqual(['a' * 255], self.names('?name=a%2B'))

    def test_patterns_that_repeat_too_much(self):
        pattern = '(' + '(a%3F)%7B500%7D' * 20 + 'x)'
        self.refused(f'?name={pattern}', 400, text='name')
        self.refused(f'?ip={pattern}', 400, text='ip')

    def test_patterns_that_need_backtracking(self):
        for pattern in ('(a)%5C1', '(?=a)', '(?<!a)b'):
            self.refused(f'?name={pattern}', 400, text='name')
            self.refused(f'?ip={pattern}', 400, text='ip')

    def test_locked(self):
        self.add('free')
        self.add('locked', locked=True)
        self.assertEqual(['locked'], self.names('?locked=true', version='2.73'))
