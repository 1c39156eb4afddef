"""Isolated aggregates in a whole cloud: who gets in, at boots and at moves."""

import testtools

from nova_lite import context
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import crossing
from tests.fixtures import live_moving
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

LICENSED, OTHER = 'CUSTOM_WINDOWS_LICENSED', 'CUSTOM_XYZ'
ISOLATED, OPEN = 'cell1-host1', 'cell1-host2'


OPTIONS = {
    'DEFAULT': {'report_interval': 1},
    # The name of the specification; both are understood.
    'scheduler': {
        'enable_forbidden_aggregates_filter': True,
        'candidates_reuse_s': 60,
        'host_state_reuse_s': 60,
    },
}


class IsolationTestCase(testtools.TestCase):
    settings = {'cells': 1, 'hosts': 3, 'options': OPTIONS}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.compute = self.cloud.admin.compute
        self.aggregate = self.compute.create_aggregate(name='windows')
        self.compute.add_host_to_aggregate(self.aggregate, ISOLATED)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def isolate(self, **metadata):
        """Set the aggregate's metadata, `NAME=required` standing for trait:NAME."""
        self.compute.set_aggregate_metadata(
            self.aggregate, {f'trait:{name}': value for name, value in metadata.items()}
        )

    def give_traits(self, *names):
        """Both hosts have the traits, so that only the aggregate tells them apart."""
        providers = self.cloud.cloud.daemons['super-conductor'].manager.world.placement.providers
        for node in self.compute.hypervisors():
            providers.change_traits(context.admin(), node.id, add=names)
        # Placement tells no one; what the scheduler reuses lasts a minute here.
        self.cloud.cloud.daemons['scheduler'].manager.invalidate()

    def make_image(self, name, *traits, value='required'):
        """An image that asks for traits."""
        return self.cloud.admin.image.create_image(
            name,
            data=b'image',
            disk_format='raw',
            container_format='bare',
            **{f'trait:{trait}': value for trait in traits},
        )

    def make_flavor(self, name, *traits, key='trait'):
        """A flavor that asks for traits."""
        flavor = self.compute.create_flavor(name=name, vcpus=1, ram=64, disk=1)
        if traits:
            self.compute.create_flavor_extra_specs(
                flavor, {f'{key}:{trait}': 'required' for trait in traits}
            )
        return flavor

    def may_enter(self, image='cirros', flavor='m1.tiny'):
        """Return whether a server of these may be put on the isolated host."""
        answer = self.cloud.api(
            'POST',
            '/servers',
            version='2.74',
            json={
                'server': {
                    'name': 'server',
                    'imageRef': self.cloud.admin.image.find_image(image).id,
                    'flavorRef': self.compute.find_flavor(flavor).id,
                    'networks': 'none',
                    'host': ISOLATED,
                }
            },
        )
        self.assertEqual(202, answer.status_code, answer.text)
        uuid = answer.json()['server']['id']
        server = self.cloud.wait_for(
            lambda: self.ended(self.compute.get_server(uuid)), f'{uuid} to be built'
        )
        self.compute.delete_server(server)
        self.cloud.wait_gone(server)
        return server.status == 'ACTIVE'

    def ended(self, server):
        return server if server.status in ('ACTIVE', 'ERROR') else None


@sample.in_turns(3)
class BootTest(IsolationTestCase):
    def test_a_change_takes_effect_on_the_next_decision(self):
        """Although what was read is reused for a minute."""
        self.assertTrue(self.may_enter())
        self.isolate(**{LICENSED: 'required'})
        self.assertFalse(self.may_enter())
        self.isolate(**{LICENSED: 'optional'})
        self.assertTrue(self.may_enter())
        self.isolate(**{LICENSED: 'required'})
        self.assertFalse(self.may_enter())
        self.compute.remove_host_from_aggregate(self.aggregate, ISOLATED)
        self.assertTrue(self.may_enter())
        self.compute.add_host_to_aggregate(self.aggregate, ISOLATED)
        self.assertFalse(self.may_enter())

    def test_who_asks_for_one_trait(self):
        self.give_traits(LICENSED, OTHER)
        self.make_image('windows', LICENSED)
        self.make_image('windows-and-more', LICENSED, OTHER)
        self.make_image('forbidding', LICENSED, value='forbidden')
        self.make_flavor('windows', LICENSED)
        self.make_flavor('windows-group', LICENSED, key='trait_1')
        self.isolate(**{LICENSED: 'required'})
        for image, flavor, expected in (
            ('cirros', 'm1.tiny', False),
            ('windows', 'm1.tiny', True),
            ('cirros', 'windows', True),
            ('windows', 'windows', True),
            ('windows-and-more', 'm1.tiny', True),
            ('forbidding', 'm1.tiny', False),
        ):
            self.assertEqual(expected, self.may_enter(image, flavor), (image, flavor))

    def test_two_traits_from_image_and_flavor(self):
        self.give_traits(LICENSED, OTHER)
        self.make_image('windows', LICENSED)
        self.make_flavor('other', OTHER)
        self.isolate(**{LICENSED: 'required', OTHER: 'required'})
        self.assertFalse(self.may_enter('windows'))
        self.assertFalse(self.may_enter(flavor='other'))
        self.assertTrue(self.may_enter('windows', 'other'))

    def test_one_of_two_aggregates_keeps_out(self):
        self.give_traits(LICENSED)
        self.make_image('windows', LICENSED)
        self.isolate(**{LICENSED: 'required'})
        self.assertTrue(self.may_enter('windows'))
        second = self.compute.create_aggregate(name='second')
        self.compute.add_host_to_aggregate(second, ISOLATED)
        self.compute.set_aggregate_metadata(second, {f'trait:{OTHER}': 'required'})
        self.assertFalse(self.may_enter('windows'))

    def test_the_host_must_have_the_trait_too(self):
        self.make_image('windows', LICENSED)
        self.isolate(**{LICENSED: 'required'})
        self.assertFalse(self.may_enter('windows'))

    def test_forced_hosts_too(self):
        self.isolate(**{LICENSED: 'required'})
        server = self.cloud.boot(availability_zone=f'nova:{ISOLATED}', status='ERROR')
        self.assertIn('No valid host', server.fault['message'])
        self.assertEqual(OPEN, self.cloud.boot(availability_zone=f'nova:{OPEN}').compute_host)

    def test_verify_finds_who_was_there_before(self):
        server = self.cloud.boot(availability_zone=f'nova:{ISOLATED}')
        self.assertEqual([], self.cloud.findings())
        self.isolate(**{LICENSED: 'required'})
        (finding,) = self.cloud.findings(settle_s=0)
        self.assertEqual(('I12', f'server {server.id}'), (finding.invariant, finding.what))
        self.assertIn(LICENSED, finding.detail)
        self.isolate(**{LICENSED: 'optional'})


