"""The encryption of simcloud's volume types against the real Cinder's."""

from tests.peers import base
from tests.peers import callers
from tests.peers import volumes

ENCRYPTION = {
    'provider': 'luks',
    'control_location': 'front-end',
    'cipher': 'aes-xts-plain64',
    'key_size': 256,
}


class VolumeTypeTest(volumes.VolumePeersTest):
    def path(self, peer):
        """The path of the encryption of a new type."""
        body = {'volume_type': {'name': self._testMethodName}}
        return f'/v3/types/{peer.made("/v3/types", body)["id"]}/encryption'

    @base.same
    def test_types(self, peer):
        body = {'volume_type': {'name': self._testMethodName, 'description': 'd'}}
        made = peer.made('/v3/types', body)['id']
        peer.ask('GET', f'/v3/types/{made}')
        peer.ask('PUT', f'/v3/types/{made}', {'volume_type': {'description': 'e'}})
        for method in ('DELETE', 'GET'):
            peer.ask(method, f'/v3/types/{made}')

    @base.same
    def test_encryption(self, peer):
        path = self.path(peer)
        peer.ask('GET', path)
        made = peer.made(path, {'encryption': ENCRYPTION})['encryption_id']
        peer.ask('POST', path, {'encryption': ENCRYPTION})
        for part in ('', '/cipher', f'/{made}'):
            peer.ask('GET', path + part)
        for changes in ({'key_size': '128'}, {'control_location': 'back-end', 'cipher': None}, {}):
            peer.ask('PUT', f'{path}/{made}', {'encryption': changes})
        peer.ask('GET', path)
        for _each in range(2):
            peer.ask('DELETE', f'{path}/{made}')
        peer.ask('GET', path)
        peer.ask('PUT', f'{path}/{made}', {'encryption': {'key_size': 128}})

    @base.same
    def test_refused_encryption(self, peer):
        path = self.path(peer)
        for wrong in (
            *({name: None} for name in ENCRYPTION),
            {'provider': 1},
            {'provider': 'x' * 256},
            {'control_location': 'other'},
            {'cipher': 1},
            *({'key_size': value} for value in (-1, 2**31, 'x', '', True)),
        ):
            peer.ask('POST', path, {'encryption': {**ENCRYPTION, **wrong}})
            peer.ask('DELETE', f'{path}/x')
        peer.ask('POST', path, {'encryption': {}})
        peer.ask('POST', path, {})
        nowhere = f'/v3/types/{callers.NOWHERE}/encryption'
        peer.ask('GET', nowhere)
        peer.ask('POST', nowhere, {'encryption': ENCRYPTION})
        peer.ask('DELETE', f'{nowhere}/x')
        peer.headers.update(callers.by(callers.MEMBER))
        for each in (path, nowhere):
            peer.ask('GET', each)
            peer.ask('POST', each, {'encryption': ENCRYPTION})
            peer.ask('PUT', f'{each}/x', {'encryption': {}})
            peer.ask('DELETE', f'{each}/x')

    @base.same
    def test_encryption_of_a_type_in_use(self, peer):
        path = self.path(peer)
        volume = self.volume(peer, volume_type=self._testMethodName)
        peer.ask('POST', path, {'encryption': ENCRYPTION})
        peer.ask('PUT', f'{path}/x', {'encryption': {}})
        peer.ask('DELETE', f'{path}/x')
        peer.ask('GET', f'/v3/volumes/{volume}/encryption')
        peer.ask('GET', f'/v3/volumes/{volume}/encryption/encryption_key_id')
        peer.ask('GET', f'/v3/volumes/{callers.NOWHERE}/encryption')
