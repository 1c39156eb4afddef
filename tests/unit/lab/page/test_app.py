"""The live page over HTTP: who gets it, and who is refused."""

import http
import json
import re

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.page import admission
from nova_lite.lab.page import app
from nova_lite.lab.page import document
from nova_lite.lab.page import feed
from nova_lite.lab.page import lab

BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
# Bytes that all files of the page may have.
BUDGET = 100_000


class Source:
    """Stands for what reads a cloud."""

    closed = False

    def document(self):
        return {'cells': []}

    def hosts(self, **query):
        return {'hosts': [], **query}

    def servers(self, **query):
        if query.get('q') == 'wrong':
            raise exception.Invalid(reason='q is wrong')
        return {'servers': [], **query}

    def server(self, uuid):
        raise exception.InstanceNotFound(instance_id=uuid)

    def map(self):
        return {'cells': []}

    def why(self, uuid):
        raise exception.DecisionNotFound(uuid=uuid)

    def saga(self, uuid):
        return {'uuid': uuid}

    def close(self):
        self.closed = True


class PageTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.page = app.Page(self.services)
        self.source = Source()
        self.page.renew(self.source)
        self.addCleanup(lambda: self.page.end()())

    def services(self, environ, start_response):
        start_response('200 OK', [])
        return [b'services']

    def send(self, path, *, method='GET', **headers):
        """(status, headers, body) of a request; `body` is the iterable of an event stream."""
        path, _mark, query = path.partition('?')
        environ = {
            'REQUEST_METHOD': method,
            'PATH_INFO': path,
            'QUERY_STRING': query,
            'HTTP_HOST': '127.0.0.1:8774',
            **{f'HTTP_{name}': value for name, value in headers.items()},
        }
        found = []
        body = self.page(
            environ, lambda status, given: found.append((int(status[:3]), dict(given)))
        )
        [(status, given)] = found
        return status, given, body

    def answer(self, path, status=200, **options):
        """The JSON of an answer."""
        found, headers, body = self.send(path, **options)
        self.assertEqual((status, 'application/json'), (found, headers['Content-Type']))
        return json.loads(b''.join(body))


class TestRoutes(PageTestCase):
    def test_a_browser_gets_the_page(self):
        for path in ('', '/'):
            status, headers, body = self.send(path, ACCEPT=BROWSER)
            self.assertEqual((200, 'text/html; charset=utf-8'), (status, headers['Content-Type']))
            self.assertIn(b'<!doctype html>', b''.join(body))

    def test_others_get_what_the_services_answer(self):
        for accept in ('*/*', 'application/json', ''):
            self.assertEqual([b'services'], self.send('/', ACCEPT=accept)[2])
        self.assertEqual([b'services'], self.send('/compute/v2.1/', ACCEPT=BROWSER)[2])
        self.assertEqual([b'services'], self.send('/pages', ACCEPT=BROWSER)[2])

    def test_files(self):
        for name, kind in (('page.css', 'text/css'), ('main.js', 'text/javascript')):
            status, headers, body = self.send(f'/page/{name}')
            self.assertEqual(200, status)
            self.assertTrue(headers['Content-Type'].startswith(kind))
            self.assertEqual(int(headers['Content-Length']), len(b''.join(body)))

    def test_unknown_paths(self):
        for path in ('/page/', '/page/x', '/page/../app.py', '/page/sagas/', '/page/document'):
            self.assertIn('has no', self.answer(path, 404)['error'])

    def test_details(self):
        self.assertEqual(
            {'hosts': [], 'cell': 'a', 'zone': 'b'}, self.answer('/page/hosts?cell=a&zone=b')
        )
        self.assertEqual({'servers': [], 'q': 'a b'}, self.answer('/page/servers?q=a%20b'))
        self.assertEqual({'uuid': 'x'}, self.answer('/page/sagas/x'))
        self.assertEqual({'cells': []}, self.answer('/page/map'))

    def test_errors_of_details(self):
        self.assertIn('q is wrong', self.answer('/page/servers?q=wrong', 400)['error'])
        self.assertIn('limit', self.answer('/page/servers?limit=1', 400)['error'])
        self.answer('/page/servers/x', 404)
        self.assertIn('no decision', self.answer('/page/why/x', 404)['error'])
        for path in ('/page/servers?q=%00', '/page/hosts?cell=%00', '/page/sagas/\0'):
            self.assertIn('null', self.answer(path, 400)['error'])

    def test_only_reading(self):
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS'):
            status, headers, _body = self.send('/page/hosts', method=method)
            self.assertEqual((405, 'GET, HEAD'), (status, headers['Allow']))

    def test_head(self):
        for path in ('/page/page.css', '/page/hosts'):
            status, headers, body = self.send(path, method='HEAD')
            self.assertEqual((200, []), (status, list(body)))
            self.assertLess(0, int(headers['Content-Length']))

    def test_while_the_cloud_is_reset(self):
        close = self.page.end()
        self.assertEqual(200, self.send('/', ACCEPT=BROWSER)[0])
        for path in ('/page/events', '/page/hosts'):
            status, headers, _body = self.send(path)
            self.assertEqual((503, str(app.RETRY_AFTER_S)), (status, headers['Retry-After']))
        self.assertFalse(self.source.closed)
        close()
        self.assertTrue(self.source.closed)

    def test_a_source_that_is_read_is_closed_later(self):
        reading, go_on = runtime.Event(), runtime.Event()
        self.addCleanup(go_on.set)

        def servers():
            reading.set()
            go_on.wait()
            return {'is_closed': self.source.closed}

        self.source.servers = servers
        found = []
        reader = runtime.spawn(lambda: found.append(self.answer('/page/servers')))
        reading.wait()
        closing = runtime.spawn(self.page.end())
        closing.join(0.05)
        go_on.set()
        reader.join()
        closing.join()
        self.assertEqual([{'is_closed': False}], found)
        self.assertTrue(self.source.closed)


