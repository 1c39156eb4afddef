"""Moves of servers whose volumes are a real Cinder's, there and back."""

from tests.fixtures import attaching
from tests.fixtures import cinder
from tests.fixtures import cinder_cloud
from tests.peers import moves

REFUSING = """
extends: instant
failures: [{verb: spawn, first: 1, reschedule: true, match: {server: early}}]
"""


class CinderMovesTest(moves.PeerMovesTest):
    peer, cloud_class = cinder.Cinder, cinder_cloud.CinderCloud

    def leftovers(self):
        return self.cloud.volumes('GET', '/attachments').json()['attachments']

    def require_attached(self, host):
        """The server has its volume on a host, and nowhere else."""

        def connected():
            (volume,) = self.cloud.volumes('GET', '/volumes/detail').json()['volumes']
            found = [(each['host_name'], each['device']) for each in volume['attachments']]
            listed = self.cloud.volumes('GET', '/attachments').json()['attachments']
            return (volume['status'], found, [each['status'] for each in listed])

        wanted = ('in-use', [(host, '/dev/vdb')], ['attached'])
        self.cloud.wait_for(lambda: connected() == wanted, f'{connected()} to be {wanted}', 30)

    def reach(self, status, host, *_others):
        found = self.cloud.wait(self.server, status)
        self.assertEqual(host, found.compute_host)
        self.require_attached(host)

    def test_only_a_service_ends_an_attachment(self):
        """Cinder asks our API about it."""
        self.require_attached('cell1-host1')
        (attachment,) = self.cloud.volumes('GET', '/attachments').json()['attachments']
        answer = self.cloud.volumes('DELETE', f'/attachments/{attachment["id"]}')
        self.assertEqual(409, answer.status_code, answer.text)
        self.require_attached('cell1-host1')

    def test_booted_from_a_volume_of_an_image(self):
        booted = self.moving.boot_from_volume()
        self.moving.act(booted, 'migrate', {'host': self.moving.other_hosts(booted)[0]})
        self.cloud.wait(booted, 'VERIFY_RESIZE')
        attached = [
            (each['server_id'], each['device'])
            for volume in self.cloud.volumes('GET', '/volumes/detail').json()['volumes']
            for each in volume['attachments']
        ]
        self.assertIn((booted.id, '/dev/vda'), attached)
        self.cloud.admin.compute.delete_server(booted)
        self.cloud.wait_gone(booted)

    def test_build_that_goes_elsewhere(self):
        self.cloud.behave(REFUSING)
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        booted = self.moving.boot_from_volume('early')
        volumes = self.cloud.volumes('GET', '/volumes/detail').json()['volumes']
        (host,) = (
            each['host_name']
            for volume in volumes
            for each in volume['attachments']
            if each['server_id'] == booted.id
        )
        self.assertEqual(booted.compute_host, host)
        events = self.moving.events(booted, 'create')
        self.assertIn(('compute__do_build_and_run_instance', 'Error'), events)
        self.cloud.admin.compute.delete_server(booted)
        self.cloud.wait_gone(booted)

    def test_shelve_and_unshelve(self):
        self.act('shelve')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        (volume,) = self.cloud.volumes('GET', '/volumes/detail').json()['volumes']
        self.assertEqual('reserved', volume['status'])
        self.act('unshelve')
        found = self.cloud.wait(self.server, 'ACTIVE')
        self.require_attached(found.compute_host)

    def test_attached_to_a_shelved_server(self):
        hands = attaching.Attaching(self.cloud)
        (kept,) = hands.attachments(self.server)
        self.act('shelve')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        hands.wait_idle(self.server)
        hands.detached(self.server, kept['volumeId'])
        self.assertEqual([], self.cloud.volumes('GET', '/attachments').json()['attachments'])
        self.cloud.volumes('DELETE', f'/volumes/{kept["volumeId"]}')
        made = self.cloud.volumes('POST', '/volumes', json={'volume': {'size': 1}})
        volume_id = made.json()['volume']['id']

        def has(status):
            volume = self.cloud.volumes('GET', f'/volumes/{volume_id}').json()['volume']
            return volume['status'] == status

        self.cloud.wait_for(lambda: has('available'), 'the volume')
        hands.attached(self.server, volume_id)
        self.assertTrue(has('in-use'))
        self.assertEqual([], self.cloud.findings())
        hands.detached(self.server, volume_id)
        self.assertTrue(has('available'))
        hands.attached(self.server, volume_id, delete_on_termination=True)
        self.act('unshelve')
        found = self.cloud.wait(self.server, 'ACTIVE')
        self.require_attached(found.compute_host)
