"""Headers of every request to a service, and values kept from the answers."""

from keystoneauth1 import exceptions
from keystoneauth1.identity import generic

from nova_lite.clients import auth
from nova_lite.clients import connections
from nova_lite.clients import session
from tests.fixtures import http
from tests.unit.clients import base


class Cookies:
    """A WSGI application that sets a cookie. seen: names of headers of each request"""

    def __init__(self):
        self.seen = []

    def __call__(self, environ, start_response):
        self.seen.append({key for key in environ if key.startswith('HTTP_')})
        start_response('200 OK', [('Set-Cookie', 'a=b; Path=/')])
        return [b'{}']


class Moved:
    """A WSGI application that has moved. seen: paths of requests"""

    def __init__(self):
        self.seen = []

    def __call__(self, environ, start_response):
        self.seen.append(environ['PATH_INFO'])
        if environ['PATH_INFO'] == '/old':
            location = f'http://{environ["HTTP_HOST"]}/new'
            start_response('308 Permanent Redirect', [('Location', location)])
            return [b'']
        start_response('200 OK', [('Content-Type', 'application/json')])
        return [b'{"is": "new"}']


class Guarded:
    """A WSGI application that wants a token for everything, and answers no login."""

    def __call__(self, environ, start_response):
        start_response('401 Unauthorized', [('Content-Type', 'application/json')])
        return [b'{"error": {"code": 401, "message": "no", "title": "Unauthorized"}}']


class DiscoveryTest(base.ClientTestCase):
    def test_an_identity_service_that_wants_a_token_for_its_versions(self):
        """The library would wait for ever for a lock that it holds. A login may still work."""
        url = self.useFixture(http.Http({'/': Guarded()})).url
        for path, error in (('', exceptions.DiscoveryFailure), ('/v3', exceptions.Unauthorized)):
            login = generic.Password(
                f'{url}{path}', 'me', password='x', user_domain_id='d', project_name='p',
                project_domain_id='d',
            )  # fmt: skip
            self.assertRaises(error, connections.Session(auth=login).get_token)


class PlainTest(base.ClientTestCase):
    """Requests with the headers of the session, and without cookies."""

    def reach(self, application, *, user=''):
        """Return a client of an application. user: 'name:password@' in its address, or ''"""
        url = self.useFixture(http.Http({'/': application})).url
        self.point('placement', url.replace('//', f'//{user}'))
        return session.Neighbour(
            auth.Credentials(self.conf), 'placement', title='placement', microversion='p 1.2'
        )

    def test_headers(self):
        application = Cookies()
        service = self.reach(application)
        for _ in range(2):
            service.call(self.admin, 'GET', '/x', headers={'X-Left-Out': None})
        self.assertEqual(2, len(application.seen))
        for headers in application.seen:
            self.assertLessEqual({'HTTP_OPENSTACK_API_VERSION', 'HTTP_USER_AGENT'}, headers)
            self.assertFalse({'HTTP_COOKIE', 'HTTP_X_LEFT_OUT'} & headers)
        self.assertEqual([], list(service.session.session.cookies))

    def test_a_redirect_is_followed(self):
        application = Moved()
        service = self.reach(application)
        self.assertEqual({'is': 'new'}, service.call(self.admin, 'GET', '/old').json())
        self.assertEqual(['/old', '/new'], application.seen)

    def test_a_user_in_the_address(self):
        application = Cookies()
        self.reach(application, user='proxy:secret@').call(self.admin, 'GET', '/x')
        self.assertIn('HTTP_AUTHORIZATION', application.seen[0])
        self.assertNotIn('HTTP_COOKIE', application.seen[0])
