"""Links behind a proxy that terminates TLS."""

import falcon
from falcon import testing
import testtools

from nova_lite import conf as configuration
from nova_lite.api import proxy_headers

FORWARDED = {'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'compute.example.org'}


class Prefix:
    """Answers with what links begin with."""

    def on_get(self, http, response):
        response.text = http.prefix


class ProxyHeadersTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = configuration.make_conf([], files=[])

    def link(self, headers):
        application = falcon.App()
        application.add_route('/', Prefix())
        found = proxy_headers.apply(self.conf, application)
        # falcon's client looks at the signature, which webob hides.
        client = testing.TestClient(lambda environ, start: found(environ, start))
        return client.simulate_get('/', headers=headers).text

    def test_headers_of_a_proxy(self):
        self.conf.set_override('enable_proxy_headers_parsing', True, group='oslo_middleware')
        for headers in (
            FORWARDED,
            {'Forwarded': 'proto=https;host=compute.example.org, proto=http'},
        ):
            self.assertEqual('https://compute.example.org', self.link(headers))

    def test_headers_of_a_client(self):
        self.assertEqual('http://falconframework.org', self.link(FORWARDED))