class TestEvents(PageTestCase):
    def test_the_stream(self):
        status, headers, body = self.send('/page/events')
        self.assertEqual((200, 'text/event-stream'), (status, headers['Content-Type']))
        self.assertEqual(b'event: document\ndata: {"cells":[]}\n\n', [next(body), next(body)][1])
        body.close()

    def test_who_asks_for_the_headers_alone_is_no_viewer(self):
        for _number in range(feed.MOST_VIEWERS + 1):
            status, headers, body = self.send('/page/events', method='HEAD')
            self.assertEqual((200, 'text/event-stream'), (status, headers['Content-Type']))
            self.assertEqual([], list(body))

    def test_too_many_viewers(self):
        streams = [self.send('/page/events')[2] for _number in range(feed.MOST_VIEWERS)]
        status, headers, _body = self.send('/page/events')
        self.assertEqual((503, str(app.RETRY_AFTER_S)), (status, headers['Retry-After']))
        for stream in streams:
            stream.close()
        stream = self.send('/page/events')[2]
        self.assertIsInstance(stream, feed.Viewer)
        stream.close()

    def test_viewers_that_read_nothing_more_keep_their_places(self):
        for _number in range(feed.MOST_VIEWERS):
            self.addCleanup(self.send('/page/events')[2].close)
        # As a reset does.
        self.page.end()()
        self.page.renew(Source())
        self.assertEqual(503, self.send('/page/events')[0])

    def test_the_end_ends_viewers(self):
        stream = self.send('/page/events')[2]
        self.page.end()()
        next(stream)
        self.assertEqual([], list(stream))


class TestGuard(PageTestCase):
    def test_headers(self):
        for path in ('/page/page.css', '/page/hosts', '/page/x', '/page/events'):
            _status, headers, body = self.send(path)
            self.assertEqual(
                dict(admission.HEADERS), {k: headers[k] for k, _value in admission.HEADERS}
            )
            getattr(body, 'close', list)()
        self.assertNotIn('unsafe', admission.POLICY)

    def test_a_foreign_host(self):
        for host in (
            *('evil.example', 'evil.example:8774', '127.0.0.1.evil.example', 'x.localhost', ''),
            *('10.0.0.1', '[fe80::1]', '[::1', 'user@127.0.0.1', '127.0.0.1/x', '127.1', '::1'),
        ):
            for path in ('/', '/page/hosts', '/page/events', '/page/page.css'):
                self.answer(path, 403, HOST=host, ACCEPT=BROWSER)

    def test_names_of_loopback(self):
        for host in ('localhost:8774', 'LOCALHOST', '[::1]:8774', '127.0.0.1', '127.0.0.2:1'):
            self.assertEqual(200, self.send('/', HOST=host, ACCEPT=BROWSER)[0])

    def test_a_foreign_origin(self):
        for origin in (
            'http://evil.example',
            'null',
            'https://127.0.0.1:8774',
            'http://127.0.0.1:1',
        ):
            self.answer('/page/hosts', 403, ORIGIN=origin)
            self.answer('/page/events', 403, ORIGIN=origin)
        self.answer('/page/hosts', ORIGIN='http://127.0.0.1:8774')

    def test_what_the_browser_says_of_another_site(self):
        for site in ('cross-site', 'same-site'):
            self.answer('/page/hosts', 403, SEC_FETCH_SITE=site, SEC_FETCH_MODE='no-cors')
            followed = self.send(
                '/', ACCEPT=BROWSER, SEC_FETCH_SITE=site, SEC_FETCH_MODE='navigate'
            )
            self.assertEqual(200, followed[0])
            framed = {'SEC_FETCH_MODE': 'navigate', 'SEC_FETCH_DEST': 'iframe'}
            self.answer('/', 403, ACCEPT=BROWSER, SEC_FETCH_SITE=site, **framed)
            for path in ('/page/events', '/page/servers'):
                self.answer(path, 403, SEC_FETCH_SITE=site, SEC_FETCH_MODE='navigate')
        self.answer('/page/hosts', SEC_FETCH_SITE='same-origin', SEC_FETCH_MODE='cors')


