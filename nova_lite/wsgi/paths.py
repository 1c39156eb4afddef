"""Paths of requests, decoded in one way under all servers.

As in nova's URL map, all escapes are decoded once, `%2F` among them, and slashes that follow each
other count as one.
"""

import re
import urllib.parse

SLASHES = re.compile('/{2,}')
# How gunicorn and cheroot name what the client has sent.
SENT = ('RAW_URI', 'REQUEST_URI')


class Decoded:
    """The application inside, which finds the path in PATH_INFO."""

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        environ['PATH_INFO'] = path_of(environ)
        return self._application(environ, start_response)

    def close(self):
        """Close the application inside, if it can be closed."""
        close = getattr(self._application, 'close', None)
        if close is not None:
            close()


def path_of(environ):
    """Return the path as a WSGI string. Some servers do not show the path that was sent.

    Others pass on a target that is no path: an absolute URI, or one without a slash.
    """
    sent = next((environ[name] for name in SENT if name in environ), None)
    path = environ.get('PATH_INFO', '')
    if sent is not None and sent.startswith('/') and not environ.get('SCRIPT_NAME'):
        encoded = sent.partition('?')[0].encode('latin-1')
        path = urllib.parse.unquote_to_bytes(encoded).decode('latin-1')
    return SLASHES.sub('/', '/' + path) if path else path
