"""Base classes of the tests of servers beside the real services."""

import testtools

from tests.fixtures import cinder
from tests.fixtures import glance
from tests.fixtures import mariadb
from tests.fixtures import moving
from tests.fixtures import neutron
from tests.fixtures import rabbit
from tests.fixtures import real_cloud
from tests.fixtures import servers
from tests.neighbours import looking

IMAGE = real_cloud.IMAGE
PLUGGED, UNPLUGGED = ('ACTIVE', 'ovs'), ('INACTIVE', 'unbound')
BACKENDS = {'cinder@fake#fake', 'cinder@other#other'}
WAIT_S = 60


class CloudTest(testtools.TestCase):
    """Has one cloud for all tests of a class, and finds what a test leaves in any service.

    demo: a member, who makes servers; admin: who moves them
    profile: of the simulated hosts
    """

    profile, moving_class = 'instant', moving.Moving

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(
            mariadb.MariaDB, rabbit.Rabbit, glance.Glance, neutron.Neutron, cinder.Cinder
        )
        cls.cloud = real_cloud.RealCloud(cls.profile)
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)
        cls.moving, cls.looking = cls.moving_class(cls.cloud), looking.Looking(cls.cloud)
        cls.admin, cls.demo = cls.cloud.admin, cls.cloud.demo

    def setUp(self):
        super().setUp()
        self.addOnException(self._show_logs)

    def _show_logs(self, _error):
        for name, log in self.cloud.getDetails().items():
            self.addDetail(name, log)

    def tearDown(self):
        """Delete what the test has made; nothing may be left in any service."""
        made = list(self.admin.compute.servers(all_projects=True))
        for server in made:
            self.admin.compute.delete_server(server)
        for server in made:
            self.cloud.wait_gone(server)
        self.assertEqual([], self.looking.attachments())
        ports = [each.id for each in self.admin.network.ports() if each.device_owner]
        self.assertEqual([], ports)
        self.assertEqual([], self.cloud.findings())
        self._delete_volumes()
        self.assertEqual([], self._delete_images())
        super().tearDown()

    def _delete_images(self):
        """Delete the images that a test has left; return their names."""
        found = self.looking.images()
        del found[IMAGE]
        for image in found.values():
            self.admin.image.delete_image(image)
        return sorted(found)

    def _delete_volumes(self):
        """Delete snapshots and volumes, none of which may be in use."""
        storage = self.admin.block_storage
        for snapshot in self.looking.volume_snapshots():
            storage.delete_snapshot(snapshot)
        self.until([], self.looking.volume_snapshots)
        for volume in self.looking.volumes().values():
            self.assertIn(volume.status, ('available', 'deleting'))
            storage.delete_volume(volume)
        self.until({}, self.looking.volumes)

    def until(self, wanted, look, *args):
        """Wait until `look(*args)` returns what is wanted."""
        self.cloud.wait_for(
            lambda: look(*args) == wanted, f'{look(*args)} to be {wanted}', WAIT_S, most_s=0.5
        )

    def boot(self, name=None, **options):
        """A server of the member, with a port and a volume beside its own disk."""
        name = name or self._testMethodName
        return self.moving.boot_full(name, connection=self.demo, **options)

    def boot_bare(self, image_id):
        """A server of the member from an image, without a port."""
        server = self.demo.compute.create_server(
            name='bare',
            image_id=image_id,
            flavor_id=self.cloud.flavor_id('m1.tiny'),
            networks='none',
        )
        return self.cloud.wait(server)

    def volume(self, **options):
        """A new volume of the member."""
        made = self.demo.block_storage.create_volume(size=1, **options)
        return self.demo.block_storage.wait_for_status(made, 'available', interval=0.5)

    def reach(self, server, status, host, *others):
        """The server has a status, and its port and its volume are on a host alone.

        others: where its port has inactive bindings
        """
        found = self.cloud.wait(server, status)
        self.assertEqual(host, found.compute_host)
        bindings = {host: PLUGGED, **dict.fromkeys(others, UNPLUGGED)}
        self.until([('ACTIVE', bindings)], self.looking.plugged, server)
        self.until([('in-use', 'attached', host)], self.looking.connected, server)

    def events(self, server, action):
        """[(event, result)] of an action, none before it begins."""
        known = [each.action for each in self.admin.compute.server_actions(server)]
        return self.moving.events(server, action) if action in known else []

    def near(self, host):
        """The other host of a host's cell."""
        (found,) = [each for each in self.hosts() if each != host and each[:5] == host[:5]]
        return found

    def far(self, host):
        """A host of the other cell."""
        return next(each for each in self.hosts() if each[:5] != host[:5])

    def hosts(self):
        return [each.name for each in self.admin.compute.hypervisors()]
