"""Paths of requests, decoded in one way under all servers.

As in nova's URL map, all escapes are decoded once, `%2F` among them, and slashes that follow each
other count as one.
"""

from collections.abc import Iterable
import re
import urllib.parse
from wsgiref import types as wsgi

from nova_lite.daemons.wsgi import answers

SLASHES = re.compile('/{2,}')
# Keys of the target as the client has sent it, in the environments of gunicorn and cheroot.
SENT = ('RAW_URI', 'REQUEST_URI')


class Decoded(answers.Layer):
    """A layer that puts the decoded path into PATH_INFO."""

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        environ['PATH_INFO'] = path_of(environ)
        return self._application(environ, start_response)


def path_of(environ: wsgi.WSGIEnvironment) -> str:
    """Return the path of a request as a WSGI string.

    PATH_INFO serves where the server does not show the target that the client has sent, or shows
    a target that is no path: an absolute URI, or a target without a slash.
    """
    sent = next((environ[name] for name in SENT if name in environ), None)
    path: str = environ.get('PATH_INFO', '')
    if sent is not None and sent.startswith('/') and not environ.get('SCRIPT_NAME'):
        encoded = sent.partition('?')[0].encode('latin-1')
        path = urllib.parse.unquote_to_bytes(encoded).decode('latin-1')
    return SLASHES.sub('/', '/' + path) if path else path
