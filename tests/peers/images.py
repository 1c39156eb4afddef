"""What conversations with simcloud's image service and with the real Glance share."""

from tests.fixtures import glance
from tests.peers import base
from tests.peers import transcript

ADMINISTRATOR = {'user': 'a' * 32, 'project': 'b' * 32, 'roles': 'admin,member,reader'}
MEMBER = {'user': 'c' * 32, 'project': 'd' * 32, 'roles': 'member,reader'}
READER = {'user': 'e' * 32, 'project': 'd' * 32, 'roles': 'reader'}
STRANGER = {'user': 'f' * 32, 'project': '1' * 32, 'roles': 'member,reader'}
FORMATS = {'disk_format': 'raw', 'container_format': 'bare'}
NOWHERE = '00000000-0000-4000-8000-000000000000'
OCTETS = {'Content-Type': 'application/octet-stream'}
PATCH = {'Content-Type': 'application/openstack-images-v2.1-json-patch'}
DATA = b'contents of an image\n' * 1000


def by(who):
    """The headers that keystonemiddleware sets for this caller."""
    return {
        'X-Identity-Status': 'Confirmed',
        'X-User-Id': who['user'],
        'X-Project-Id': who['project'],
        'X-Roles': who['roles'],
    }


class ImagePeersTest(base.PeersTest):
    @classmethod
    def make_real(cls):
        return glance.Glance()

    def begin(self, peer):
        root = peer.url if peer is self.real else peer.url + '/image'
        return transcript.Transcript(root, headers=by(MEMBER))

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
