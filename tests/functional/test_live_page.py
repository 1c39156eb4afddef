"""The data of the live page of a cloud, and who gets it."""

import base64
import contextlib
import json

import requests

from tests.fixtures import live_moving
from tests.functional import base

HTML = {'Accept': 'text/html,*/*;q=0.8'}


class LivePageTest(base.CloudTest):
    settings = {'cells': 2, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)

    @property
    def url(self):
        return self.cloud.cloud.url

    @contextlib.contextmanager
    def stream(self):
        """The documents that a viewer gets, decoded as they come."""
        with requests.get(f'{self.url}/page/events', stream=True, timeout=60) as answer:
            self.assertEqual(200, answer.status_code)
            yield self.documents(answer)

    def documents(self, answer):
        for line in answer.iter_lines(chunk_size=1):
            name, _colon, value = line.partition(b': ')
            if name == b'data':
                yield json.loads(value)

    def first(self, condition=lambda found: True):
        """The first document that satisfies a condition."""
        with self.stream() as documents:
            return next(found for found in documents if condition(found))

    def get(self, path, status=200, **options):
        answer = requests.get(f'{self.url}{path}', timeout=60, **options)
        self.assertEqual(status, answer.status_code, answer.text)
        return answer.json()

    # ---- data ----

    def test_a_server_without_its_secrets(self):
        key = self.cloud.admin.compute.create_keypair(name='page-key')
        self.addCleanup(self.cloud.admin.compute.delete_keypair, key)
        secrets = [base64.b64encode(b'secret data').decode(), 'pass-word-1', 'meta-secret']
        server = self.cloud.boot(
            'web',
            user_data=secrets[0],
            admin_password=secrets[1],
            metadata={'token': secrets[2]},
            key_name='page-key',
        )
        self.moving.go(server)
        moved = self.cloud.wait(server, 'ACTIVE')
        found = self.first(lambda found: found['servers'])
        [shown] = found['servers']
        self.assertEqual(
            (server.id, 'web', moved.compute_host, 'active'),
            (shown['uuid'], shown['name'], shown['host'], shown['vm_state']),
        )
        [host] = [host for host in found['hosts'] if host['name'] == moved.compute_host]
        self.assertEqual((1, 1), (host['servers'], host['load']['VCPU'][0]))
        details = self.get(f'/page/servers/{server.id}')
        [saga] = details['sagas']
        story = self.get(f'/page/sagas/{saga["uuid"]}')
        self.assertEqual('done', story['state'])
        self.assertIn(True, [bar['is_pivot'] for bar in story['bars']])
        places = self.cloud.cloud.places
        secrets += [key.public_key, places.metadata_secret, *places.secrets.values()]
        everything = json.dumps([found, details, story, self.get('/page/servers')])
        self.assertEqual([], [each for each in secrets if str(each) in everything])

    def test_search(self):
        server = self.cloud.boot('50%-off')
        self.cloud.boot('500')
        for query, names in (('50%', ['50%-off']), (server.id[:13], ['50%-off']), ('_', [])):
            found = self.get('/page/servers', params={'q': query})
            self.assertEqual(names, [each['name'] for each in found['servers']])
        found = self.get('/page/servers', params={'host': server.compute_host})
        self.assertIn(server.id, [each['uuid'] for each in found['servers']])
        hosts = self.get('/page/hosts', params={'cell': 'cell2', 'zone': 'nova'})['hosts']
        self.assertEqual(3, len(hosts))
        self.get('/page/servers', 400, params={'q': 'x' * 101})

    def test_what_clients_of_the_api_get(self):
        self.assertIn('/compute', self.get('/')['services'])
        self.assertNotIn('/page', self.get('/', headers={'Accept': 'application/json'})['services'])
        page = requests.get(f'{self.url}/', headers=HTML, timeout=60)
        self.assertIn('text/html', page.headers['Content-Type'])
        foreign = {**HTML, 'Host': 'evil.example'}
        self.assertEqual(403, requests.get(f'{self.url}/', headers=foreign, timeout=60).status_code)

    def test_a_cell_that_is_down(self):
        faults = self.cloud.cloud.faults
        self.addCleanup(faults.switch_cell, 'cell1', up=True)
        with self.stream() as documents:
            self.assertEqual([True, True], [cell['answers'] for cell in next(documents)['cells']])
            faults.switch_cell('cell1', up=False, parts=('database',))
            found = next(found for found in documents if not found['cells'][0]['answers'])
            self.assertEqual(['cell1'], found['faults']['databases_down'])
            self.assertEqual(3, len(found['hosts']))
            faults.switch_cell('cell1', up=True, parts=('database',))
            next(found for found in documents if found['cells'][0]['answers'])

    def test_viewers_end_when_the_cloud_is_reset_or_stopped(self):
        self.cloud.cloud.save('fresh')
        for end in (self.cloud.cloud.reset, self.cloud.restart):
            with self.stream() as documents:
                next(documents)
                end()
                # The stream ends; nothing of later is in it.
                self.assertEqual([], list(documents))
            self.assertEqual(6, len(self.first()['hosts']))
            self.cloud.connections.clear()
