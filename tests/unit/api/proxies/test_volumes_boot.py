"""/os-volumes_boot: the same operations as on /servers, until 2.102."""

from nova_lite.api import operation
from tests.fixtures import api_neighbours
from tests.unit.api.servers import base

PATH = '/os-volumes_boot'
SERVER = {
    'server': {
        'name': 'mine',
        'flavorRef': '42',
        'imageRef': api_neighbours.IMAGE_ID,
        'networks': 'none',
    }
}
# As nova has them, with the first microversion of each.
OPERATIONS = {
    'GET /os-volumes_boot': 1,
    'POST /os-volumes_boot': 1,
    'GET /os-volumes_boot/detail': 1,
    'GET /os-volumes_boot/{server_id}': 1,
    'PUT /os-volumes_boot/{server_id}': 1,
    'DELETE /os-volumes_boot/{server_id}': 1,
    **{
        f'POST /os-volumes_boot/{{server_id}}/action ({action})': since
        for action, since in {
            'confirmResize': 1,
            'revertResize': 1,
            'reboot': 1,
            'resize': 1,
            'rebuild': 1,
            'createImage': 1,
            'os-start': 1,
            'os-stop': 1,
            'trigger_crash_dump': 17,
        }.items()
    },
}


class TestVolumesBoot(base.Case):
    def test_operations(self):
        found = {
            str(each): (each.since.minor, each.until.minor)
            for each in operation.load_all()
            if each.path.startswith(PATH)
        }
        self.assertEqual({name: (since, 102) for name, since in OPERATIONS.items()}, found)

    def test_a_server(self):
        made = self.ok('POST', PATH, SERVER, code=202, version='2.102').json['server']
        one = f'{PATH}/{made["id"]}'
        shown = self.ok('GET', one, version='2.102').json
        self.assertEqual(self.ok('GET', f'/servers/{made["id"]}', version='2.102').json, shown)
        for path in (PATH, f'{PATH}/detail'):
            (server,) = self.ok('GET', path, version='2.102').json['servers']
            self.assertEqual(made['id'], server['id'])
        self.ok('DELETE', one, code=204, version='2.102')
        self.refused('GET', one, code=404)

    def test_actions(self):
        uuid = self.api.add_server()
        body = {'server': {'name': 'yours'}}
        self.assertEqual('yours', self.ok('PUT', f'{PATH}/{uuid}', body).json['server']['name'])
        one = f'{PATH}/{uuid}/action'
        self.ok('POST', one, {'os-stop': None}, code=202)
        self.assertEqual('powering-off', self.api.row(uuid).task_state)
        self.refused('POST', one, {'os-stop': None}, code=409, text='stop')
        self.refused('POST', one, {'pause': None}, code=400, text='pause')

    def test_gone_from_2_103(self):
        uuid = self.api.add_server()
        for method, path, *body in (
            ('GET', PATH),
            ('POST', PATH, SERVER),
            ('GET', f'{PATH}/{uuid}'),
            ('DELETE', f'{PATH}/{uuid}'),
            ('POST', f'{PATH}/{uuid}/action', {'os-stop': None}),
        ):
            self.refused(method, path, *body, code=404, version='2.103', text='2.103')
