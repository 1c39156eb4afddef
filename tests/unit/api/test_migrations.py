"""GET /os-migrations over two cells, microversion by microversion."""

import datetime

import fixtures

from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.cell import migration_lists
from nova_lite.db.cell import migrations
from tests.fixtures import compute_api
from tests.unit.api import base

SCATTER = 'nova_lite.cells.Cells.scatter'
URL = '/os-migrations'
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC).replace(tzinfo=None)
PLACES = ('source_compute', 'source_node', 'dest_compute', 'dest_node', 'dest_host')
MANAGER = {**compute_api.MEMBER, 'roles': 'manager,member,reader'}


class MigrationsTest(base.ApiTest):
    def add(self, cell='cell1', *, at=0, **values):
        """A migration created `at` seconds after START; returns its uuid."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': runtime.new_uuid(),
            'migration_type': 'resize',
            'status': 'finished',
            'source_compute': 'h1',
            'source_node': 'n1',
            'dest_compute': 'h2',
            'dest_node': 'n2',
            'dest_host': '192.0.2.2',
            'old_instance_type_id': 1,
            'new_instance_type_id': 2,
            'user_id': 'u',
            'project_id': 'alpha',
            'created_at': START + datetime.timedelta(seconds=at),
            **values,
        }
        self.api.cell(cell).db.write(migrations.create, values)
        return values['uuid']

    def list(self, query='', *, version='2.96', who=compute_api.ADMIN, **options):
        answer = self.request('GET', URL + query, version=version, who=who, **options)
        return answer['migrations']

    def uuids(self, query='', **options):
        return [shown['uuid'] for shown in self.list(query, **options)]

    def test_fields(self):
        self.add()
        fields = set(self.list(version='2.1')[0])
        self.assertEqual(
            {
                'id',
                'status',
                'instance_uuid',
                'old_instance_type_id',
                'new_instance_type_id',
                'created_at',
                'updated_at',
                *PLACES,
            },
            fields,
        )
        for version, new in (
            ('2.23', {'migration_type'}),
            ('2.59', {'uuid'}),
            ('2.80', {'user_id', 'project_id'}),
        ):
            now = set(self.list(version=version)[0])
            self.assertEqual(new, now - fields)
            fields = now

    def test_links_of_live_migrations_in_progress(self):
        self.add(migration_type='live-migration', status='running', at=2)
        self.add(migration_type='live-migration', status='completed', at=1)
        self.assertNotIn('links', self.list(version='2.22')[0])
        running, completed = self.list()
        self.assertEqual(
            f'/servers/{running["instance_uuid"]}/migrations/{running["id"]}',
            running['links'][1]['href'].removeprefix('http://falconframework.org'),
        )
        self.assertNotIn('links', completed)

    def test_newest_first_over_cells(self):
        made = [self.add('cell1' if at % 2 else 'cell2', at=at) for at in range(5)]
        self.assertEqual(list(reversed(made)), self.uuids())

    def test_record_in_each_cell(self):
        both = runtime.new_uuid()
        later = START + datetime.timedelta(days=1)
        self.add('cell1', uuid=both, status='post-migrating', cross_cell_move=True)
        self.add('cell2', uuid=both, status='finished', updated_at=later, cross_cell_move=True)
        self.assertEqual(2, len(self.list(version='2.58')))
        self.assertEqual(['finished'], [shown['status'] for shown in self.list()])

    def test_record_that_changes_while_it_is_looked_for(self):
        """A move between cells is listed, also if its record changes between the two reads."""
        uuid = self.add('cell1', status='migrating', cross_cell_move=True)
        database = self.api.cell('cell1').db
        scatter = self.api.cells.scatter
        changes = [
            lambda: database.write(migrations.update, uuid, {'status': 'error'}),
            lambda: database.write(rows.delete, migrations.TABLE, uuid=uuid),
        ]

        def changing(function, *args, **options):
            if function is migration_lists.records:
                changes.pop(0)()
            return scatter(function, *args, **options)

        self.useFixture(
            fixtures.MonkeyPatch(SCATTER, lambda _cells, *args, **k: changing(*args, **k))
        )
        for status in ('migrating', 'error'):
            self.assertEqual([status], [shown['status'] for shown in self.list()])

    def test_pages(self):
        both = runtime.new_uuid()
        made = [self.add('cell1', at=at) for at in range(3)]
        for at, cell in ((3, 'cell1'), (-9, 'cell2')):
            self.add(cell, at=at, uuid=both, cross_cell_move=True)
        made += [both, self.add('cell2', at=4)]
        expected, found, marker = list(reversed(made)), [], ''
        for _page in range(3):
            answer = self.admin('GET', f'{URL}?limit=2{marker}', version='2.59')
            found += [shown['uuid'] for shown in answer['migrations']]
            marker = f'&marker={found[-1]}'
            self.assertEqual(len(answer['migrations']) == 2, 'migrations_links' in answer)
        self.assertEqual(expected, found)
        self.assertEqual([], self.uuids('?limit=0'))

    def test_unknown_marker(self):
        self.admin('GET', f'{URL}?marker=', version='2.59')
        self.admin('GET', f'{URL}?marker=x', version='2.59', status=400)
        self.admin('GET', f'{URL}?marker={runtime.new_uuid()}', version='2.59', status=400)

    def test_filters(self):
        plain = self.add()
        odd = self.add(
            'cell2',
            at=1,
            migration_type='evacuation',
            status='error',
            source_compute='h3',
            project_id='beta',
            user_id='bob',
        )
        server = self.list()[0]['instance_uuid']
        for query in (
            'status=error',
            'migration_type=evacuation',
            'source_compute=h3',
            'host=h3',
            f'instance_uuid={server}',
            'user_id=bob',
            'project_id=beta',
        ):
            self.assertEqual([odd], self.uuids(f'?{query}'), query)
        self.assertEqual([odd, plain], self.uuids('?host=h2'))
        self.assertEqual([], self.uuids('?status=no-such'))

    def test_hidden_ones_are_never_shown(self):
        self.add(hidden=True)
        shown = self.add()
        self.assertEqual([shown], self.uuids())
        self.assertEqual([], self.uuids('?hidden=true'))

    def test_changes(self):
        old = self.add(at=0)
        self.add(at=-100, updated_at=START + datetime.timedelta(seconds=50))
        moment = '2026-01-01T00:00:10Z'
        self.assertEqual(1, len(self.uuids(f'?changes-since={moment}')))
        self.assertEqual([old], self.uuids(f'?changes-before={moment}'))
        self.admin(
            'GET',
            f'{URL}?changes-since={moment}&changes-before=2025-01-01T00:00:00Z',
            version='2.66',
            status=400,
        )

    def test_unknown_parameters(self):
        self.list('?nonsense=1&limit=x', version='2.58')
        for version, query in (
            ('2.59', 'nonsense=1'),
            ('2.59', 'changes-before=2026-01-01T00:00:00Z'),
            ('2.79', 'user_id=u'),
            ('2.66', 'changes-since=yesterday'),
        ):
            self.admin('GET', f'{URL}?{query}', version=version, status=400)

    def test_who_may(self):
        self.add()
        self.request('GET', URL, who=compute_api.MEMBER, status=403, version='2.80')
        self.request('GET', URL, who=MANAGER, status=403, version='2.80')
        (shown,) = self.list('?project_id=alpha', who=MANAGER)
        self.assertEqual([None] * 5, [shown[name] for name in PLACES])
        other = '?project_id=beta'
        self.request('GET', URL + other, who=MANAGER, status=403, version='2.80')
