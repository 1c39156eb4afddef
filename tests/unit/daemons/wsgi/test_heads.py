"""Heads of requests: what is refused, and what servers get of the others."""

from hypothesis import given
from hypothesis import strategies as st
import testtools

from nova_lite.daemons.wsgi import heads
from tests.fixtures import examples

HOST = b'Host: x'
# What may be between the good parts of a generated head.
WRONG = st.sampled_from(
    (b'\0', b'\r', b'\n', b' ', b'\t', b':', b'_', b'%', b'%00', b'\xff', b'//', b'#', b'?', b'*')
)
TARGETS = (b'/', b'//v2.1', b'*', b'?a', b'http://h/p', b'HTTP://h', b'http:/x', b'x', b'/%2F%00')
LINES = (
    b'Host: a:1',
    b'Host:',
    b'Content-Length: 1',
    b'content-length: -1',
    b'Transfer-Encoding: chunked',
    b'Transfer-Encoding: gzip, chunked',
    b'X_Auth_Token: t',
    b'Expect: 100-continue',
    b' folded',
    b'A: b',
)


def head(*lines, target=b'/', method=b'GET', version=b'HTTP/1.1'):
    return b'\r\n'.join((b' '.join((method, target, version)), *lines))


class RefusedTest(testtools.TestCase):
    def check(self, status, *lines, **options):
        error = self.assertRaises(heads.Refused, heads.read, head(*lines, **options))
        self.assertEqual(status, int(error.status[:3]), error.text)

    def test_request_lines(self):
        for target in (
            b'',
            b'x',
            b'http:/x',
            b'ftp://x/',
            b'/a b',
            b'/a\0',
            b'/#a',
            b'*',
            b'/\x7f',
        ):
            self.check(400, HOST, target=target)
        for method in (b'', b'get', b'GE\0T', b'G T', b'\xff'):
            self.check(400, HOST, method=method)
        for version in (b'', b'HTTP/1.2', b'HTTP/2.0', b'HTTP/0.9', b'http/1.1', b'HTTP/1.1 '):
            self.check(400, HOST, version=version)

    def test_hosts(self):
        self.check(400)
        self.check(400, HOST, HOST)
        for host in (b'', b'a b', b'a/b', b'a:b', b'a:123456', b'[::1', b'u@a', b'\xff'):
            self.check(400, b'Host: ' + host)

    def test_headers(self):
        for line in (
            b'',
            b'x',
            b': x',
            b' x: y',
            b'x : y',
            b'x: \0',
            b'x: a\rb',
            b'x: a\nb',
            b'\xff: x',
        ):
            self.check(400, HOST, line)

    def test_lengths(self):
        for length in (b'', b'-1', b'+1', b'1_0', b'1, 1', b'x', b'9' * 30, '²'.encode()):
            self.check(400, HOST, b'Content-Length: ' + length)
        self.check(400, HOST, b'Content-Length: 1', b'Content-Length: 1')
        self.check(400, HOST, b'Content-Length: 1', b'Transfer-Encoding: chunked')
        for coding in (b'', b'gzip', b'gzip, chunked', b'chunked, chunked', b'identity'):
            self.check(400, HOST, b'Transfer-Encoding: ' + coding)
        self.check(400, HOST, b'Transfer-Encoding: chunked', version=b'HTTP/1.0')

    def test_limits(self):
        self.check(431, HOST, *[b'A: b'] * heads.MOST_HEADERS)
        self.check(431, HOST, b'A: ' + b'b' * heads.MOST_BYTES)
        self.check(414, HOST, target=b'/' + b'a' * heads.MOST_LINE_BYTES)
        self.check(413, HOST, b'Content-Length: %d' % (heads.BODY_LIMIT + 1))


class WrittenTest(testtools.TestCase):
    def lines(self, *lines, length=None, **options):
        return heads.read(head(*lines, **options)).written(length).split(b'\r\n')[:-2]

    def test_targets(self):
        for target, written in (
            (b'//identity//v3', b'/identity//v3'),
            (b'http://x:1//a?b=http://c', b'/a?b=http://c'),
            (b'HTTPS://x', b'/'),
            (b'http://x?a', b'/?a'),
            ('/ü?ü'.encode(), b'/%C3%BC?%C3%BC'),
            (b'/%2F%00%', b'/%2F%00%'),
        ):
            self.assertEqual([b'GET %s HTTP/1.1' % written, HOST], self.lines(HOST, target=target))
        self.assertEqual(
            [b'OPTIONS / HTTP/1.1', HOST], self.lines(HOST, target=b'*', method=b'OPTIONS')
        )

    def test_headers(self):
        self.assertEqual(
            [b'GET / HTTP/1.1', HOST, b'A-B: 1, 2', b'cookie: a; b'],
            self.lines(HOST, b'a-b:1', b'a_b: 3', b'Cookie: a', b'A-B:  2\t', b'cookie: b'),
        )

    def test_a_connection_that_is_to_be_closed(self):
        """Servers look for `close` as the only option, and kept the connection."""
        for options in (b'close, Upgrade', b'TE,CLOSE', b'Upgrade ,\tclose\t, x', b'close'):
            self.assertEqual(
                [b'GET / HTTP/1.1', HOST, b'Connection: close'],
                self.lines(HOST, b'Connection: ' + options),
            )
        self.assertEqual(
            [b'GET / HTTP/1.1', HOST, b'Connection: keep-alive, x-close'],
            self.lines(HOST, b'Connection: keep-alive, x-close'),
        )
        self.assertEqual(
            [b'GET / HTTP/1.1', HOST, b'connection: close'],
            self.lines(HOST, b'Connection: keep-alive', b'connection: close'),
        )

    def test_a_body_that_came_in_chunks(self):
        self.assertEqual(
            [b'POST / HTTP/1.1', HOST, b'Content-Length: 0'],
            self.lines(
                HOST,
                b'Expect: 100-continue',
                b'Transfer-Encoding: Chunked',
                method=b'POST',
                length=0,
            ),
        )

    @examples.settings(200)
    @given(st.data())
    def test_any_head_is_refused_or_written_without_a_second_meaning(self, data):
        parts = data.draw(
            st.lists(
                st.sampled_from((*TARGETS, *LINES, b'GET ', b' HTTP/1.1', b'\r\n', b'\r\nHost: x'))
                | WRONG
                | st.binary(max_size=4),
                max_size=12,
            )
        )
        raw = b'GET /' + b''.join(parts)
        try:
            written = heads.read(raw).written()
        except heads.Refused as error:
            self.assertEqual(b'4', error.status[:1].encode())
            return
        line, *lines = written.split(b'\r\n')[:-2]
        self.assertRegex(line, rb'^[A-Z]+ /[\x21-\x7e]* HTTP/1\.[01]$')
        names = [each.partition(b':')[0].lower() for each in lines]
        self.assertEqual(len(set(names)), len(names))
        self.assertFalse({b'content-length', b'transfer-encoding'} <= set(names))
        # Read again, it is the same.
        self.assertEqual(written, heads.read(written[:-4]).written())
