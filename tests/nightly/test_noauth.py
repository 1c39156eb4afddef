"""A cloud with noauth: each of its ports refuses pages of other sites, which are administrators."""

import requests
import testtools

from tests.fixtures import cloud as cloud_fixture

# Placement takes the token `admin` for an administrator.
NAMED = {'X-User-Id': 'alice', 'X-Project-Id': 'alpha', 'X-Roles': 'admin', 'X-Auth-Token': 'admin'}
PATHS = (
    '/compute/v2.1/os-services',
    '/image/v2/images',
    '/network/v2.0/networks',
    '/volume/v3/volumes',
    '/placement/resource_providers',
)
# The page of another site that has its name point to this machine.
REBOUND = {'Host': 'evil.example', 'Origin': 'http://evil.example', 'Sec-Fetch-Site': 'same-origin'}
FOREIGN = (
    REBOUND,
    {'Host': 'evil.example'},
    {'Origin': 'http://evil.example'},
    {'Origin': 'null'},
    {'Sec-Fetch-Site': 'cross-site'},
)
ANSWER_S = 60


class NoauthTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(cells=1, hosts=1, auth='noauth'))

    def ask(self, url, headers):
        return requests.get(url, headers={**NAMED, **headers}, timeout=ANSWER_S).status_code

    def test_pages_of_other_sites(self):
        public = self.cloud.cloud.places.public_url
        own = self.cloud.cloud.urls
        urls = [
            *(f'{public}{path}' for path in PATHS),
            *(f'{own["simcloud"]}{path}' for path in PATHS[1:4]),
            f'{own["placement"]}{PATHS[4]}',
        ]
        self.assertEqual([200] * len(urls), [self.ask(url, {}) for url in urls])
        for headers in FOREIGN:
            self.assertEqual([403] * len(urls), [self.ask(url, headers) for url in urls], headers)