@sample.in_turns(3, first=1)
class MoveTest(IsolationTestCase):
    """An ordinary server finds only the one host that is neither its own nor isolated."""

    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)
        self.isolate(**{LICENSED: 'required'})
        self.server = self.cloud.boot()
        self.assertNotEqual(ISOLATED, self.server.compute_host)
        (self.free,) = self.moving.others(ISOLATED, self.server.compute_host)

    def where(self, status='ACTIVE'):
        return self.cloud.wait(self.server, status).compute_host

    def test_cold(self):
        self.moving.act(self.server, 'migrate')
        self.assertEqual(self.free, self.where('VERIFY_RESIZE'))
        self.moving.act(self.server, 'confirmResize', status=204)
        self.where()

    def test_resize_into_the_aggregate(self):
        self.give_traits(LICENSED)
        self.make_flavor('windows', LICENSED)
        self.compute.update_service_forced_down(
            next(self.compute.services(host=self.free, binary='nova-compute')),
            self.free,
            'nova-compute',
            True,
        )
        self.moving.resize(self.server, 'windows')
        self.assertEqual(ISOLATED, self.where('VERIFY_RESIZE'))
        self.moving.act(self.server, 'confirmResize', status=204)
        self.where()

    def test_live(self):
        self.moving.go(self.server)
        self.assertEqual('completed', self.moving.ended(self.server)['status'])
        self.assertEqual(self.free, self.where())

    def test_live_into_the_aggregate(self):
        self.moving.go(self.server, ISOLATED, status=202)
        self.assertEqual('error', self.moving.ended(self.server)['status'])
        self.assertNotEqual(ISOLATED, self.where())

    def test_live_by_force(self):
        """The operator's word, which `verify` believes."""
        content = {'block_migration': 'auto', 'host': ISOLATED, 'force': True}
        self.moving.act(self.server, 'os-migrateLive', content, version='2.67')
        self.assertEqual('completed', self.moving.ended(self.server)['status'])
        self.assertEqual(ISOLATED, self.where())
        self.assertEqual([], self.cloud.findings())

    def test_unshelving(self):
        self.moving.act(self.server, 'shelve')
        self.where('SHELVED_OFFLOADED')
        self.moving.act(self.server, 'unshelve', {'host': ISOLATED})
        self.where('SHELVED_OFFLOADED')
        self.moving.act(self.server, 'unshelve')
        self.assertNotEqual(ISOLATED, self.where())

    def test_evacuation(self):
        self.moving.fail(self.server.compute_host)
        self.moving.act(self.server, 'evacuate', {}, status=200, version='2.94')
        self.assertEqual('done', self.moving.ended(self.server)['status'])
        self.assertEqual(self.free, self.where())


class CrossingTest(IsolationTestCase):
    """From the other cell there is one host left that is not isolated."""

    settings = {'cells': 2, 'hosts': 2, 'options': OPTIONS}

    def test_to_another_cell(self):
        self.isolate(**{LICENSED: 'required'})
        moving = live_moving.LiveMoving(self.cloud)
        watch = crossing.Crossing(self.cloud)
        server = self.cloud.boot(availability_zone='nova:cell2-host1')
        moving.act(server, 'migrate', {'host': ISOLATED})
        watch.idle(server)
        self.assertEqual('cell2-host1', self.cloud.wait(server).compute_host)
        self.assertEqual('error', moving.migration(server)['status'])
        watch.disable('cell2-host2')
        moving.act(server, 'migrate')
        self.assertEqual(OPEN, self.cloud.wait(server, 'VERIFY_RESIZE').compute_host)
        watch.idle(server)
        moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server)
        watch.idle(server)
