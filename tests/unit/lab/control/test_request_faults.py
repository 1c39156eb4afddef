"""Requests to services that a fault refuses, delays, or leaves without an answer."""

import json

import requests
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons.wsgi import server
from nova_lite.lab.console import injected_faults as console
from nova_lite.lab.control import request_faults

LIMIT_S = 60


class ParseTest(testtools.TestCase):
    def test_what_is_refused(self):
        for values, reason in (
            ({}, 'one of status, delay and lost must be given'),
            ({'status': 503, 'lost': True}, 'status and lost exclude each other. Omit one'),
            ({'status': 200}, 'status'),
            ({'status': 499}, 'status'),
            ({'lost': False}, 'lost'),
            ({'lost': True, 'request': 'put it'}, 'request'),
            ({'lost': True, 'request': 'PUT allocations'}, 'request'),
            ({'lost': True, 'request': 'GET /v2/images?limit=1'}, 'request'),
            ({'lost': True, 'first': 0}, 'first'),
            ({'lost': True, 'nth': 0}, 'nth'),
            ({'lost': True, 'probability': 1.1}, 'probability must be from 0 to 1'),
            ({'lost': True, 'probability': float('nan')}, 'probability must be from 0 to 1'),
            ({'lost': True, 'first': 1, 'nth': 2}, 'only one of first and nth may be given'),
            ({'lost': True, 'verb': 'spawn'}, 'verb'),
            ({'delay': 0}, 'delay must be above 0'),
            ({'delay': float('nan')}, 'delay must be above 0'),
            ({'delay': 3601}, 'at most 3600 seconds'),
            ({'service': 'compute', 'lost': True}, 'service'),
        ):
            entry = {'service': 'placement', **values}
            error = self.assertRaises(exception.Invalid, request_faults.parse, 1, entry)
            self.assertIn(reason, str(error), values)


class FaultsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.calls = []
        self.faults = request_faults.RequestFaults()
        self.application = self.faults.around(self.answer)

    def answer(self, environ, start_response):
        self.calls.append(environ['PATH_INFO'])
        start_response('200 OK', [('Content-Length', '2')])
        return [b'{}']

    def inject(self, *entries):
        self.faults.inject(request_faults.parse(n, each) for n, each in enumerate(entries, 1))

    def ask(self, method, path):
        """Return the status and the body of the answer."""
        found = []
        environ = {'REQUEST_METHOD': method, 'PATH_INFO': path}
        body = b''.join(self.application(environ, lambda status, _headers: found.append(status)))
        return int(found[0].split()[0]), body.decode()

    def test_which_requests(self):
        self.inject(
            {'service': 'network', 'request': 'PUT /v2.0/ports*', 'status': 503},
            {'service': 'image', 'status': 404},
        )
        for method, path, status in (
            ('PUT', '/network/v2.0/ports/1', 503),
            ('GET', '/network/v2.0/ports/1', 200),
            ('PUT', '/volume/v2.0/ports/1', 200),
            ('GET', '/image/v2', 404),
        ):
            self.assertEqual(status, self.ask(method, path)[0])
        self.inject()
        self.assertEqual(200, self.ask('GET', '/image/v2')[0])

    def test_how_many(self):
        self.inject(
            {'service': 'network', 'status': 409, 'first': 2},
            {'service': 'network', 'status': 503, 'first': 1},
        )
        found = [self.ask('GET', '/network/v2.0')[0] for _ in range(4)]
        self.assertEqual([409, 409, 503, 200], found)

    def test_which_one(self):
        """A fault counts the requests that come to it: those that none before it strikes."""
        self.inject(
            {'service': 'network', 'status': 409, 'nth': 2},
            {'service': 'network', 'status': 503, 'nth': 2},
        )
        found = [self.ask('GET', '/network/v2.0')[0] for _ in range(4)]
        self.assertEqual([200, 409, 503, 200], found)

    def test_how_often(self):
        """The fault meets the same requests in each cloud."""
        found = []
        for _cloud in range(2):
            self.inject({'service': 'network', 'status': 503, 'probability': 0.3})
            found.append([self.ask('GET', '/network/v2.0')[0] for _ in range(100)])
        self.assertEqual(found[0], found[1])
        self.assertTrue(15 < found[0].count(503) < 45, found[0])

    def test_in_the_words_of_the_service(self):
        self.inject({'service': 'network', 'status': 409}, {'service': 'placement', 'status': 409})
        _status, body = self.ask('GET', '/network/v2.0')
        self.assertEqual('HTTPConflict', json.loads(body)['NeutronError']['type'])
        self.application = self.faults.around(self.answer, request_faults.PLACEMENT)
        _status, body = self.ask('PUT', '/allocations/1')
        (error,) = json.loads(body)['errors']
        self.assertEqual(
            (409, 'placement.concurrent_update', 'Injected fault 2.'),
            (error['status'], error['code'], error['detail']),
        )
        self.assertEqual([], self.calls)

    def test_a_delay(self):
        self.inject({'service': 'volume', 'delay': 0.1})
        began = runtime.monotonic()
        self.assertEqual(200, self.ask('GET', '/volume/v3')[0])
        self.assertLessEqual(0.1, runtime.monotonic() - began)

    def test_a_delay_ends_with_its_fault(self):
        """Else a cloud would not stop."""
        self.inject({'service': 'volume', 'delay': 3600})
        waiting = runtime.spawn(self.ask, 'GET', '/volume/v3')
        self.inject()
        waiting.join(LIMIT_S)
        self.assertFalse(waiting.is_alive())
        self.assertEqual(['/volume/v3'], self.calls)

    def test_a_lost_answer(self):
        """The service does what was asked, and the client gets nothing."""
        running = server.InProcess(self.application, threads=1)
        self.addCleanup(running.stop)
        running.start()
        self.inject({'service': 'image', 'lost': True, 'first': 1})
        url = f'{running.url}/image/v2/images'
        self.assertRaises(requests.ConnectionError, requests.post, url, data='{}', timeout=60)
        self.assertEqual(['/image/v2/images'], self.calls)
        self.assertEqual(200, requests.get(url, timeout=60).status_code)


