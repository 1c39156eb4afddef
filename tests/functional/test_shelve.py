"""Shelving in a whole cloud: off the host into an image, and back on some host."""

import datetime

import fixtures

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.moves import kinds
from nova_lite.moves import unshelve
from nova_lite.saga import run
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests


class ShelveTestCase(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def shelve(self, server, status='SHELVED_OFFLOADED'):
        self.moving.act(server, 'shelve')
        return self.cloud.wait(server, status)

    def images(self):
        return [image.name for image in self.cloud.admin.image.images() if 'shelved' in image.name]


class ShelveTest(ShelveTestCase):
    def fail_with_memory(self, action, status):
        """A shelve stops the guest, whose memory is lost, and fails: it can be started."""
        server = self.cloud.boot()
        self.moving.act(server, action)
        self.cloud.wait(server, status)
        self.cloud.behave('extends: instant\nfailures: [{verb: snapshot, first: 1}]\n')
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHUTOFF')
        self.moving.wait_idle(server)
        self.moving.act(server, 'os-start')
        self.cloud.wait(server)

    def test_paused_server_whose_snapshot_fails(self):
        self.fail_with_memory('pause', 'PAUSED')

    def test_suspended_server_whose_snapshot_fails(self):
        self.fail_with_memory('suspend', 'SUSPENDED')

    def test_there_and_back(self):
        server = self.moving.boot_full('mine')
        self.moving.act(server, 'shelve')
        shelved = self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.wait_idle(server)
        self.assertIsNone(shelved.compute_host)
        self.assertEqual(['mine-shelved'], self.images())
        self.assertEqual({}, self.moving.allocations(server.id))
        self.assertEqual([], self.cloud.guests().get(server.id, []))
        port = next(iter(self.cloud.admin.network.ports(device_id=server.id)))
        self.assertEqual('', port.binding_host_id or '')
        self.assertEqual([], self.cloud.findings())
        self.assertEqual(
            [
                ('compute_shelve_instance', 'Success'),
                ('compute_shelve_offload_instance', 'Success'),
            ],
            self.moving.events(server, 'shelve'),
        )
        self.moving.act(server, 'unshelve')
        found = self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)
        self.assertEqual([found.compute_host], self.cloud.guests()[server.id])
        port = next(iter(self.cloud.admin.network.ports(device_id=server.id)))
        self.assertEqual(found.compute_host, port.binding_host_id)
        self.assertEqual([], self.images())
        self.assertEqual(
            [
                ('get_image_info', 'Success'),
                ('schedule_instances', 'Success'),
                ('compute_unshelve_instance', 'Success'),
            ],
            self.moving.events(server, 'unshelve'),
        )

    def test_to_a_host_or_a_zone(self):
        server = self.cloud.boot()
        host = self.moving.other_hosts(server)[0]
        self.shelve(server)
        self.moving.act(server, 'unshelve', {'host': 'nowhere'}, status=400)
        self.moving.act(server, 'unshelve', {'availability_zone': 'nowhere'}, status=400)
        self.moving.act(server, 'unshelve', {'host': host}, status=400, version='2.90')
        self.moving.act(server, 'unshelve', {'host': host})
        self.assertEqual(host, self.cloud.wait(server, 'ACTIVE').compute_host)
        self.shelve(server)
        self.moving.act(server, 'unshelve', {'availability_zone': 'nova'}, version='2.77')
        self.cloud.wait(server, 'ACTIVE')

    def test_host_and_zone(self):
        """At 2.91 a host must be in the zone asked for, or in the one the server is bound to."""
        server = self.cloud.boot()
        here, there = self.moving.other_hosts(server)
        compute = self.cloud.admin.compute
        compute.add_host_to_aggregate(
            compute.create_aggregate(name='east', availability_zone='east'), here
        )
        for refused, accepted in (
            (
                {'availability_zone': 'east', 'host': there},
                {'availability_zone': 'east', 'host': here},
            ),
            ({'host': there}, {'host': here}),
            (None, {'availability_zone': None, 'host': there}),
            ({'availability_zone': 'nova', 'host': here}, {'host': here}),
            (None, {'availability_zone': 'nova'}),
            ({'host': here}, {'availability_zone': None}),
        ):
            self.shelve(server)
            self.moving.wait_idle(server)
            if refused:
                answer = self.moving.act(server, 'unshelve', refused, status=409)
                self.assertIn('is not in the availability zone', answer.text)
            self.moving.act(server, 'unshelve', accepted)
            found = self.cloud.wait(server, 'ACTIVE')
            self.assertEqual(accepted.get('host', found.compute_host), found.compute_host)
            self.moving.wait_idle(server)

    def test_a_host_is_asked_for_once(self):
        """Neither the host of a creation nor that of an unshelve ties the server."""
        found = self.cloud.boot(host='cell1-host1')
        self.assertEqual('cell1-host1', found.compute_host)
        for asks in (False, True, False):
            server, host = found, self.moving.other_hosts(found)[0]
            self.shelve(server)
            self.moving.wait_idle(server)
            with self.moving.disabled(server.compute_host):
                self.moving.act(server, 'unshelve', {'host': host} if asks else None)
                found = self.cloud.wait(server, 'ACTIVE')
            self.moving.wait_idle(server)
            self.assertNotEqual(server.compute_host, found.compute_host)
        self.moving.act(server, 'migrate')
        moved = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertNotEqual(found.compute_host, moved.compute_host)
        self.moving.act(server, 'confirmResize', status=204)
        self.cloud.wait(server, 'ACTIVE')

    def test_booted_from_volume(self):
        """No image is made of it, and nothing is kept on its host."""
        server = self.moving.boot_from_volume()
        self.shelve(server)
        self.moving.wait_idle(server)
        self.assertEqual([], self.images())
        self.moving.act(server, 'unshelve')
        found = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual([found.compute_host], self.cloud.guests()[server.id])

    def test_who_may(self):
        server = self.moving.boot_as_member()
        self.moving.act(server, 'shelve', cloud='nova-lite-demo')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        wanted = {'host': 'cell1-host1'}
        self.moving.act(server, 'unshelve', wanted, status=403, cloud='nova-lite-demo')
        self.moving.act(server, 'shelveOffload', status=403, cloud='nova-lite-demo')
        self.moving.act(server, 'unshelve', cloud='nova-lite-demo')
        self.cloud.wait(server, 'ACTIVE')

    def test_deleted_while_shelved(self):
        server = self.moving.boot_full()
        self.shelve(server)
        self.moving.wait_idle(server)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.assertEqual([], self.images())

    def test_no_host_is_left(self):
        server = self.cloud.boot()
        host = server.compute_host
        self.shelve(server)
        with self.moving.disabled(host):
            self.moving.act(server, 'unshelve', {'host': host})
            self.moving.wait_idle(server)
            self.assertEqual(
                'SHELVED_OFFLOADED', self.cloud.wait(server, 'SHELVED_OFFLOADED').status
            )
            self.assertEqual({}, self.moving.allocations(server.id))
        self.moving.act(server, 'unshelve', {'host': host})
        self.cloud.wait(server, 'ACTIVE')


