"""Faults that are injected into a cloud while it runs, and what is left when they are healed."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.virt.sim import strict_yaml
from tests.functional import base
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

MAY_FAIL = {'verb': 'spawn', 'match': {'host': 'cell1-*'}, 'first': 1}


@sample.in_turns(2)
class FaultsTest(own_cloud.OwnCloudTest):
    settings = base.ROOMY

    def setUp(self):
        super().setUp()
        self.faults = self.cloud.cloud.faults

    def boot(self, host, **options):
        """A server on a host."""
        return self.cloud.boot(availability_zone=f'nova:{host}', **options)

    def test_failures(self):
        number = self.faults.add(MAY_FAIL)
        self.assertEqual([{'id': number, **MAY_FAIL}], self.faults.show()['failures'])
        self.assertEqual('ACTIVE', self.boot('cell2-host1').status)
        self.assertEqual('ERROR', self.boot('cell1-host1', status='ERROR').status)
        self.assertEqual('ACTIVE', self.boot('cell1-host1').status)
        # The same again begins to count again.
        self.faults.clear(number)
        other = self.faults.add(MAY_FAIL)
        self.assertNotEqual(number, other)
        self.assertEqual('ERROR', self.boot('cell1-host1', status='ERROR').status)
        self.faults.add({'verb': 'spawn'})
        self.faults.clear()
        self.assertEqual([], self.faults.show()['failures'])
        self.assertEqual('ACTIVE', self.boot('cell1-host1').status)

    def test_they_stay_when_the_profile_is_read_again(self):
        self.faults.add({'verb': 'spawn'})
        self.cloud.cloud.reload()
        self.assertEqual('ERROR', self.boot('cell1-host1', status='ERROR').status)

    def test_host(self):
        server = self.boot('cell1-host1')
        self.faults.switch_host('cell1-host1', on=False)
        self.assertEqual(['cell1-host1'], self.faults.show()['hosts_off'])
        self.faults.switch_host('cell1-host1', on=True)
        self.assertEqual([], self.faults.show()['hosts_off'])
        self.cloud.wait(server, 'SHUTOFF')
        self.cloud.admin.compute.start_server(server)
        self.cloud.wait(server, 'ACTIVE')

    def status_of(self, server):
        """The status in the list of an operator's tool."""
        answer = self.cloud.api('GET', '/servers/detail?all_tenants=1', version='2.69')
        found = {each['id']: each['status'] for each in answer.json()['servers']}
        return found[server.id]

    def test_database_of_a_cell(self):
        servers = [self.boot('cell1-host1'), self.boot('cell2-host1')]
        self.faults.switch_cell('cell2', up=False, parts=['database'])
        shown = self.faults.show()
        self.assertEqual((['cell2'], []), (shown['databases_down'], shown['buses_cut']))
        self.assertEqual(['ACTIVE', 'UNKNOWN'], [self.status_of(each) for each in servers])
        self.faults.switch_cell('cell2', up=True)
        self.assertEqual(['ACTIVE', 'ACTIVE'], [self.status_of(each) for each in servers])

    def test_build_for_a_cell_without_database(self):
        """It waits for the only cell with a host for it."""
        find = build_requests.find
        with self.moving.disabled('cell1-host1'), self.moving.disabled('cell1-host2'):
            self.faults.switch_cell('cell2', up=False, parts=['database'])
            server = self.cloud.boot(wait=False)
            self.cloud.wait_for(
                lambda: (
                    'waits_for_hosts' in self.moving.world.api_db.read(find, server.id).arguments
                ),
                'the build to wait',
            )
            self.assertEqual('BUILD', self.status_of(server))
            self.faults.switch_cell('cell2', up=True)
            self.cloud.wait(server, 'ACTIVE')

    def test_bus_of_a_cell(self):
        self.faults.switch_bus('cut', 'cell1')
        self.assertEqual(['cell1'], self.faults.show()['buses_cut'])
        self.assertEqual('ACTIVE', self.boot('cell2-host1').status)
        server = self.boot('cell1-host1', wait=False)
        self.assertEqual('BUILD', self.status_of(server))
        self.faults.switch_bus('frozen', 'cell1')
        shown = self.faults.show()
        self.assertEqual(([], ['cell1']), (shown['buses_cut'], shown['buses_frozen']))
        self.assertEqual('BUILD', self.status_of(server))
        self.faults.switch_bus('healed')
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual([], self.faults.show()['buses_frozen'])

    def test_a_stop_heals(self):
        for state in ('cut', 'frozen'):
            faults = self.cloud.cloud.faults
            faults.switch_bus(state)
            faults.switch_cell('cell2', up=False, parts=['database'])
            self.cloud.restart()
            self.assertEqual('ACTIVE', self.boot('cell1-host1').status)

    def test_a_reset_heals(self):
        server = self.boot('cell1-host1')
        self.faults.add({'verb': 'spawn'})
        self.cloud.save('before')
        for _number in range(2):
            self.faults.add({'verb': 'spawn'})
            self.faults.switch_cell('cell1', up=False)
            self.assertEqual('UNKNOWN', self.status_of(server))
            self.cloud.cloud.reset('before')
            self.assertEqual([[]] * 5, list(self.faults.show().values()))
            self.assertEqual('ACTIVE', self.status_of(server))
        self.assertEqual('ACTIVE', self.boot('cell1-host1').status)

    def test_what_is_injected_during_a_reset(self):
        """It waits for the new daemons, and has its effect on them."""
        threads = []
        self.cloud.cloud._renew(
            lambda: threads.append(runtime.spawn(self.faults.add, {'verb': 'spawn'}))
        )
        threads[0].join()
        self.assertEqual('ERROR', self.boot('cell1-host1', status='ERROR').status)

    def test_refused(self):
        for error, call, said in (
            (
                strict_yaml.ProfileError,
                lambda: self.faults.add({'verb': 'x'}),
                "'x' matches no verb",
            ),
            (strict_yaml.ProfileError, lambda: self.faults.add({}), 'verb'),
            (
                exception.NotFound,
                lambda: self.faults.add({'verb': 'spawn', 'match': {'host': 'x*'}}),
                "Host 'x*' does not exist. Use one of: cell1-host1,",
            ),
            (exception.NotFound, lambda: self.faults.clear(7), 'Use one of: there is none'),
            (exception.NotFound, lambda: self.faults.switch_host('x', on=True), "Host 'x'"),
            (exception.NotFound, lambda: self.faults.switch_cell('x', up=True), "Cell 'x'"),
            (exception.NotFound, lambda: self.faults.switch_bus('cut', 'x'), 'top, cell1'),
        ):
            self.assertIn(said, str(self.assertRaises(error, call)))
        self.assertEqual([], self.faults.show()['failures'])