class TestLab(PageTestCase):
    secret = 'of-the-owner'

    def setUp(self):
        super().setUp()
        self.used = []
        self.page.lab = lab.Lab(self.control, self.secret)

    def control(self, environ):
        self.used.append((environ['REQUEST_METHOD'], environ['PATH_INFO']))
        return http.HTTPStatus.OK, [b'{}']

    def post(self, path, status, **headers):
        given = {'ORIGIN': 'http://127.0.0.1:8774', 'X_PAGE_SECRET': self.secret, **headers}
        return self.answer(path, status, method='POST', **given)

    def test_the_switches(self):
        for name in lab.SWITCHES:
            self.assertEqual({}, self.post(f'/page/lab/{name}', 200))
        expected = [(method, f'/control/{name}') for name, method in lab.SWITCHES.items()]
        self.assertEqual(expected, self.used)

    def test_nothing_else_of_the_control_endpoint(self):
        for path in ('/page/lab/snapshot', '/page/lab/problem', '/page/lab/../control/reset'):
            self.post(path, 405)
        for name in lab.SWITCHES:
            self.answer(f'/page/lab/{name}', 405)

    def test_other_pages(self):
        for path in (f'/page/lab/{name}' for name in lab.SWITCHES):
            for origin in ('', 'null', 'http://evil.example', 'http://127.0.0.1:1'):
                self.post(path, 403, ORIGIN=origin)
            self.post(path, 403, HOST='evil.example', ORIGIN='http://evil.example')
            self.post(path, 403, SEC_FETCH_SITE='same-site')
            for secret in ('', 'x', f'{self.secret}x', 'é'):
                self.post(path, 403, X_PAGE_SECRET=secret)
            self.answer(path, 403, method='POST', X_PAGE_SECRET=self.secret)
        self.answer('/page/lab', 403, ORIGIN='http://evil.example')
        self.assertEqual([], self.used)

    def test_other_users_of_the_machine(self):
        self.assertEqual({'is_open': True}, self.answer('/page/lab'))

    def test_a_page_without_it(self):
        self.page.lab = None
        self.assertEqual({'is_open': False}, self.answer('/page/lab'))
        for name in lab.SWITCHES:
            self.post(f'/page/lab/{name}', 405)


class TestFiles(PageTestCase):
    def files(self, kind=''):
        files = app.files()
        return {name: each.data.decode() for name, each in files.items() if name.endswith(kind)}

    def test_they_are_small(self):
        self.assertLess(sum(len(text.encode()) for text in self.files().values()), BUDGET)

    def test_nothing_comes_from_another_host(self):
        for name, text in self.files().items():
            urls = set(re.findall(r'(?:https?:)?//[a-z0-9.-]+\.[a-z]+', text))
            self.assertEqual(set(), urls - {'http://www.w3.org'}, name)

    def test_text_of_users_is_never_parsed(self):
        for name, text in self.files('.js').items():
            found = re.search(
                r'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b', text
            )
            self.assertIsNone(found, name)

    def test_the_policy_allows_what_the_page_has(self):
        text = self.files()['index.html']
        self.assertIsNone(re.search(r'<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)', text))

    def test_the_format_of_documents(self):
        found = re.search(r'^const FORMAT = (\d+);$', self.files()['main.js'], re.MULTILINE)
        self.assertEqual(document.FORMAT, int(found[1]))

    def test_references_exist(self):
        files = self.files()
        text = files['index.html']
        names = re.findall(r'(?:src|href)="/page/([^"]+)"', text)
        names += [
            name for each in files.values() for name in re.findall(r"from '\./([^']+)'", each)
        ]
        self.assertEqual(set(), set(names) - set(files))
