"""The viewer of consoles over HTTP."""

import json
import re

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.page import app
from nova_lite.lab.page import console


class TestConsole(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.console = console.Console(lambda *_request: [b'services'], self.read)

    def read(self, token):
        if token != 'right':
            raise exception.NotFound('no console')
        return {'server': 'uuid', 'output': 'booted'}

    def send(self, path, method='GET', query=''):
        """(status, headers, body) of a request."""
        found = []
        environ = {'REQUEST_METHOD': method, 'PATH_INFO': path, 'QUERY_STRING': query}
        body = self.console(
            environ, lambda status, headers: found.append((int(status[:3]), dict(headers)))
        )
        return (*found[0], b''.join(body)) if found else (None, {}, b''.join(body))

    def test_others_get_what_the_services_answer(self):
        for path in ('/', '/console', '/page/lab', '/compute/console/log'):
            self.assertEqual(b'services', self.send(path)[2])

    def test_the_log(self):
        status, _headers, body = self.send('/console/log', query='token=right')
        self.assertEqual((200, 'booted'), (status, json.loads(body)['output']))
        for query in ('', 'token=', 'token=wrong'):
            self.assertEqual(404, self.send('/console/log', query=query)[0])
        self.assertEqual(404, self.send('/console/main.js')[0])

    def test_only_reading(self):
        for method in ('POST', 'PUT', 'DELETE'):
            self.assertEqual(405, self.send('/console/log', method, 'token=right')[0])
        self.assertEqual((200, b''), self.send('/console/vnc_auto.html', 'HEAD')[::2])

    def test_it_may_be_shown_in_another_page(self):
        for path in ('/console/vnc_auto.html', '/console/log', '/console/x'):
            headers = self.send(path)[1]
            self.assertIn('frame-ancestors *', headers['Content-Security-Policy'])
            self.assertNotIn('unsafe', headers['Content-Security-Policy'])
            self.assertNotIn('X-Frame-Options', headers)
            self.assertEqual('no-referrer', headers['Referrer-Policy'])

    def test_one_page_for_vnc_and_spice(self):
        pages = [self.send(f'/console/{name}')[2] for name in (console.VNC, console.SPICE)]
        self.assertEqual(pages[0], pages[1])

    def test_its_files_exist(self):
        text = self.send('/console/vnc_auto.html')[2].decode()
        names = re.findall(r'(?:src|href)="([^"]+)"', text)
        self.assertEqual({'icon.svg', 'page.css', 'console.js'}, set(names))
        for name in names:
            self.assertEqual(200, self.send(f'/console/{name}')[0])

    def test_too_many_readers(self):
        reading, go_on = runtime.Semaphore(0), runtime.Event()
        self.addCleanup(go_on.set)

        def read(_token):
            reading.release()
            go_on.wait()
            return {}

        self.console = console.Console(lambda *_request: [], read)
        self.patch(console, 'WAIT_S', 0.01)
        readers = [
            runtime.spawn(lambda: self.send('/console/log')) for _number in range(console.READERS)
        ]
        for _reader in readers:
            reading.acquire()
        status, headers, _body = self.send('/console/log')
        self.assertEqual((503, str(app.RETRY_AFTER_S)), (status, headers['Retry-After']))
        go_on.set()
        for reader in readers:
            reader.join()
        self.assertEqual(200, self.send('/console/log')[0])
