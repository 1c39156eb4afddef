"""Volumes and snapshots that the volume service never finishes hold no server."""

from nova_lite.clients import release
from nova_lite.saga import journal
from tests.fixtures import attaching
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
# By when a step before the pivot and its undo are given up.
GIVEN_UP_S = 300


class StuckVolumesTest(own_cloud.OwnCloudTest):
    settings = own_cloud.FOUR_HOSTS

    def reset(self, path, **status):
        answer = self.cloud.admin.block_storage.post(
            f'{path}/action', json={'os-reset_status': status}
        )
        self.assertEqual(202, answer.status_code)

    def test_delete(self):
        """As in nova the volume stays, and the server goes."""
        self.patch(release, 'STUCK_S', 3)
        server = self.moving.boot_from_volume()
        (volume,) = self.cloud.admin.block_storage.volumes()
        self.reset(f'/volumes/{volume.id}', status='creating', attach_status='detached')
        self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_for(lambda: not [*self.cloud.admin.compute.servers()], 'its deletion', 30)
        self.assertEqual(['creating'], [v.status for v in self.cloud.admin.block_storage.volumes()])

    def test_offload(self):
        """Cinder does not reserve such a volume when its server leaves. The unshelve repeats it."""
        server = self.moving.boot_from_volume()
        (volume,) = self.cloud.admin.block_storage.volumes()
        self.reset(f'/volumes/{volume.id}', status='detaching')
        self.moving.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.cloud.wait_for(
            lambda: self.moving.saga(server).state == journal.DONE, 'the end of its duty', 120
        )
        self.moving.act(server, 'unshelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.reset(f'/volumes/{volume.id}', status='in-use')
        with self.moving.disabled(server.compute_host):
            self.moving.act(server, 'unshelve')
            self.cloud.wait(server, 'ACTIVE')


class SilentServiceTest(own_cloud.OwnCloudTest):
    """Cinder answers 503 for a while: an attachment that was accepted ends, or is taken back."""

    settings = {'cells': 1, 'hosts': 1, 'options': {'api': {'device_timeout': 20}}}

    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.server, self.volume = self.cloud.boot(), self.hands.volume()

    def fail(self, request):
        self.cloud.cloud.faults.add({'service': 'volume', 'request': request, 'status': 503})

    def attach(self, *codes):
        """Ask for the attachment. The code of the answer must be one of `codes`."""
        path = f'/servers/{self.server.id}/os-volume_attachments'
        body = {'volumeAttachment': {'volumeId': self.volume}}
        with self.cloud.server_errors.announced(503):
            answer = self.cloud.api('POST', path, version='2.88', json=body)
        self.assertIn(answer.status_code, codes, answer.text)

    def check(self, request, *, given_up):
        """Cinder refuses a kind of request for some tries. given_up: until the saga is undone"""
        self.fail(request)
        self.attach(200, 503)
        self.wait_for(lambda saga: saga.state == journal.UNDONE if given_up else saga.attempts >= 6)
        self.cloud.cloud.faults.clear()
        if given_up:
            self.assertEqual([], self.hands.attachments(self.server))
            self.assertEqual('available', self.hands.volume_status(self.volume))
            self.attach(200)
        self.wait_for(lambda saga: saga.state == journal.DONE)
        self.assertEqual('in-use', self.hands.volume_status(self.volume))

    def wait_for(self, condition):
        """Wait until the newest saga of the server meets a condition. condition: function of it"""
        look, what = self.moving.saga, f'the attachment: {condition}'
        self.cloud.wait_for(lambda: condition(look(self.server)), what, GIVEN_UP_S)

    def test_refused_before_it_is_accepted(self):
        """A request that Cinder refuses leaves no attachment."""
        self.fail('*')
        self.attach(503)
        self.cloud.cloud.faults.clear()
        self.assertEqual([], self.hands.attachments(self.server))
        self.attach(200)
        self.hands.wait_idle(self.server)

    def test_no_reservation_for_some_tries(self):
        self.check('POST */attachments', given_up=False)

    def test_no_reservation_until_it_is_given_up(self):
        self.check('POST */attachments', given_up=True)

    def test_no_connection_for_some_tries(self):
        self.check('PUT */attachments/*', given_up=False)

    def test_no_connection_until_it_is_given_up(self):
        self.check('PUT */attachments/*', given_up=True)
