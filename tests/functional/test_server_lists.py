"""Every filter and sort key of server lists, over two cells, also with one of them down."""

import contextlib
import itertools

import requests
import testtools

from nova_lite import runtime
from nova_lite.api import microversion
from nova_lite.api.servers import list_schema
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import listed_servers as model
from tools import sample

DOWN = 'cell2'
NEWEST = microversion.MAXIMUM.minor
OPTIONS = {'quota': {'cores': -1}}
# With list entries in part and without, and before most filters.
MINORS = (1, 68, NEWEST)
PATHS = itertools.cycle(('/servers', '/servers/detail'))
SHORT = {'id', 'status', 'links'}
SHOWN = {'/servers': SHORT, '/servers/detail': SHORT | {'created', 'tenant_id'}}
KERNEL, RAMDISK = '0f6d4a52-5d1c-4c4d-8c22-53c0a5d2e3b1', '7a0c9a39-93e9-4b0e-8f7c-4a1f6bde9d02'
NOTHING = 'nothing'
# Filters of which all servers at rest have the same value.
SAME = {'progress', 'task_state'}
# Columns whose values are drawn, so that their order says nothing of their servers.
DRAWN = ('uuid', 'reservation_id')
# A value of each filter of which no server has one, unless `NOTHING` is one.
NONE_SUCH = {
    **dict.fromkeys(('launch_index', 'power_state', 'progress'), '77'),
    **dict.fromkeys(('created_at', 'launched_at', 'terminated_at'), '2001-01-01T00:00:00Z'),
    'changes-since': '2101-01-01T00:00:00Z',
    'changes-before': '2001-01-01T00:00:00Z',
    'status': 'PAUSED',
}
TIMES = ('created_at', 'launched_at', 'terminated_at', 'changes-since', 'changes-before')
BOOLEANS = ('locked', 'auto_disk_config', 'config_drive', 'deleted', 'soft_deleted')


