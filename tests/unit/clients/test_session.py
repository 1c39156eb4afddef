"""Identity of callers, repetition of requests, and translation of errors."""

import json
import socket

import fixtures

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import session
from tests.fixtures import clock
from tests.fixtures import http
from tests.fixtures import ports
from tests.unit.clients import base

REASONS = {
    200: 'OK',
    204: 'No Content',
    400: 'Bad Request',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'Not Found',
    409: 'Conflict',
    418: 'Teapot',
    429: 'Too Many Requests',
    500: 'Internal Server Error',
    503: 'Service Unavailable',
}


class Script:
    """A WSGI application that gives prepared answers in turn, then empty ones.

    answers: statuses, or (status, body)
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.seen = []

    def __call__(self, environ, start_response):
        length = int(environ.get('CONTENT_LENGTH') or 0)
        environ['body'] = environ['wsgi.input'].read(length)
        self.seen.append(environ)
        answer = self.answers.pop(0) if self.answers else 200
        status, body = answer if isinstance(answer, tuple) else (answer, {})
        start_response(f'{status} {REASONS[status]}', [('Content-Type', 'application/json')])
        return [body if isinstance(body, bytes) else json.dumps(body).encode()]


class Flaky(fixtures.Fixture):
    """A server that closes the first connections after `sent` bytes of an answer."""

    ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}'

    def __init__(self, *sent):
        super().__init__()
        self.sent = list(sent)
        self.served = 0

    def _setUp(self):
        self.socket = socket.create_server(('127.0.0.1', 0))
        self.url = 'http://127.0.0.1:%d' % self.socket.getsockname()[1]
        thread = runtime.spawn(self._serve)
        self.addCleanup(thread.join)
        self.addCleanup(self.socket.close)
        self.addCleanup(self.socket.shutdown, socket.SHUT_RDWR)

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return  # shut down
            with connection:
                connection.recv(65536)
                self.served += 1
                connection.sendall(self.ANSWER[: self.sent.pop(0) if self.sent else None])


class Impatient(runtime.Runtime):
    """A runtime whose `sleep` takes no time but does what it is told to."""

    def __init__(self, then=None):
        super().__init__(seed=1)
        self.pauses = []
        self.then = then

    def sleep(self, seconds):
        self.pauses.append(seconds)
        if self.then is not None and len(self.pauses) == 2:
            self.then()


class SessionTestCase(base.ClientTestCase):
    """A service that plays a script."""

    def serve(self, *answers, **options):
        self.script = Script(*answers)
        self.server = self.useFixture(http.Http({'/': self.script}))
        return self.neighbour(self.server.url, **options)

    def neighbour(self, url, *, version='', microversion=None, **options):
        self.point('neutron', url, **options)
        return session.Neighbour(
            self.credentials, 'neutron', title='network', version=version, microversion=microversion
        )

    def header(self, name, request=-1):
        return self.script.seen[request].get('HTTP_' + name.upper().replace('-', '_'))

    def fast(self, then=None):
        """Skip pauses."""
        return self.useFixture(clock.Installed(Impatient(then))).runtime


class IdentityTest(SessionTestCase):
    """Identity by headers; tokens are tested with simcloud's Keystone."""

    def test_ourselves(self):
        self.serve().get(self.member, '/x')
        self.assertEqual(
            ('nova', 'service', 'admin,service'),
            tuple(map(self.header, ('X-User-Id', 'X-Project-Id', 'X-Roles'))),
        )

    def test_the_user(self):
        self.serve().get(self.member, '/x', as_user=True)
        self.assertEqual(
            ('alice', 'wonderland', 'member'),
            tuple(map(self.header, ('X-User-Id', 'X-Project-Id', 'X-Roles'))),
        )

    def test_no_user_in_the_context(self):
        self.serve().get(self.admin, '/x', as_user=True)
        self.assertEqual('nova', self.header('X-User-Id'))

    def test_a_user_without_roles(self):
        """Of a context that was made from records."""
        ctxt = context.RequestContext(user_id='alice', project_id='p', overwrite=False)
        self.serve().get(ctxt, '/x', as_user=True)
        self.assertEqual('nova', self.header('X-User-Id'))

    def test_the_request_id_goes_along(self):
        self.serve().get(self.member, '/x')
        self.assertEqual(self.member.request_id, self.header('X-OpenStack-Request-ID'))

    def test_microversion(self):
        self.serve(microversion='volume 3.44').get(self.member, '/x')
        self.assertEqual('volume 3.44', self.header('OpenStack-API-Version'))

    def test_no_credentials(self):
        self.conf.clear_override('auth_type', group='cinder')
        error = self.assertRaises(
            exception.Unavailable, session.Neighbour, self.credentials, 'cinder', title='volume'
        )
        self.assertIn('[cinder]', str(error))

    def test_incomplete_credentials(self):
        self.conf.set_override('auth_type', 'password', group='service_user')
        error = self.assertRaises(
            exception.Unavailable, session.Neighbour, self.credentials, 'cinder', title='volume'
        )
        self.assertIn('[service_user]', error.message)

    def test_credentials_of_our_own_group(self):
        self.conf.set_override('auth_type', 'none', group='service_user')
        neighbour = session.Neighbour(self.credentials, 'cinder', title='volume')
        self.assertTrue(neighbour.trusting)


