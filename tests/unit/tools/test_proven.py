"""Operations proven by request logs; the data file is up to date with them."""

import json
import pathlib

import fixtures
import testtools

from nova_lite.api import microversion
from nova_lite.api import operation
from tools.proof import proven

SDK = 'openstacksdk/4.22.0 keystoneauth1/5.16.0 python-requests/2.34.2'
SERVERS, GONE = 'GET /servers', 'GET /os-fping'


def line(name=SERVERS, client=SDK, version='2.1', status=200):
    """Return what a log has of a request, as far as it is read."""
    return {
        'method': 'GET',
        'path': '/v2.1/any',
        'operation': name,
        'client': client,
        'microversion': version,
        'status': status,
    }


class ReadTest(testtools.TestCase):
    def read(self, *lines, run='functional'):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, f'{run}.jsonl')
        path.write_text(''.join(f'{json.dumps(each)}\n' for each in lines))
        found = proven.read([path], operation.load_all())
        return {
            (name, client): [str(each) for each in sorted(versions)]
            for name, clients in found.items()
            for client, versions in clients.items()
        }

    def test_versions(self):
        found = self.read(line(version='2.10'), line(version='2.9'), line(version='2.9'))
        self.assertEqual({(SERVERS, 'openstacksdk'): ['2.9', '2.10']}, found)

    def test_what_failed(self):
        self.assertEqual({}, self.read(line(status=404), line(None, status=404)))

    def test_what_is_gone(self):
        found = self.read(line(GONE, status=410), line(GONE, status=404), line(status=410))
        self.assertEqual({(GONE, 'openstacksdk'): ['2.1']}, found)

    def test_the_version_document(self):
        found = self.read({**line(None), 'path': '/v2.1/'})
        self.assertEqual({('GET /', 'openstacksdk'): ['2.1']}, found)

    def test_clients(self):
        for run, agent, client in (
            ('functional', 'python-novaclient', 'novaclient'),
            ('functional', SDK, 'openstacksdk'),
            ('clients-openstackclient', SDK, 'OpenStackClient'),
            ('tempest', 'python-urllib3/2.7', 'Tempest'),
            ('clients-rally', 'python-novaclient', 'Rally'),
        ):
            self.assertEqual({(SERVERS, client): ['2.1']}, self.read(line(client=agent), run=run))

    def test_who_is_no_client(self):
        self.assertEqual({}, self.read(line(client='python-requests/2.34.2'), line(client=None)))


class DataTest(testtools.TestCase):
    def test_what_is_written_can_be_read(self):
        versions = {microversion.parse(each) for each in ('2.9', '2.10')}
        found = {GONE: {'novaclient': versions}, SERVERS: {'Tempest': versions}}
        text = proven.dump(found)
        self.assertEqual(
            {
                name: {client: sorted(each) for client, each in clients.items()}
                for name, clients in found.items()
            },
            proven.load(text),
        )

    def test_names_only_what_there_is(self):
        found = proven.load()
        self.assertEqual([], proven.wrong(found, operation.load_all()))
        self.assertNotEqual({}, found)

    def test_what_there_is_not(self):
        text = "GET /toys:\n  Tempest: '2.1'\nGET /images:\n  Tempest: 2.35, 2.36\n"
        self.assertEqual(
            ['GET /toys is not an operation', 'GET /images is not offered at 2.36'],
            proven.wrong(proven.load(text), operation.load_all()),
        )
