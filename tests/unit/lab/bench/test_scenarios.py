"""The scenario that deletes servers, against a cloud that needs a while for it."""

import contextlib
import types

import testtools

from nova_lite import exception
from nova_lite import runtime
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

    def left(self):
        """The ids of the servers that no request has deleted."""
        return {each['id'] for each in self.servers} - set(self.leaving)

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


class Pages(client.Client):
    """A cloud of five servers whose lists have pages of two. One is deleted between two pages.

    No server is in ERROR.
    """

    refusal = 'answered 400'

    def __init__(self):
        self.servers = [f'server-{number}' for number in range(5)]
        self.leaving = ['server-1']

    def call(self, method, path, body=None):
        if f'status={client.FAILED}' in path:
            return {'servers': []}
        marker = path.partition('&marker=')[2]
        if marker and self.leaving:
            self.servers.remove(self.leaving.pop())
            raise exception.Conflict(reason=f'GET {path} {self.refusal}: marker {marker}')
        start = self.servers.index(marker) + 1 if marker else 0
        shown = self.servers[start : start + 2]
        links = {'servers_links': [{'rel': 'next'}]} if len(shown) == 2 else {}
        return {'servers': [{'id': each} for each in shown], **links}


class PagesTest(testtools.TestCase):
    def test_servers_of_further_pages_are_not_gone(self):
        self.patch(client, 'WAIT_S', 0)
        cloud = Pages()
        gone = cloud.gone([*cloud.servers], 0.001)
        self.assertEqual('server-1', next(gone))
        self.assertRaises(exception.Unavailable, next, gone)

    def test_an_error_of_a_further_page(self):
        cloud = Pages()
        cloud.refusal = 'answered 500'
        self.assertRaises(exception.Conflict, next, cloud.gone([*cloud.servers], 0.001))

    def test_servers_of_further_pages_settle(self):
        cloud = Pages()
        cloud.leaving.clear()
        found = cloud.settle(dict.fromkeys(cloud.servers, 'ACTIVE'), 0.001)
        self.assertEqual(cloud.servers, [uuid for uuid, _now in found])


class Interrupted(Cloud):
    """A cloud at one of whose looks or creations Ctrl-C comes. number: of the request, from 1"""

    def __init__(self, number):
        super().__init__()
        self.requests, self._number = 0, number

    def call(self, method, path, body=None):
        self.requests += 1
        if self.requests == self._number and method != 'DELETE':
            raise KeyboardInterrupt()
        return super().call(method, path, body)


class SlowlyCreating(Cloud):
    """A cloud that creates its second server some time after Ctrl-C has ended the first request."""

    def __init__(self):
        super().__init__()
        self._first, self._second = runtime.Event(), runtime.Event()

    def call(self, method, path, body=None):
        if method == 'POST':
            if not self._second.is_set() and not self._first.is_set():
                self._first.set()
                self._second.wait(10)
                raise KeyboardInterrupt()
            self._second.set()
            runtime.Event().wait(0.2)
        return super().call(method, path, body)


class InterruptedTest(testtools.TestCase):
    def test_servers_are_deleted(self):
        """Ctrl-C at any look or creation of a scenario leaves no server."""
        args = types.SimpleNamespace(**{**vars(ARGS), 'concurrency': 1})
        for name, scenario in scenarios.SCENARIOS.items():
            whole = Interrupted(0)
            scenario(whole, args, results.Measured(name, '/nowhere', ()))
            for number in range(1, whole.requests + 1):
                cloud = Interrupted(number)
                try:
                    scenario(cloud, args, results.Measured(name, '/nowhere', ()))
                except KeyboardInterrupt:
                    self.assertEqual(set(), cloud.left(), (name, number))

    def test_a_server_that_is_still_being_created(self):
        for name in ('boot', 'delete'):
            cloud = SlowlyCreating()
            measured = results.Measured(name, '/nowhere', ())
            self.assertRaises(KeyboardInterrupt, scenarios.SCENARIOS[name], cloud, ARGS, measured)
            self.assertNotEqual([], cloud.leaving, name)
            self.assertEqual(set(), cloud.left(), name)
