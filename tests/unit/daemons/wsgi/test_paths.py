"""Paths as different servers show them."""

import testtools

from nova_lite.daemons.wsgi import paths


class PathsTest(testtools.TestCase):
    def test_what_servers_show(self):
        for environ, path in (
            ({'RAW_URI': '/a%2Fb//c?d', 'PATH_INFO': '/a/b//c'}, '/a/b/c'),
            ({'REQUEST_URI': 'http://other/a', 'PATH_INFO': '/a'}, '/a'),
            # To the API, a path without a slash would be one that needs no token.
            ({'REQUEST_URI': 'v2.1/servers', 'PATH_INFO': 'v2.1/servers'}, '/v2.1/servers'),
            ({'PATH_INFO': 'v2.1/servers'}, '/v2.1/servers'),
            ({'PATH_INFO': ''}, ''),
            ({'RAW_URI': '/mount/a', 'SCRIPT_NAME': '/mount', 'PATH_INFO': '/a'}, '/a'),
        ):
            self.assertEqual(path, paths.path_of(environ))
