"""What is sent with every request to a service, and what is kept of the answers."""

from nova_lite.clients import auth
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


class PlainTest(base.ClientTestCase):
    """Requests with the headers of the session, and without cookies."""

    def test_headers(self):
        application = Cookies()
        self.point('placement', self.useFixture(http.Http({'/': application})).url)
        service = session.Neighbour(
            auth.Credentials(self.conf), 'placement', title='placement', microversion='p 1.2'
        )
        for _ in range(2):
            service.call(self.admin, 'GET', '/x', headers={'X-Left-Out': None})
        self.assertEqual(2, len(application.seen))
        for headers in application.seen:
            self.assertLessEqual({'HTTP_OPENSTACK_API_VERSION', 'HTTP_USER_AGENT'}, headers)
            self.assertFalse({'HTTP_COOKIE', 'HTTP_X_LEFT_OUT'} & headers)
        self.assertEqual([], list(service.session.session.cookies))