class GuardTest(SessionTestCase):
    """A worker whose work another has taken over changes nothing."""

    def guarded(self, *answers):
        """A context whose guard gives these answers in turn: to pass, or an error."""
        answers = list(answers)

        def guard():
            answer = answers.pop(0)
            if answer is not None:
                raise answer

        return self.member.guarded(guard)

    def test_a_change_is_not_asked_for(self):
        neighbour = self.serve()
        for method in ('POST', 'PUT', 'PATCH', 'DELETE'):
            stale = exception.StaleEpoch(saga='s', seen=2, epoch=1)
            ctxt = self.guarded(stale)
            self.assertRaises(exception.StaleEpoch, neighbour.call, ctxt, method, '/x')
        self.assertEqual([], self.script.seen)

    def test_who_may_passes(self):
        self.serve().call(self.guarded(None), 'POST', '/x')
        self.assertEqual(1, len(self.script.seen))

    def test_who_only_looks_is_not_asked(self):
        self.serve().get(self.guarded(), '/x')
        self.assertEqual(1, len(self.script.seen))

    def test_it_is_asked_before_each_try(self):
        self.fast()
        neighbour = self.serve(503)
        ctxt = self.guarded(None, exception.StaleEpoch(saga='s', seen=2, epoch=1))
        self.assertRaises(exception.StaleEpoch, neighbour.call, ctxt, 'PUT', '/x')
        self.assertEqual(1, len(self.script.seen))

    def test_it_does_not_travel(self):
        self.assertNotIn('guard', self.guarded().to_wire())


class AddressTest(SessionTestCase):
    """The catalog may name a service with a version, or a project behind it."""

    def path_of(self, suffix, version):
        neighbour = self.serve(version=version)
        self.conf.set_override('endpoint_override', self.server.url + suffix, group='neutron')
        neighbour.get(self.member, '/things')
        return self.script.seen[-1]['PATH_INFO']

    def test_addresses(self):
        for suffix, version, expected in (
            ('', '', '/things'),
            ('/placement', '', '/placement/things'),
            ('/placement/', '', '/placement/things'),
            ('/network', '/v2.0', '/network/v2.0/things'),
            ('/network/v2.0/', '/v2.0', '/network/v2.0/things'),
            ('/volume/v3/0123456789abcdef', '/v3', '/volume/v3/things'),
            ('/image', '/v2', '/image/v2/things'),
        ):
            self.assertEqual(expected, self.path_of(suffix, version))


