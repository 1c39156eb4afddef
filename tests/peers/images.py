"""Base classes of conversations with simcloud's image service and with the real Glance."""

from tests.fixtures import glance
from tests.peers import base
from tests.peers import callers
from tests.peers import transcript

FORMATS = {'disk_format': 'raw', 'container_format': 'bare'}
OCTETS = {'Content-Type': 'application/octet-stream'}
PATCH = {'Content-Type': 'application/openstack-images-v2.1-json-patch'}
DATA = b'contents of an image\n' * 1000


class ImagePeersTest(base.PeersTest):
    @classmethod
    def make_real(cls):
        return glance.Glance()

    def begin(self, peer):
        root = peer.url if peer is self.real else peer.url + '/image'
        return transcript.Transcript(root, headers=callers.by(callers.MEMBER))

    # ---- what conversations share ----

    def image(self, peer, name='image', **values):
        """The path of a new image that is queued."""
        values = {'name': f'{self._testMethodName}-{name}', **FORMATS, **values}
        return '/v2/images/' + peer.ask('POST', '/v2/images', values).json()['id']

    def active(self, peer, name='image', **values):
        """The path of a new image with data."""
        path = self.image(peer, name, **values)
        peer.ask('PUT', f'{path}/file', data=DATA, headers=OCTETS)
        return path

    @staticmethod
    def patch(peer, path, *changes):
        return peer.ask('PATCH', path, list(changes), headers=PATCH)
