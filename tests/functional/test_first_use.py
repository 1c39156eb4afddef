"""First steps of a new user, with the images and flavors that every cloud has."""

from tests.functional import base

# Names of images that devstack makes; scripts look for one that begins so.
DEVSTACK = 'cirros-'


class FirstUseTest(base.CloudTest):
    settings = base.ROOMY

    @classmethod
    def setUpClass(cls):
        """Remove the network that clouds of tests have besides: `nova-lite up` makes none."""
        super().setUpClass()
        for network in cls.cloud.admin.network.networks(is_shared=True):
            cls.cloud.admin.network.delete_network(network)

    def boot(self, image, flavor):
        """Boot a server as a member of the project demo, who names no network."""
        body = {'name': flavor.name, 'imageRef': image.id, 'flavorRef': flavor.id}
        answer = self.cloud.demo.compute.post('/servers', json={'server': body})
        self.assertEqual(202, answer.status_code, f'{flavor.name}: {answer.text}')
        uuid = answer.json()['server']['id']
        return self.cloud.wait(self.cloud.demo.compute.get_server(uuid), 'ACTIVE')

    def test_first_image_of_the_list_on_every_flavor(self):
        """Given a new cloud, when nothing but image and flavor is named, then servers run."""
        compute = self.cloud.demo.compute
        image = next(iter(self.cloud.demo.image.images()))
        flavors = list(compute.flavors())
        self.assertIn('m1.tiny', {flavor.name for flavor in flavors})
        for flavor in flavors:
            server = self.boot(image, flavor)
            self.assertEqual(['private'], list(server.addresses), flavor.name)
            self.delete(server)

    def test_images_with_the_names_of_devstack(self):
        names = {image.name for image in self.cloud.demo.image.images()}
        self.assertTrue([name for name in names if name.startswith(DEVSTACK)], names)
