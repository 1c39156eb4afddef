"""Owners delete and deactivate the images that sagas make of their servers."""

import functools

from nova_lite.moves import rebuild
from nova_lite.moves.parts import offload
from tests.fixtures import owners
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.functional import owners_table
from tests.functional import test_protected_images
from tests.sim.cases import loading

load_tests = loading.load_tests
NAMES = test_protected_images.NAMES


class DisksTest(own_cloud.OwnCloudTest):
    """A shelved server whose image was deleted keeps the only copy of its disk."""

    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.server = self.moving.boot_full()
        self.moving.act(self.server, 'shelve')
        self.cloud.wait(self.server, 'SHELVED')

    def delete(self):
        owners.delete_images(self.moving, self.server)

    def offload(self):
        """The server stays on its host, and runs there again."""
        self.moving.act(self.server, 'shelveOffload')
        self.moving.wait_idle(self.server)
        self.cloud.wait(self.server, 'SHELVED')
        found = dict(self.moving.events(self.server, 'shelveOffload'))
        self.assertEqual('Error', found['compute_shelve_offload_instance'])
        self.moving.act(self.server, 'unshelve')
        self.cloud.wait(self.server, 'ACTIVE')

    def test_deleted_before(self):
        self.delete()
        self.offload()

    def test_deleted_meanwhile(self):
        self.faults.fault = saga_faults.Fault(
            'shelve-offload',
            offload.DESTROY,
            saga_faults.Mode.DURING_BEFORE,
            meanwhile=self.delete,
        )
        self.offload()

    def test_disk_of_a_rebuild(self):
        """An image that can no longer be written ends the action; the server is in ERROR."""
        server = self.moving.boot_from_volume()
        images = self.cloud.admin.image
        for change in (images.delete_image, images.deactivate_image):
            image = self.moving.image(change.__name__)
            self.faults.fault = saga_faults.Fault(
                'rebuild',
                rebuild.REIMAGE,
                saga_faults.Mode.DURING_BEFORE,
                meanwhile=functools.partial(change, image),
            )
            self.moving.act(server, 'rebuild', {'imageRef': image}, version='2.93')
            self.moving.wait_idle(server)
            found = self.cloud.wait(server, 'ERROR')
            self.assertIn('image', found.fault['message'].lower())
            self.moving.act(
                server, 'rebuild', {'imageRef': self.moving.image('cirros')}, version='2.93'
            )
            self.moving.wait_idle(server)
            self.cloud.wait(server)


globals().update(
    owners_table.classes(
        __name__, 'DeletedImages', owners.DELETED_IMAGES, names=NAMES, every=len(NAMES)
    )
    | owners_table.classes(
        __name__, 'DeactivatedImages', owners.DEACTIVATED_IMAGES, names=NAMES, every=len(NAMES)
    )
)
