"""Texts of errors, without the words of the library that sends requests."""

import requests
import testtools

from nova_lite import exception
from nova_lite.lab.console import messages

POOL = "HTTPConnectionPool(host='127.0.0.1', port=1): Max retries exceeded with url: /v3"
REFUSED = f"""{POOL} (Caused by NewConnectionError("...: [Errno 111] Connection refused"))"""
TEXTS = (
    (f'Unable to connect to http://x: {REFUSED}', 'Unable to connect to http://x: connection refused'),
    (REFUSED, 'connection refused'),
    (f'{POOL} (Caused by ReadTimeoutError("Read timed out."))', 'timed out'),
    (f'Not now: {POOL.replace("HTTP", "HTTPS")}', 'Not now: no answer'),
    (
        "http://x: ('Connection aborted.', RemoteDisconnected('Remote end closed connection'))",
        'http://x: closed connection',
    ),
    ("https://x: HTTPSConnectionPool(... '[SSL: CERTIFICATE_VERIFY_FAILED] ...", 'https://x: certificate verify failed'),
    ('No host is valid', 'No host is valid'),
)  # fmt: skip


class MessagesTest(testtools.TestCase):
    def test_of_clients(self):
        for text, expected in TEXTS:
            self.assertEqual(expected, messages.of_clients(text))

    def test_errors(self):
        error = exception.Unavailable(service='Compute API', reason=f'http://x: {REFUSED}')
        self.assertEqual(
            'Compute API is not available: http://x: connection refused', messages.of(error)
        )
        self.assertEqual(
            'A service of the cloud does not answer: connection refused',
            messages.of_library(requests.ConnectionError(REFUSED)),
        )