class EntryTest(testtools.TestCase):
    OPTIONS = {
        **dict.fromkeys(
            (*console.MATCHES, *console.OPTIONS, *console.LIMITS, *console.OF_SERVICES)
        ),
        'metadata': [],
        'lost': False,
        'reschedule': False,
    }

    def entry(self, **given):
        return console.entry({**self.OPTIONS, **given})

    def test_of_a_service(self):
        self.assertEqual(
            {'service': 'image', 'lost': True, 'first': 2},
            self.entry(service='image', lost=True, first=2),
        )
        for name, value in (('nth', 3), ('probability', 0.5)):
            found = self.entry(service='image', lost=True, **{name: value})
            self.assertEqual(value, found[name])
        for name, given in (
            ('host', {'service': 'image', 'lost': True, 'host': 'a'}),
            ('metadata', {'service': 'image', 'lost': True, 'metadata': ['a=b']}),
            ('when', {'service': 'image', 'lost': True, 'when': 'before'}),
            ('status', {'verb': 'spawn', 'status': 503}),
            ('delay', {'verb': 'spawn', 'delay': 0.0}),
        ):
            error = self.assertRaises(ValueError, self.entry, **given)
            self.assertIn(f'--{name} cannot be used with --', str(error))

    def test_lines(self):
        entries = (
            {'service': 'image', 'lost': True, 'first': 2},
            {'service': 'volume', 'request': 'POST *', 'status': 500, 'delay': 1.5},
            {'service': 'volume', 'status': 500, 'probability': 0.25},
        )
        shown = {'failures': [{'id': n, **each} for n, each in enumerate(entries)]}
        shown |= dict.fromkeys(('hosts_off', 'databases_down', 'buses_cut'), [])
        shown['buses_frozen'] = ['top']
        self.assertEqual(
            [
                ('0', 'requests * to image lose their answers (first 2)'),
                ('1', 'requests POST * to volume wait 1.5 s, fail with 500'),
                ('2', 'requests * to volume fail with 500 (probability 0.25)'),
                ('', 'bus of top is frozen'),
            ],
            console.lines(shown),
        )