@sample.in_turns(2)
class ServerListTest(testtools.TestCase):
    """All tests of the class read the same servers."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cloud = cloud_fixture.Cloud(cells=2, hosts=1, options=OPTIONS)
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)
        cls.demo = model.Caller('nova-lite-demo', cls.cloud.demo.current_project_id)
        cls.admin = model.Caller('nova-lite', cls.cloud.admin.current_project_id, is_admin=True)
        _Made(cls.cloud).make()
        cls.rows = model.read(cls.cloud.cloud.places)
        cls.session = requests.Session()
        cls.addClassCleanup(cls.session.close)

    def setUp(self):
        super().setUp()
        self.useFixture(cloud_fixture.warnings())

    def tearDown(self):
        self.assertEqual([], self.cloud.server_errors.take())
        super().tearDown()

    # ---- asking ----

    def ask(self, path, params, caller, minor, *, status=200):
        answer = self.session.get(
            f'{self.cloud.cloud.url}/compute/v2.1{path}',
            params=params,
            timeout=60,
            headers={
                'X-Auth-Token': self.cloud.connect(caller.cloud).auth_token,
                'OpenStack-API-Version': f'compute 2.{minor}',
            },
        )
        self.assertEqual(status, answer.status_code, f'{params} 2.{minor}: {answer.text}')
        return answer.json()

    def check(self, params, caller, minor, *, down=False):
        """Compare a list with the model; return its entries."""
        path = next(PATHS)
        found = self.ask(path, params, caller, minor)['servers']
        rows, lost = self.split(down)
        expected = [row['uuid'] for row in model.listed(rows, params, caller, minor)]
        part = []
        if down and model.is_plain(params, caller, minor):
            part = sorted(row['uuid'] for row in model.missing(lost, params, caller))
        ids = [each['id'] for each in found]
        ids[: len(part)] = sorted(ids[: len(part)])
        self.assertEqual([*part, *expected], ids, f'{path} {params} {caller.cloud} 2.{minor}')
        for each in found[: len(part)]:
            self.assertEqual(SHOWN[path], set(each))
            self.assertEqual('UNKNOWN', each['status'])
        return found

    def split(self, down):
        """The rows that can be read, and those of the cell that is down."""
        lost = [row for row in self.rows if down and row['cell'] == DOWN]
        return [row for row in self.rows if row not in lost], lost

    @contextlib.contextmanager
    def without_a_cell(self):
        faults = self.cloud.cloud.faults
        faults.switch_cell(DOWN, up=False, parts=('database',))
        try:
            yield
        finally:
            faults.switch_cell(DOWN, up=True, parts=('database',))

    def pages(self, params, caller, minor, limit):
        """The entries of all pages of a list, and how many pages there were."""
        path, found, marker = next(PATHS), [], {}
        for number in itertools.count(1):
            page = self.ask(path, {**params, 'limit': [limit], **marker}, caller, minor)
            found += page['servers']
            self.assertLessEqual(len(page['servers']), limit)
            if 'servers_links' not in page:
                return [each['id'] for each in found], number
            marker = {'marker': [page['servers'][-1]['id']]}
            (link,) = page['servers_links']
            self.assertIn(f'marker={marker["marker"][0]}', link['href'])

    # ---- requests ----

    def views(self):
        """(caller, parameters that say of whom)"""
        return (
            (self.demo, {}),
            (self.admin, {}),
            (self.admin, {'all_tenants': ['1']}),
        )

    def values(self, name):
        """Lists of values of a filter: of some servers, and of none."""
        if name in BOOLEANS:
            return (['True'], ['False'])
        if name == 'status':
            several = ['ACTIVE', 'SHUTOFF']
            return (several, ['ERROR'], ['SOFT_DELETED'])
        if name in model.SINCE and 'tags' in name:
            return (['red,blue'], ['red'], ['green,blue'], ['yellow'])
        column = {'tenant_id': 'project_id', 'image': 'image_ref', 'flavor': 'flavorid'}.get(name)
        column = column or {'name': 'display_name', 'description': 'display_description'}.get(name)
        if name.startswith('changes'):
            column = 'updated_at'
        if name in ('ip', 'ip6'):
            present = sorted(each for row in self.rows for each in row[name])
        else:
            present = sorted({row[column or name] for row in self.rows} - {None, ''}, key=str)
        chosen = [present[0], present[len(present) // 2]] if present else []
        if name in DRAWN:
            # The others may be of deleted servers, which few lists have.
            chosen.append(min(row[name] for row in self.usual()))
        if name in TIMES:
            chosen = [text.replace(' ', 'T')[:19] + 'Z' for text in chosen]
        none_such = NONE_SUCH.get(name, NOTHING)
        return tuple([str(value)] for value in dict.fromkeys([*chosen, none_such]))

    def usual(self):
        """Rows of the servers that an administrator sees without filters."""
        return model.listed(self.rows, {'all_tenants': ['1']}, self.admin, NEWEST)

    def cases(self, name):
        """(caller, parameters) with a filter"""
        more = {'deleted': ['True']} if name == 'terminated_at' else {}
        for (caller, view), values in itertools.product(self.views(), self.values(name)):
            yield caller, {**view, name: values, **more}

    # ---- tests ----

    def test_the_model_has_every_filter_and_sort_key(self):
        minors = {int(version.partition('.')[2]) for version in list_schema.QUERY}
        self.assertEqual({1, 26, 66, 73, 75}, minors)
        for minor in minors:
            since = {name for name in model.NAMES if minor >= model.SINCE.get(name, 1)}
            self.assertEqual(since | model.PAGING, list_schema.names(minor))
        self.assertEqual({*model.FOR_MEMBERS}, set(list_schema.allowed(NEWEST)))
        for minor in range(1, NEWEST):
            usable = {name for name, since in model.FOR_MEMBERS.items() if minor >= since}
            self.assertEqual(usable, list_schema.allowed(minor))
        unknown = {model.SORTED_BY.get(key, key) for key in list_schema.SORT_KEYS}
        self.assertEqual(set(), unknown - set(self.rows[0]))

    def test_filters(self):
        undecided, usual = set(), {row['uuid'] for row in self.usual()}
        for name in sorted(model.NAMES - {'all_tenants'}):
            answers = set()
            for (caller, params), minor in itertools.product(self.cases(name), MINORS):
                found = self.check(params, caller, minor)
                if minor == NEWEST and 'all_tenants' in params:
                    answers.add(frozenset(each['id'] for each in found))
            if not answers - {frozenset(), frozenset(usual)}:
                undecided.add(name)
        self.assertEqual(SAME, undecided)

    def test_filters_without_a_cell(self):
        with self.without_a_cell():
            for name in sorted(model.NAMES - {'all_tenants'}):
                for (caller, params), minor in itertools.product(self.cases(name), (68, NEWEST)):
                    self.check(params, caller, minor, down=True)

    def test_unfiltered(self):
        of_demo = {'all_tenants': ['1'], 'project_id': [self.demo.project_id]}
        for down in (False, True):
            with self.without_a_cell() if down else contextlib.nullcontext():
                views = (*self.views(), (self.admin, of_demo), (self.admin, {'all_tenants': ['0']}))
                for (caller, params), minor in itertools.product(views, (1, 68, 69, NEWEST)):
                    for _path in SHOWN:
                        found = self.check(params, caller, minor, down=down)
                        unknown = [each for each in found if each.get('status') == 'UNKNOWN']
                        self.assertLess(len(unknown), len(found))
                        shown = down and model.is_plain(params, caller, minor)
                        self.assertEqual(shown, unknown != [])

    def test_all_tenants_is_for_administrators(self):
        for path in SHOWN:
            self.ask(path, {'all_tenants': ['1']}, self.demo, NEWEST, status=403)
            self.ask(path, {'status': ['deleted']}, self.demo, NEWEST, status=403)

    def test_sort_keys(self):
        everyone = {'all_tenants': ['1']}
        keys = (*list_schema.SORT_KEYS, 'locked')
        for key, direction in itertools.product(keys, ('asc', 'desc')):
            params = {'sort_key': [key], 'sort_dir': [direction]}
            expected = self.check({**params, **everyone}, self.admin, NEWEST)
            found, number = self.pages({**params, **everyone}, self.admin, NEWEST, 4)
            self.assertEqual([each['id'] for each in expected], found, key)
            self.assertGreater(number, 2)
            if key in ('host', 'node'):
                self.ask('/servers', params, self.demo, NEWEST, status=403)
            else:
                self.check(params, self.demo, NEWEST)
        for params in (
            {'sort_key': ['vm_state', 'display_name']},
            {'sort_key': ['vm_state', 'host', 'uuid'], 'sort_dir': ['asc', 'desc']},
            {'sort_dir': ['asc']},
        ):
            self.check({**params, **everyone}, self.admin, NEWEST)

    def test_sort_keys_without_a_cell(self):
        with self.without_a_cell():
            for key, minor in itertools.product(list_schema.SORT_KEYS, (68, NEWEST)):
                params = {'sort_key': [key], 'all_tenants': ['1']}
                self.check(params, self.admin, minor, down=True)

    def test_sort_keys_without_effect(self):
        for key in list_schema.IGNORED_SORT_KEYS:
            params = {'sort_key': [key], 'sort_dir': ['asc']}
            found = [each['id'] for each in self.ask('/servers', params, self.demo, 72)['servers']]
            usual = [row['uuid'] for row in model.listed(self.rows, {}, self.demo, 72)]
            self.assertEqual(usual, found, key)
            if key != 'locked':
                self.ask('/servers', params, self.demo, 75, status=400)

    def test_pages_of_filters(self):
        for name in sorted(model.NAMES - {'all_tenants'}):
            for values in self.values(name)[:1]:
                params = {name: values, 'all_tenants': ['1']}
                expected = model.listed(self.rows, params, self.admin, NEWEST)
                found, _number = self.pages(params, self.admin, NEWEST, 2)
                self.assertEqual([row['uuid'] for row in expected], found, params)

    def test_pages_without_a_cell(self):
        params = {'all_tenants': ['1']}
        up, lost = self.split(True)
        with self.without_a_cell():
            for minor in (68, NEWEST):
                expected = model.listed(up, params, self.admin, minor)
                found, number = self.pages(params, self.admin, minor, 2)
                self.assertEqual([row['uuid'] for row in expected], found)
                self.assertGreater(number, 1)
                marker = {**params, 'marker': [lost[0]['uuid']]}
                with self.cloud.server_errors.announced(503):
                    self.ask('/servers', marker, self.admin, minor, status=503)

    def test_where_no_cell_may_be_skipped(self):
        conf = self.cloud.cloud.confs['control']
        conf.set_override('list_records_by_skipping_down_cells', False, 'api')
        self.addCleanup(conf.clear_override, 'list_records_by_skipping_down_cells', 'api')
        filtered = ({'name': ['x']}, {'limit': ['5']}, {'sort_key': ['uuid']})
        with self.without_a_cell(), self.cloud.server_errors.announced(500):
            for path in SHOWN:
                self.ask(path, {}, self.demo, 68, status=500)
                for params in filtered:
                    self.ask(path, params, self.demo, NEWEST, status=500)
            self.check({}, self.demo, NEWEST, down=True)


class _Made:
    """Servers of two projects in both cells and in cell0, which differ in what lists show."""

    def __init__(self, cloud):
        self.cloud = cloud
        self.compute = cloud.admin.compute

    def make(self):
        self._surroundings()
        network = [{'uuid': self.cloud.network_id()}]
        six = [{'uuid': self.six.id}]
        self.boot('early', 'east')
        self._wait_for_another_second()
        known = {'description': 'first one', 'accessIPv4': '198.51.100.1', 'key_name': 'key'}
        anna = self.boot('anna', 'east', networks=network, tags=['red', 'blue'], **known)
        self.boot('bert', 'west', networks=six, tags=['red'], accessIPv6='2001:db8::1')
        carl = self.boot('carl', 'west', config_drive=True, hostname='charles')
        self.boot('many', 'east', min_count=2, max_count=2, flavorRef='2')
        dora = self.boot('dora', 'east', cloud='nova-lite', imageRef=self.image_id)
        erik = self.boot('erik', 'west', cloud='nova-lite', tags=['green'], description='second')
        soft = self.boot('soft', 'west')
        gone = self.boot('gone', 'east'), self.boot('lost', 'west', cloud='nova-lite')
        self.boot('none', 'west', status='ERROR', flavorRef=self.impossible.id)
        self.act(anna, {'lock': {'locked_reason': 'x'}}, 'ACTIVE', cloud='nova-lite-demo')
        self.act(carl, {'lock': None}, 'ACTIVE')
        self.act(dora, {'pause': None}, 'PAUSED')
        self.act(erik, {'os-stop': None}, 'SHUTOFF')
        for server in gone:
            self.compute.delete_server(server)
            self.cloud.wait_gone(server)
        self._soft_delete(soft)

    def _wait_for_another_second(self):
        """Filters by times compare seconds: not all servers may have the same."""
        began = int(runtime.timestamp())
        self.cloud.wait_for(lambda: int(runtime.timestamp()) > began, 'another second')

    def _surroundings(self):
        """Zones, a key, a flavor that fits nowhere, an image with a kernel, an IPv6 network."""
        for zone, cell in (('east', 'cell1'), ('west', 'cell2')):
            made = self.compute.create_aggregate(name=zone, availability_zone=zone)
            self.compute.add_host_to_aggregate(made, f'{cell}-host1')
        self.cloud.demo.compute.create_keypair(name='key')
        self.impossible = self.compute.create_flavor(name='impossible', ram=1, vcpus=999, disk=1)
        image = self.cloud.admin.image
        self.image_id = image.create_image(
            'with a kernel',
            data=b'kernel',
            disk_format='raw',
            container_format='bare',
            visibility='public',
            kernel_id=KERNEL,
            ramdisk_id=RAMDISK,
        ).id
        network = self.cloud.admin.network
        self.six = network.create_network(name='six', is_shared=True)
        network.create_subnet(network_id=self.six.id, ip_version=6, cidr='2001:db8:1::/64')

    def boot(self, name, zone, *, cloud='nova-lite-demo', status='ACTIVE', **values):
        """Boot a server and wait for it; return the last one of several."""
        body = {
            'name': name,
            'availability_zone': zone,
            'flavorRef': '1',
            'imageRef': self.cloud.image_id('cirros'),
            'networks': 'none',
            'OS-DCF:diskConfig': 'MANUAL' if zone == 'west' else 'AUTO',
            **values,
        }
        answer = self.cloud.api(
            'POST', '/servers', version=f'2.{NEWEST}', cloud=cloud, json={'server': body}
        )
        if not answer.ok:
            raise AssertionError(answer.text)
        server = self.compute.get_server(answer.json()['server']['id'])
        return self.cloud.wait(server, status)

    def act(self, server, body, status, *, cloud='nova-lite'):
        path = f'/servers/{server.id}/action'
        answer = self.cloud.api('POST', path, json=body, cloud=cloud, version=f'2.{NEWEST}')
        answer.raise_for_status()
        self.cloud.wait(server, status)

    def _soft_delete(self, server):
        conf = self.cloud.cloud.confs['control']
        conf.set_override('reclaim_instance_interval', 3600)
        self.compute.delete_server(server)
        self.cloud.wait(server, 'SOFT_DELETED')
        conf.clear_override('reclaim_instance_interval')
