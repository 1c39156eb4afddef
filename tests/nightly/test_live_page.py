"""The live page of a cloud with 10,000 hosts, in a browser."""

import testtools

from tests.fixtures import browser
from tests.fixtures import servers
from tools import live_page


class LargeCloudTest(testtools.TestCase):
    def test_the_page_stays_fluid(self):
        servers.require(browser.Browser)
        self.assertEqual(0, live_page.main([]))
