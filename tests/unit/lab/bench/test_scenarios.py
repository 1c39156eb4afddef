"""The scenario that deletes servers, against a cloud that needs a while for it."""

import contextlib
import types

import testtools

from nova_lite import exception
from nova_lite.lab.bench import client
from nova_lite.lab.bench import results
from nova_lite.lab.bench import scenarios

ARGS = types.SimpleNamespace(count=3, concurrency=2, poll=0.001, image='cirros', flavor='m1.tiny')


class Cloud(client.Client):
    """A cloud whose deleted servers stay in the next list. status: that of its new servers"""

    def __init__(self, status='ACTIVE'):
        self.servers, self.leaving, self.status = [], [], status

    def server_body(self, name, *, image, flavor):
        return {'server': {'name': name, 'imageRef': image, 'flavorRef': flavor}}

    def without_quotas(self):
        return contextlib.nullcontext()

    def call(self, method, path, body=None):
        if method == 'POST':
            self.servers.append({'id': f'server-{len(self.servers)}'})
            return {'server': self.servers[-1]}
        if method == 'DELETE':
            self.leaving.append(path.rpartition('/')[2])
            return None
        shown = self.servers if path.endswith(self.status) or 'status=' not in path else []
        if 'status=' not in path:
            self.servers = [each for each in shown if each['id'] not in self.leaving]
        return {'servers': shown}


class DeleteTest(testtools.TestCase):
    def measure(self, cloud):
        measured = results.Measured('delete', '/nowhere', ())
        scenarios.delete(cloud, ARGS, measured)
        self.assertEqual([], cloud.servers)
        self.assertEqual(3, len(measured.times['DELETE']))
        self.assertEqual(3, measured.count)
        return measured.failures

    def test_all_are_deleted(self):
        self.assertEqual([], self.measure(Cloud()))

    def test_servers_that_failed_to_boot_are_deleted_too(self):
        (failure,) = self.measure(Cloud('ERROR'))
        self.assertIn('is in ERROR', failure)

    def test_a_server_that_stays(self):
        self.patch(client, 'WAIT_S', 0)
        cloud = Cloud()
        cloud.servers = [{'id': 'one'}]
        self.assertRaises(exception.Unavailable, list, cloud.gone(['one'], 0.001))
