"""Usage of projects over HTTP."""

import datetime

from nova_lite import runtime
from nova_lite.db.cell import instances
from tests.fixtures import clock
from tests.fixtures import compute_api
from tests.unit.api import base

URL = '/os-simple-tenant-usage'
DAY = datetime.datetime(2026, 1, 1)  # noqa: DTZ001 (as the database stores it)
PERIOD = 'start=2026-01-01T00:00:00&end=2026-01-01T10:00:00'


def at(hour):
    return DAY + datetime.timedelta(hours=hour)


class UsageTest(base.ApiTest):
    def make_api(self):
        self.useFixture(clock.ManualClock()).advance(20 * 3600)
        return compute_api.ComputeApi()

    def add(self, launched, terminated=None, *, project_id='alpha', cell='cell1'):
        uuid = runtime.new_uuid()
        values = {
            'uuid': uuid,
            'project_id': project_id,
            'user_id': 'u',
            'display_name': 's',
            'vm_state': 'deleted' if terminated else 'active',
            'deleted': terminated is not None,
            'vcpus': 2,
            'memory_mb': 1024,
            'root_gb': 10,
            'ephemeral_gb': 5,
            'flavor': {'name': 'small'},
            'launched_at': None if launched is None else at(launched),
            'terminated_at': None if terminated is None else at(terminated),
        }
        self.api.cell(cell).db.write(instances.create, [values])
        return uuid

    def show(self, version='2.1', **options):
        return self.get(f'{URL}/alpha?{PERIOD}', version=version, **options)['tenant_usage']

    def test_show(self):
        uuid = self.add(-5)
        self.add(8, 9, cell='cell2')
        self.add(11)
        self.add(-5, -1)
        self.add(None)
        shown = self.show()
        self.assertEqual(
            ('alpha', 11.0, 22.0, 11.0 * 1024, 11.0 * 15),
            tuple(
                shown[name]
                for name in (
                    'tenant_id', 'total_hours', 'total_vcpus_usage', 'total_memory_mb_usage',
                    'total_local_gb_usage',
                )
            ),
        )  # fmt: skip
        self.assertEqual('2026-01-01T10:00:00.000000', shown['stop'])
        servers = {each['instance_id']: each for each in shown['server_usages']}
        self.assertEqual(2, len(servers))
        self.assertEqual(
            {
                'instance_id': uuid,
                'name': 's',
                'tenant_id': 'alpha',
                'flavor': 'small',
                'vcpus': 2,
                'memory_mb': 1024,
                'local_gb': 15,
                'hours': 10.0,
                'started_at': '2025-12-31T19:00:00.000000',
                'ended_at': None,
                'state': 'active',
                'uptime': 25 * 3600,
            },
            servers[uuid],
        )
        self.assertIn('terminated', [each['state'] for each in servers.values()])

    def test_of_another_project(self):
        self.assertEqual({}, self.show())
        self.show(who=compute_api.READER)
        self.show(who=compute_api.ADMIN)
        self.get(f'{URL}/alpha', who=compute_api.OTHER, status=403)
        self.get(URL, status=403)

    def test_list(self):
        self.add(0)
        self.add(0, project_id='beta', cell='cell2')
        found = self.admin('GET', f'{URL}?{PERIOD}')['tenant_usages']
        self.assertEqual(['alpha', 'beta'], [each['tenant_id'] for each in found])
        self.assertNotIn('server_usages', found[0])
        found = self.admin('GET', f'{URL}?{PERIOD}&detailed=1')['tenant_usages']
        self.assertEqual(1, len(found[0]['server_usages']))

    def test_pages_of_servers(self):
        uuids = sorted(self.add(0, cell=cell) for cell in ('cell1', 'cell2', 'cell1'))
        uuids.append(self.add(0, project_id='beta'))
        path, found = f'{URL}?{PERIOD}&detailed=1&limit=1', []
        while True:
            answer = self.admin('GET', path, version='2.40')
            found += [
                server['instance_id']
                for project in answer['tenant_usages']
                for server in project['server_usages']
            ]
            if 'tenant_usages_links' not in answer:
                break
            path = answer['tenant_usages_links'][0]['href'].split('/v2.1')[1]
        self.assertEqual(uuids, found)
        answer = self.get(f'{URL}/alpha?{PERIOD}&limit=2', version='2.40')
        self.assertIn(f'marker={uuids[1]}', answer['tenant_usage_links'][0]['href'])
        self.admin('GET', f'{URL}?marker=x', version='2.40', status=400)

    def test_first_of_repeated_parameters_counts(self):
        self.get(f'{URL}/alpha?{PERIOD}&start=yesterday&end=x')
        self.get(f'{URL}/alpha?start=yesterday&{PERIOD}', status=400)
        self.add(8, 9)
        found = self.admin('GET', f'{URL}?{PERIOD}&detailed=1&detailed=0')['tenant_usages']
        self.assertIn('server_usages', found[0])

    def test_refused(self):
        for query in ('start=yesterday', 'start=2026-01-02T00:00:00&end=2026-01-01T00:00:00'):
            self.get(f'{URL}/alpha?{query}', status=400)
        self.get(f'{URL}/alpha?unknown=x', status=400, version='2.75')
