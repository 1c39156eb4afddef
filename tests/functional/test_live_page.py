"""The data of the live page of a cloud."""

import base64
import contextlib
import json

import fixtures
import requests

from nova_lite.lab.launcher import verification
from tests.functional import live_page
from tools import sample

HTML = {'Accept': 'text/html,*/*;q=0.8'}


@sample.in_turns(3)
class LivePageTest(live_page.LivePageTestCase):
    settings = {'cells': 2, 'hosts': 3}

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
        # The first document may be of a second ago.
        here = [(server.id, moved.compute_host)]
        found = self.first(
            lambda found: [(each['uuid'], each['host']) for each in found['servers']] == here
        )
        [shown] = found['servers']
        self.assertEqual(
            (server.id, 'web', moved.compute_host, 'active'),
            (shown['uuid'], shown['name'], shown['host'], shown['vm_state']),
        )
        [host] = [host for host in found['hosts'] if host['name'] == moved.compute_host]
        self.assertEqual((1, 1), (host['servers'], host['load']['VCPU'][0]))
        details = self.get(f'/page/servers/{server.id}')
        self.assertEqual(
            ('web', 'm1.tiny', 'admin', 'admin', 'cirros'),
            tuple(details[name] for name in ('name', 'flavor', 'project', 'user', 'image')),
        )
        known = [each['addr'] for found in moved.addresses.values() for each in found]
        self.assertEqual(known, [each['address'] for each in details['addresses']])
        migrate, create = details['actions']
        self.assertEqual(('live-migration', 'create'), (migrate['action'], create['action']))
        self.assertTrue(create['request_id'].startswith('req-'))
        self.assertEqual({'Success'}, {each['result'] for each in create['events']})
        decision = self.get(f'/page/why/{server.id}')
        self.assertEqual(
            (server.id, moved.compute_host), (decision['instance_uuid'], decision['chosen'])
        )
        [saga] = details['sagas']
        self.assertEqual(saga['uuid'], details['saga']['uuid'])
        story = self.get(f'/page/sagas/{saga["uuid"]}')
        self.assertEqual('done', story['state'])
        self.assertIn(True, [bar['is_pivot'] for bar in story['bars']])
        places = self.cloud.cloud.places
        secrets += [key.public_key, places.metadata_secret, *places.secrets.values()]
        everything = json.dumps([found, details, story, decision, self.get('/page/servers')])
        self.assertEqual([], [each for each in secrets if str(each) in everything])

    def test_search(self):
        server = self.cloud.boot('50%-off')
        self.cloud.boot('500')
        for query, names in (('50%', ['50%-off']), (server.id[:13], ['50%-off']), ('_', [])):
            found = self.get('/page/servers', params={'q': query})
            self.assertEqual(names, [each['name'] for each in found['servers']])
        found = self.get('/page/servers', params={'host': server.compute_host})
        self.assertIn(server.id, [each['uuid'] for each in found['servers']])
        self.assertEqual(([], []), (found['nodes'], found['devices']))
        hosts = self.get('/page/hosts', params={'cell': 'cell2', 'zone': 'nova'})['hosts']
        self.assertEqual(3, len(hosts))
        self.get('/page/servers', 400, params={'q': 'x' * 101})

    def test_many_servers_are_counted(self):
        self.cloud.boot('web')
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lab.page.reading.MOST_SERVERS', 0))
        found = self.first(lambda found: found['states'] and not found['servers'])
        self.assertEqual({'active': 1}, found['states'])
        self.assertEqual(1, sum(cell['servers'] for cell in found['cells']))

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
            self.assertEqual(
                ['unknown'] * 3 + ['up'] * 3, [host['state'] for host in found['hosts']]
            )
            self.assertIsNotNone(found['cells'][0]['known_at'])
            # What is missing is not said not to exist.
            self.assertEqual(['cell1'], self.get('/page/servers')['silent'])
            self.assertIn('cell1', self.get('/page/servers/unknown', 503)['error'])
            faults.switch_cell('cell1', up=True, parts=('database',))
            next(found for found in documents if found['cells'][0]['answers'])
        self.assertEqual([], self.get('/page/servers')['silent'])
        self.get('/page/servers/unknown', 404)

    def test_viewers_end_when_the_cloud_is_reset_or_stopped(self):
        self.cloud.save('fresh')
        verification.find(self.cloud.state_dir)
        self.assertIsNotNone(self.first(lambda found: found['audit'])['audit'])
        for end in (self.cloud.cloud.reset, self.cloud.restart):
            with self.stream() as documents:
                next(documents)
                end()
                # The stream ends; nothing of later is in it.
                self.assertEqual([], list(documents))
            found = self.first()
            self.assertEqual(6, len(found['hosts']))
            # That was of the state before the reset.
            self.assertIsNone(found['audit'])
            self.cloud.connections.clear()

    def test_viewers_see_nothing_of_a_reset_that_waits(self):
        self.cloud.save('fresh')
        # The reset waits for this effect longer than the feed pauses.
        with self.stream() as documents, self.cloud.cloud.incarnation.passing():
            next(documents)
            self.cloud.cloud.reset()
            self.assertEqual([], list(documents))
        self.cloud.connections.clear()