class RetryTest(SessionTestCase):
    """Requests that are sent again."""

    def test_a_service_that_is_down_and_comes_back(self):
        for method in ('GET', 'POST'):
            neighbour = self.serve()
            self.server.stop()
            runtime_ = self.fast(then=self.server.start)
            self.assertEqual(200, neighbour.call(self.member, method, '/x').status_code)
            self.assertEqual(2, len(runtime_.pauses))

    def test_a_service_that_stays_down(self):
        runtime_ = self.fast()
        port = self.useFixture(ports.Port()).number
        neighbour = self.neighbour(f'http://127.0.0.1:{port}')
        error = self.assertRaises(exception.Unavailable, neighbour.get, self.member, '/x')
        self.assertIn('network', error.message)
        self.assertEqual(self.conf.neutron.connect_retries, len(runtime_.pauses))
        self.assertLess(sum(runtime_.pauses), 8)

    def test_what_is_sent_once(self):
        runtime_ = self.fast()
        neighbour = self.serve(503, (200, {}))
        self.assertRaises(exception.Unavailable, neighbour.get, self.member, '/x', once=True)
        self.assertEqual((1, []), (len(self.script.seen), list(runtime_.pauses)))

    def test_fewer_than_no_retries(self):
        self.conf.set_override('connect_retries', -1, group='neutron')
        runtime_ = self.fast()
        neighbour = self.serve(503, (200, {}))
        self.assertRaises(exception.Unavailable, neighbour.get, self.member, '/x')
        self.assertEqual((1, []), (len(self.script.seen), list(runtime_.pauses)))

    def test_503_is_tried_again(self):
        self.fast()
        neighbour = self.serve(503, 503, (200, {'a': 1}))
        self.assertEqual({'a': 1}, neighbour.get(self.member, '/x'))

    def test_503_of_what_may_have_been_done(self):
        """A proxy answers so when it has lost the service's answer."""
        self.fast()
        neighbour = self.serve(503, (200, {'a': 1}))
        for method in ('POST', 'PATCH'):
            self.script.seen.clear()
            self.assertRaises(
                exception.Unavailable, neighbour.call, self.member, method, '/x', json={}
            )
            self.assertEqual(1, len(self.script.seen))
            neighbour = self.serve(503, (200, {'a': 1}))

    def test_503_for_ever(self):
        self.fast()
        neighbour = self.serve(*[503] * 9)
        self.assertRaises(exception.Unavailable, neighbour.get, self.member, '/x')
        self.assertEqual(6, len(self.script.seen))

    def flaky(self, *sent):
        self.fast()
        server = self.useFixture(Flaky(*sent))
        return server, self.neighbour(server.url)

    def test_a_closed_connection(self):
        whole = len(Flaky.ANSWER)
        for method in ('GET', 'PUT', 'DELETE'):
            for sent in (0, 5, whole - 1):
                server, neighbour = self.flaky(sent)
                self.assertEqual(200, neighbour.call(self.member, method, '/x').status_code)
                self.assertEqual(2, server.served)

    def test_a_closed_connection_that_may_have_created_something(self):
        server, neighbour = self.flaky(0)
        self.assertRaises(exception.Unavailable, neighbour.call, self.member, 'POST', '/x')
        self.assertEqual(1, server.served)

    def test_a_body_that_cannot_be_rewound(self):
        server, neighbour = self.flaky(0)
        with open(__file__, 'rb') as body:
            self.assertRaises(
                exception.Unavailable, neighbour.call, self.member, 'PUT', '/x', data=body
            )
        self.assertEqual(1, server.served)

    def test_other_errors_are_not(self):
        for status in (400, 500):
            neighbour = self.serve(status)
            self.assertRaises(exception.NovaLiteError, neighbour.get, self.member, '/x')
            self.assertEqual(1, len(self.script.seen))


class ErrorTest(SessionTestCase):
    """The errors raised for answers with an error status."""

    def refused(self, answer, expected, **options):
        error = self.assertRaises(expected, self.serve(answer).get, self.member, '/x', **options)
        return error.message

    def test_by_status(self):
        self.refused(401, exception.NeighbourForbids, as_user=True)
        self.refused(403, exception.NeighbourForbids, as_user=True)
        self.refused(401, exception.Unavailable)
        self.refused(403, exception.NeighbourForbids)
        self.refused(404, exception.NeighbourError)
        self.refused(409, exception.Conflict)
        self.refused(429, exception.Unavailable)
        self.refused(500, exception.Unavailable)

    def test_as_told(self):
        errors = {404: session.raising(exception.PortNotFound, port_id='p1')}
        self.assertIn('p1', self.refused(404, exception.PortNotFound, errors=errors))

    def test_the_response_itself(self):
        response = self.serve(409).call(self.member, 'GET', '/x', errors={409: None})
        self.assertEqual(409, response.status_code)

    def test_a_quota_is_known_by_its_type(self):
        """Given conflicts whose texts name quotas, then only that of the type is one."""
        errors = {409: session.or_quota(exception.Conflict)}
        for kind, expected in (('OverQuota', exception.OverQuota), ('InUse', exception.Conflict)):
            body = {'NeutronError': {'type': kind, 'message': 'of net-quota', 'detail': ''}}
            self.assertIn('of net-quota', self.refused((409, body), expected, errors=errors))
        self.refused((409, b'quota'), exception.Conflict, errors=errors)

    def test_ids_that_are_none(self):
        for value in ('', '.', '..', 'x' * 256):
            missing = session.raising(exception.PortNotFound, port_id='p1')
            self.assertRaises(exception.PortNotFound, session.segment, value, missing)
        self.assertEqual('a%2Fb', session.segment('a/b', exception.PortNotFound))

    def test_reasons(self):
        for body, reason in (
            ({'errors': [{'status': 409, 'title': 'Conflict', 'detail': 'taken'}]}, 'taken'),
            (
                {'NeutronError': {'type': 'T', 'message': 'no such port', 'detail': ''}},
                'no such port',
            ),
            ({'itemNotFound': {'code': 404, 'message': 'no such volume'}}, 'no such volume'),
            ({'error': {'code': 404, 'message': 'no user', 'title': 'Not Found'}}, 'no user'),
            ({'message': 'go<br /><br />away', 'code': '404'}, 'away'),
            ([], 'Teapot'),
            ({'code': 7}, 'Teapot'),
            (b'<html>', '<html>'),
            (b'', 'Teapot'),
        ):
            self.assertIn(reason, self.refused((418, body), exception.NeighbourError))
