"""Clouds that have a live page."""

import testtools

from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import live_page


class TestLivePage(testtools.TestCase):
    def page(self, listen):
        settings = layout.Settings(state_dir='/nowhere', listen=listen)
        return live_page.LivePage(layout.Layout(settings), self.services, show_faults=None)

    def services(self, environ, start_response):
        return [b'services']

    def answers(self, page):
        """True if the page answers, and not the services."""
        environ = {'REQUEST_METHOD': 'GET', 'PATH_INFO': '/page/lab', 'HTTP_HOST': '127.0.0.1'}
        return page.application(environ, lambda *given: None) != [b'services']

    def test_on_loopback(self):
        for listen in ('127.0.0.1', '::1', 'localhost'):
            self.assertTrue(self.answers(self.page(listen)))

    def test_its_url(self):
        def url(**settings):
            return layout.Layout(layout.Settings(state_dir='/nowhere', **settings)).page_url

        self.assertEqual('http://127.0.0.1:1/', url(port=1))
        self.assertRegex(url(port=1, lab=True), 'http://127.0.0.1:1/#.{32}')
        self.assertIsNone(url(listen='0.0.0.0', lab=True))
        # Its port is not known before it listens.
        self.assertIsNone(url(bus=('rabbit://127.0.0.1/{cell}',)))

    def test_elsewhere_there_is_none(self):
        for listen in ('0.0.0.0', '::', '192.0.2.1', 'cloud.example'):
            made = self.page(listen)
            self.assertFalse(self.answers(made))
            made.renew(conf=None)
            made.end()()
