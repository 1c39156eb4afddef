"""Servers whose image its owner deletes, deactivates or hides from them afterwards.

They are used as before: the image is needed for another server, and to rebuild this one.
"""

from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests
MEMBER = 'nova-lite-demo'


class LostImagesTest(own_cloud.OwnCloudTest):
    """At the end `verify` finds nothing. The server belongs to another project than its image."""

    settings = own_cloud.FOUR_HOSTS
    # Whether the owner of the server can still read the image.
    is_readable = False

    def setUp(self):
        super().setUp()
        self.images = self.cloud.admin.image
        self.image = self.moving.image('own', visibility='public')
        self.server = self.cloud.boot(image='own', connection=self.cloud.demo)

    def act(self, action, content=None, *, status=202, done='ACTIVE', cloud=MEMBER):
        self.moving.act(self.server, action, content, status=status, cloud=cloud)
        found = self.cloud.wait_status(self.server, done)
        self.moving.wait_idle(self.server)
        return found

    def use(self):
        for kind in ('SOFT', 'HARD'):
            self.act('reboot', {'type': kind})
        self.refuse('rebuild', {'imageRef': self.image})
        for done in ('revertResize', 'confirmResize'):
            self.act('migrate', done='VERIFY_RESIZE', cloud='nova-lite')
            self.act(done, status=204 if done == 'confirmResize' else 202)
        self.act('resize', {'flavorRef': self.cloud.flavor_id('m1.small')}, done='VERIFY_RESIZE')
        self.act('confirmResize', status=204)
        self.moving.go(self.server)
        self.assertEqual('completed', self.moving.ended(self.server)['status'])
        self.rescue()
        self.act('shelve', done='SHELVED')
        self.act('shelveOffload', done='SHELVED_OFFLOADED', cloud='nova-lite')
        self.act('unshelve')
        self.refuse('rebuild', {'imageRef': self.image})
        host = self.cloud.admin.compute.get_server(self.server.id).compute_host
        self.moving.fail(host)
        # An evacuated server stays off.
        self.act('evacuate', {}, status=200, done='SHUTOFF', cloud='nova-lite')
        self.moving.come_back(host)
        self.act('rebuild', {'imageRef': self.cloud.image_id('cirros')}, done='SHUTOFF')
        self.act('os-start')

    def rescue(self):
        """As in nova, a rescue without an image reads that of the server. It fails without it."""
        self.act('rescue', status=200, done='RESCUE' if self.is_readable else 'ACTIVE')
        if self.is_readable:
            self.act('unrescue')
        other = {'rescue_image_ref': self.cloud.image_id('cirros')}
        self.act('rescue', other, status=200, done='RESCUE')
        self.act('unrescue')

    def refuse(self, action, content):
        """The request is wrong, and changes nothing."""
        answer = self.moving.act(self.server, action, content, status=400, cloud=MEMBER)
        self.assertIn(self.image, answer.text)
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(self.server.id).status)

    def test_deleted(self):
        self.images.delete_image(self.image)
        self.use()

    def test_private(self):
        self.images.update_image(self.image, visibility='private')
        self.use()

    def test_deactivated(self):
        self.images.deactivate_image(self.image)
        self.is_readable = True
        self.use()
