"""One port for all services: a dispatcher by path prefix.

What stands behind a prefix is an application of this process, or a proxy to the
process that serves it. The prefixes are devstack's.
"""

import json

import urllib3

HOP_BY_HOP = frozenset(
    (
        'connection',
        'keep-alive',
        'proxy-authenticate',
        'proxy-authorization',
        'te',
        'trailers',
        'transfer-encoding',
        'upgrade',
        'content-encoding',
        'content-length',
    )
)


class Front:
    """routes: {'/prefix': WSGI application}; strips the prefix into SCRIPT_NAME.

    keep: prefixes whose applications want to see the whole path
    """

    def __init__(self, routes, keep=()):
        self.routes, self.keep = dict(routes), frozenset(keep)

    def __call__(self, environ, start_response):
        path = environ.get('PATH_INFO', '')
        prefix = '/' + path.lstrip('/').split('/', 1)[0]
        application = self.routes.get(prefix)
        if application is None:
            body = json.dumps({'services': sorted(self.routes)}).encode()
            status = '200 OK' if path in ('', '/') else '404 Not Found'
            start_response(
                status, [('Content-Type', 'application/json'), ('Content-Length', str(len(body)))]
            )
            return [body]
        if prefix not in self.keep:
            environ['SCRIPT_NAME'] = environ.get('SCRIPT_NAME', '') + prefix
            environ['PATH_INFO'] = path[len(prefix) :]
        return application(environ, start_response)


class Proxy:
    """Hands a request on to the process at `url` and its answer back."""

    def __init__(self, url, *, timeout_s=120):
        self.url = url.rstrip('/')
        self._pool = urllib3.PoolManager(maxsize=32, timeout=timeout_s, retries=False)

    def __call__(self, environ, start_response):
        length = int(environ.get('CONTENT_LENGTH') or 0)
        body = environ['wsgi.input'].read(length) if length else None
        target = self.url + environ.get('SCRIPT_NAME', '') + environ.get('PATH_INFO', '')
        if environ.get('QUERY_STRING'):
            target += '?' + environ['QUERY_STRING']
        try:
            answer = self._pool.request(
                environ['REQUEST_METHOD'],
                target,
                body=body,
                headers=_headers(environ),
                redirect=False,
                decode_content=False,
            )
        except urllib3.exceptions.HTTPError:
            text = b'{"error": {"code": 503, "message": "The service does not answer."}}'
            start_response(
                '503 Service Unavailable',
                [('Content-Type', 'application/json'), ('Content-Length', str(len(text)))],
            )
            return [text]
        headers = [
            (name, value)
            for name, value in answer.headers.items()
            if name.lower() not in HOP_BY_HOP
        ]
        headers.append(('Content-Length', str(len(answer.data))))
        start_response(f'{answer.status} {answer.reason or ""}', headers)
        return [answer.data]


def _headers(environ):
    headers = {
        name[5:].replace('_', '-').title(): value
        for name, value in environ.items()
        if name.startswith('HTTP_') and name != 'HTTP_CONNECTION'
    }
    if environ.get('CONTENT_TYPE'):
        headers['Content-Type'] = environ['CONTENT_TYPE']
    return headers
