"""A host named at create: every way to ask for one, and that moves are free of it."""

import itertools

import testtools

from nova_lite import context
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.sim.cases import loading

load_tests = loading.load_tests

KNOWN, OTHER, UNKNOWN = 'cell1-host1', 'cell2-host1', 'nowhere'
HOSTS = (None, KNOWN, UNKNOWN)
NODES = (None, KNOWN, OTHER, UNKNOWN)
ZONES = (None, 'nova', f'nova:{KNOWN}', f'nova:{KNOWN}:{KNOWN}', f'nova::{KNOWN}')
VERSIONS = ('2.73', '2.74')
CLOUDS = ('nova-lite', 'nova-lite-demo')


def expected(case):
    """The status code that the specification and policies name for a case."""
    host, node, zone, version, cloud = case
    asked = bool(host or node)
    if asked and version == '2.73':
        return 400  # unknown properties, whoever asks
    forced = ':' in (zone or '')
    if cloud != 'nova-lite' and (asked or forced):
        return 403
    if asked and forced:
        return 400
    if UNKNOWN in (host, node) or (host and node and host != node):
        return 400
    return 202


class RequestedHostTestCase(testtools.TestCase):
    settings = {'cells': 2, 'hosts': 1, 'options': {'DEFAULT': {'report_interval': 1}}}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        compute, image = self.cloud.admin.compute, self.cloud.admin.image
        self.body = {
            'name': 'server',
            'imageRef': image.find_image('cirros').id,
            'flavorRef': compute.find_flavor('m1.tiny').id,
            'networks': 'none',
        }

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def ask(self, *, version='2.74', cloud='nova-lite', **values):
        """POST /servers with these properties."""
        body = {**self.body, **{key: value for key, value in values.items() if value}}
        return self.cloud.api(
            'POST', '/servers', version=version, cloud=cloud, json={'server': body}
        )

    def boot(self, status='ACTIVE', **values):
        """The server once it is there."""
        answer = self.ask(**values)
        self.assertEqual(202, answer.status_code, answer.text)
        found = self.cloud.admin.compute.get_server(answer.json()['server']['id'])
        return self.cloud.wait(found, status)

    def delete(self, server):
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)


class TableTest(RequestedHostTestCase):
    def test_every_combination(self):
        wrong = []
        for case in itertools.product(HOSTS, NODES, ZONES, VERSIONS, CLOUDS):
            host, node, zone, version, cloud = case
            answer = self.ask(
                host=host,
                hypervisor_hostname=node,
                availability_zone=zone,
                version=version,
                cloud=cloud,
            )
            if answer.status_code != expected(case):
                wrong.append((case, answer.status_code, answer.text))
            elif answer.status_code == 202:
                self.check_place(case, answer.json()['server']['id'])
        self.assertEqual([], wrong)

    def check_place(self, case, uuid):
        """The server is where the case says, and goes."""
        host, node, zone, _version, _cloud = case
        server = self.cloud.wait(self.cloud.admin.compute.get_server(uuid))
        if host or node or ':' in (zone or ''):
            self.assertEqual(host or node or KNOWN, server.compute_host, case)
        self.delete(server)

    def test_the_reasons(self):
        for values, reason in (
            ({'host': UNKNOWN}, f'Compute host {UNKNOWN} could not be found.'),
            ({'hypervisor_hostname': UNKNOWN}, f'Compute host {UNKNOWN} could not be found.'),
            ({'host': KNOWN, 'hypervisor_hostname': OTHER}, 'could not be found'),
            ({'host': ' '}, 'Invalid input'),
        ):
            answer = self.ask(**values)
            self.assertEqual(400, answer.status_code, values)
            self.assertIn(reason, answer.json()['badRequest']['message'])

    def test_a_requested_host_is_filtered_and_a_forced_one_is_not(self):
        compute = self.cloud.admin.compute
        aggregate = compute.create_aggregate(name='az1', availability_zone='az1')
        compute.add_host_to_aggregate(aggregate, KNOWN)
        server = self.boot('ERROR', host=OTHER, availability_zone='az1')
        self.assertIn('No valid host', server.fault['message'])
        self.delete(server)
        server = self.boot(host=KNOWN, availability_zone='az1')
        self.assertEqual('az1', server.availability_zone)
        self.delete(server)
        service = next(each for each in compute.services(host=OTHER, binary='nova-compute'))
        compute.update_service_forced_down(service, OTHER, 'nova-compute', True)
        self.delete(self.boot('ERROR', hypervisor_hostname=OTHER))
        self.delete(self.boot('ERROR', availability_zone=f'nova:{UNKNOWN}'))

    def test_no_room(self):
        flavor = self.cloud.admin.compute.create_flavor(name='giant', vcpus=1, ram=64, disk=100000)
        server = self.boot('ERROR', host=KNOWN, flavorRef=flavor.id)
        placement = self.cloud.cloud.daemons['super-conductor'].manager.world.placement
        self.assertEqual({}, placement.holding(context.admin(), server.id).allocations)

    def test_several_at_once(self):
        answer = self.ask(host=OTHER, min_count=3, return_reservation_id=True)
        self.assertEqual(202, answer.status_code, answer.text)
        servers = list(self.cloud.admin.compute.servers())
        found = [self.cloud.wait(server).compute_host for server in servers]
        self.assertEqual([OTHER] * 3, found)


class MovesTest(RequestedHostTestCase):
    settings = {'cells': 1, 'hosts': 2, 'options': {'DEFAULT': {'report_interval': 1}}}

    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)

    def place(self):
        server = self.boot(host=KNOWN, hypervisor_hostname=KNOWN)
        self.assertEqual(KNOWN, server.compute_host)
        return server

    def test_cold(self):
        server = self.place()
        self.moving.act(server, 'migrate')
        moved = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertNotEqual(KNOWN, moved.compute_host)
        self.moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server)

    def test_live(self):
        server = self.place()
        self.moving.go(server)
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertNotEqual(KNOWN, self.cloud.wait(server).compute_host)

    def test_evacuation(self):
        server = self.place()
        self.moving.fail(KNOWN)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.assertEqual('done', self.moving.ended(server)['status'])
        self.assertNotEqual(KNOWN, self.cloud.wait(server).compute_host)

    def test_unshelve(self):
        server = self.place()
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        compute = self.cloud.admin.compute
        (service,) = compute.services(host=KNOWN, binary='nova-compute')
        compute.disable_service(service)
        self.moving.act(server, 'unshelve')
        self.assertNotEqual(KNOWN, self.cloud.wait(server).compute_host)

    def test_after_a_forced_host(self):
        server = self.boot(availability_zone=f'nova:{KNOWN}')
        self.moving.act(server, 'migrate')
        self.assertNotEqual(KNOWN, self.cloud.wait(server, 'VERIFY_RESIZE').compute_host)
