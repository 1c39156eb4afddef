"""The WSGI application of the metadata service.

GET and HEAD read a document; POST records the password that a guest has encrypted, once.
Errors are plain text, because guests show them in their logs.
"""

from collections.abc import Callable
from collections.abc import Iterable
import http
import typing
import urllib.parse

from oslo_config import cfg
from oslo_log import log

from nova_lite import exception
from nova_lite.db.cell import guest_passwords
from nova_lite.metadata import instance_metadata
from nova_lite.metadata import vendor_services
from nova_lite.metadata.service import callers
from nova_lite.metadata.service import pages
from nova_lite.metadata.service import servers as servers_module

LOG = log.getLogger(__name__)

STATUSES = {
    'invalid': http.HTTPStatus.BAD_REQUEST,
    'forbidden': http.HTTPStatus.FORBIDDEN,
    'not_found': http.HTTPStatus.NOT_FOUND,
    'bad_method': http.HTTPStatus.METHOD_NOT_ALLOWED,
    'conflict': http.HTTPStatus.CONFLICT,
    'unavailable': http.HTTPStatus.SERVICE_UNAVAILABLE,
}
READING = ('GET', 'HEAD')
Environ: typing.TypeAlias = dict[str, typing.Any]


class BadMethod(exception.NovaLiteError):
    kind = 'bad_method'
    msg = 'Method %(method)s is not allowed for %(path)s'


class Application:
    """Answers requests."""

    def __init__(self, conf: cfg.ConfigOpts, servers: servers_module.Servers) -> None:
        self._conf, self._servers = conf, servers
        # Half of the threads stay free for other documents.
        self._services = vendor_services.Services(conf, most=max(1, conf.metadata.threads // 2))

    def __call__(self, environ: Environ, start_response: Callable[..., object]) -> Iterable[bytes]:
        try:
            status, page = self._answer(environ)
        except Exception:
            # The HTTP server answers with 500.
            LOG.exception('Unexpected error in a request for metadata')
            raise
        LOG.info(
            '"%s %s" for server %s: status: %s',
            environ['REQUEST_METHOD'],
            urllib.parse.quote(environ.get('PATH_INFO', ''), encoding='latin-1'),
            environ.get('HTTP_X_INSTANCE_ID'),
            status.value,
        )
        headers = [('Content-Type', page.kind), ('Content-Length', str(len(page.body)))]
        if status is http.HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append(('Allow', ', '.join(_allowed(_parts(environ)))))
        start_response(f'{status.value} {status.phrase}', headers)
        return [b'' if environ['REQUEST_METHOD'] == 'HEAD' else page.body]

    def _answer(self, environ: Environ) -> tuple[http.HTTPStatus, pages.Page]:
        try:
            return http.HTTPStatus.OK, self._page(environ)
        except exception.NovaLiteError as error:
            status = STATUSES.get(error.kind)
            if status is None:
                raise
            if status is http.HTTPStatus.SERVICE_UNAVAILABLE:
                LOG.warning('Cannot answer a request for metadata: %s', error)
            return status, pages.Page(error.message.encode())

    def _page(self, environ: Environ) -> pages.Page:
        parts, method = _parts(environ), environ['REQUEST_METHOD']
        if method not in _allowed(parts):
            raise BadMethod(method=method, path='/' + '/'.join(parts))
        if not parts:
            return pages.root()
        caller = callers.identify(self._conf, environ)
        server = self._servers.get(caller.instance_id, caller.project_id)
        if method == 'POST':
            self._servers.store_password(server, _password(environ))
            return pages.Page(b'')
        return pages.find(
            parts,
            instance_metadata.gather(
                self._conf, server.instance, server.block_devices, services=self._services
            ),
            guest_passwords.of(server.row),
            address=caller.address,
        )


def _parts(environ: Environ) -> list[str]:
    return pages.split(environ.get('PATH_INFO', ''))


def _allowed(parts: list[str]) -> tuple[str, ...]:
    return (*READING, 'POST') if pages.is_password(parts) else READING


def _password(environ: Environ) -> str:
    """Return the password in the body of a request. Raise Invalid."""
    limit = guest_passwords.LENGTH
    given = environ.get('CONTENT_LENGTH') or '0'
    if not given.isdecimal():
        raise exception.Invalid('Header Content-Length is not a number.')
    length = int(given)
    if length > limit:
        raise exception.Invalid(f'Request is too large: password has more than {limit} bytes.')
    raw: bytes = environ['wsgi.input'].read(length)
    if len(raw) < length:
        raise exception.Invalid('Request is incomplete: the connection ended within password.')
    try:
        password = raw.decode('ascii')
    except UnicodeDecodeError:
        password = ''
    if not password.strip() or not all(c.isprintable() or c in '\r\n\t' for c in password):
        raise exception.Invalid('password must be a text of ASCII characters.')
    return password