class KeptTest(ShelveTestCase):
    """Shelved servers stay on their hosts."""

    settings = own_cloud.FOUR_HOSTS

    def test_unshelved_where_it_is(self):
        server = self.cloud.boot()
        self.shelve(server, 'SHELVED')
        self.moving.act(server, 'shelve', status=409)
        self.moving.act(server, 'unshelve', {'availability_zone': 'nova'}, status=409)
        self.moving.act(server, 'unshelve')
        self.assertEqual(server.compute_host, self.cloud.wait(server, 'ACTIVE').compute_host)
        self.moving.wait_idle(server)
        self.assertEqual([], self.images())

    def test_unshelved_where_it_is_by_a_host_that_is_lost(self):
        """Its guest runs then, until the host looks at what it has."""
        self.patch(run, 'FIRST_PAUSE_S', 0.01)
        lost = runtime.Event()

        class Lost(unshelve.Unshelve):
            def start(self):
                found = super().start()
                if lost.is_set() and not isinstance(found, saga.Pending):
                    raise exception.Conflict(reason='a test says so')
                return found

            def stop(self):
                raise exception.Unavailable(service='compute', reason='a test says so')

        self.patch(kinds, 'KINDS', {**kinds.KINDS, Lost.kind: Lost})
        server = self.cloud.boot()
        self.shelve(server, 'SHELVED')
        self.moving.wait_idle(server)
        lost.set()
        self.moving.act(server, 'unshelve')
        self.moving.wait_idle(server)
        self.cloud.wait(server, 'SHELVED')
        self.assertEqual([server.compute_host], self.cloud.guests()[server.id])
        self.cloud.cloud.daemons['compute-cell1'].manager.audit()
        self.cloud.wait_for(lambda: server.id not in self.cloud.guests(), 'the guest to stop')
        lost.clear()
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'ACTIVE')
        self.moving.wait_idle(server)

    def test_shelved_again_after_its_state_was_reset(self):
        server = self.cloud.boot('mine')
        self.shelve(server, 'SHELVED')
        (former,) = self.cloud.admin.image.images(name='mine-shelved')
        self.cloud.admin.compute.reset_server_state(server, 'active')
        self.shelve(server, 'SHELVED')
        (kept,) = self.cloud.admin.image.images(name='mine-shelved')
        self.assertNotEqual(former.id, kept.id)
        self.assertEqual([], self.cloud.findings())

    def test_offloaded_when_asked(self):
        server = self.cloud.boot()
        self.shelve(server, 'SHELVED')
        self.moving.act(server, 'shelveOffload')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'ACTIVE')


