"""Base classes of conversations with simcloud's volume service and with the real Cinder."""

import requests

from tests.fixtures import cinder
from tests.peers import base
from tests.peers import callers
from tests.peers import transcript

SERVICE = {'X-Service-Roles': 'service'}
SERVER, OTHER = '11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'


class VolumePeersTest(base.PeersTest):
    @classmethod
    def make_real(cls):
        return cinder.Cinder()

    def begin(self, peer):
        root = peer.url if peer is self.real else peer.url + '/volume'
        headers = {**callers.by(callers.ADMINISTRATOR), 'OpenStack-API-Version': 'volume 3.44'}
        return transcript.Transcript(
            root, headers=headers, ordered=False, differs_by=('connection_info',)
        )

    # ---- what conversations share ----

    def volume(self, peer, **values):
        """The id of a new volume that is available."""
        body = {'volume': {'size': 1, 'name': self._testMethodName, **values}}
        answer = requests.post(
            f'{peer.url}/v3/volumes', json=body, headers=peer.headers, timeout=60
        )
        self.assertEqual(202, answer.status_code, answer.text)
        volume_id = answer.json()['volume']['id']
        self.real.daemon.wait_for(
            lambda: self._shown(peer, volume_id)['status'] == 'available', 60, 'has the volume'
        )
        return volume_id

    def shared_type(self, peer):
        """The name of a new type of volumes that several servers may have."""
        specs = {'multiattach': '<is> True'}
        body = {'volume_type': {'name': self._testMethodName, 'extra_specs': specs}}
        answer = requests.post(f'{peer.url}/v3/types', json=body, headers=peer.headers, timeout=60)
        self.assertEqual(200, answer.status_code, answer.text)
        return self._testMethodName

    @staticmethod
    def _shown(peer, volume_id):
        path = f'{peer.url}/v3/volumes/{volume_id}'
        return requests.get(path, headers=peer.headers, timeout=60).json()['volume']

    def look(self, peer, volume_id):
        """Note the volume's status and attachments; other fields are another test's."""
        volume = self._shown(peer, volume_id)
        fields = {'status': volume['status'], 'attachments': volume['attachments']}
        peer.note(f'GET /v3/volumes/{volume_id}', fields)

    @staticmethod
    def attach(peer, volume_id, server=SERVER, **values):
        """Ask for an attachment; its id, None if it was refused."""
        wanted = {'volume_uuid': volume_id, 'instance_uuid': server, **values}
        answer = peer.ask('POST', '/v3/attachments', {'attachment': wanted}).json()
        return answer.get('attachment', {}).get('id')

    @staticmethod
    def connect(peer, attachment_id, **connector):
        body = {'attachment': {'connector': connector}}
        peer.ask('PUT', f'/v3/attachments/{attachment_id}', body)

    @staticmethod
    def complete(peer, attachment_id):
        peer.ask('POST', f'/v3/attachments/{attachment_id}/action', {'os-complete': {}})

    @staticmethod
    def end(peer, attachment_id):
        """Delete an attachment as a service that vouches for itself."""
        peer.ask('DELETE', f'/v3/attachments/{attachment_id}', headers=SERVICE)