class DelayedTest(ShelveTestCase):
    """Shelved servers stay on their hosts for an hour."""

    settings = {'cells': 1, 'hosts': 3, 'options': {'DEFAULT': {'shelved_offload_time': 3600}}}

    @property
    def manager(self):
        return self.cloud.cloud.daemons['super-conductor'].manager

    def shelved_long_ago(self, server):
        """Shelve the server, two hours ago."""
        self.shelve(server, 'SHELVED')
        self.moving.wait_idle(server)
        database = self.moving.world.cells.every(cell0=False)[0].db
        found = database.read(instances.get, server.id).system_metadata
        before = runtime.naive_now() - datetime.timedelta(hours=2)
        changes = {'system_metadata': {**found, 'shelved_at': before.isoformat()}}
        database.write(instances.force, server.id, changes)

    def is_on_host(self, server):
        """Return whether the search left the server alone."""
        self.manager.offload_shelved()
        self.moving.wait_idle(server)
        found = self.cloud.admin.compute.get_server(server.id)
        return (found.status, found.compute_host) == ('SHELVED', server.compute_host)

    def test_offloaded_when_due(self):
        server, fresh = self.moving.boot_full(), self.cloud.boot()
        self.shelve(fresh, 'SHELVED')
        self.shelved_long_ago(server)
        self.assertTrue(self.is_on_host(fresh))
        self.assertFalse(self.is_on_host(server))
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.assertEqual(
            [('compute_shelve_offload_instance', 'Success')],
            self.moving.events(server, 'shelveOffload'),
        )
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'ACTIVE')

    def test_host_is_down(self):
        server = self.cloud.boot()
        self.shelved_long_ago(server)
        with self.moving.forced_down(server.compute_host):
            self.assertTrue(self.is_on_host(server))
        self.assertFalse(self.is_on_host(server))

    def test_image_is_gone(self):
        """The server stays on its host. The log has one warning, and no action is recorded."""
        server = self.cloud.boot()
        self.shelved_long_ago(server)
        (image,) = self.cloud.admin.image.images(name='server-shelved')
        self.cloud.admin.image.delete_image(image.id)
        logger = self.useFixture(fixtures.FakeLogger())
        for _search in range(3):
            self.assertTrue(self.is_on_host(server))
        found = {action.action for action in self.cloud.admin.compute.server_actions(server)}
        self.assertEqual({'create', 'shelve'}, found)
        self.assertEqual(1, logger.output.count(f'Not offloading server {server.id}'))

    def test_searched_for_now_and_then(self):
        self.assertIn((3600, self.manager.offload_shelved), self.manager.periodics())
