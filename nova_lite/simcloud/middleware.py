"""Middleware that sets the id, the service and the caller of every request.

Requests carry a token of our own identity service. With auth 'noauth', the headers that
keystonemiddleware would set are believed as well.
"""

import dataclasses
import re

import falcon

from nova_lite import runtime
from nova_lite.simcloud import caller
from nova_lite.simcloud import faults
from nova_lite.simcloud import options
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import tokens as token_store

# Paths that clients may request without a token: version documents.
PUBLIC = re.compile(
    r'/(identity(/v3)?|image(/versions|/v2)?|network(/v2\.0)?|volume(/v3)?|share(/v2)?)/?'
)
IDENTITY = 'identity'
LOGIN = '/identity/v3/auth/tokens'
# A host, and a port if there is one, as in a URL.
AUTHORITY = re.compile(r'([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?', re.ASCII)
REFUSED = 'The request you have made requires authentication.'


class Identify:
    """Sets req.context: request_id, service, public_url and caller.

    routes: those of the services
    """

    def __init__(
        self,
        tokens: token_store.Tokens,
        catalog: catalogs.Catalog,
        settings: options.Options,
        *,
        public_url: str,
        routes: routing.Router,
    ) -> None:
        self._tokens = tokens
        self._catalog = catalog
        self._noauth = settings.auth == options.NOAUTH
        self._public_url = public_url
        self._routes = routes
        # Not followed by characters of a longer host or port.
        self._addresses = re.compile(re.escape(public_url).encode() + rb'(?![\w.:-])')
        self._internal_url = (settings.internal_url or '').rstrip('/')
        self._by_request = settings.urls_by_request

    def _base_url(self, req: web.Request) -> str:
        """Return the base URL for links: the internal or a public one, depending on the request."""
        if self._internal_url and req.prefix == self._internal_url:
            return self._internal_url
        if self._by_request and AUTHORITY.fullmatch(req.netloc):
            return f'{req.scheme}://{req.netloc}'
        return self._public_url

    def process_request(self, req: web.Request, resp: falcon.Response) -> None:
        context = req.context
        context.request_id = runtime.new_request_id()
        context.service = req.path.split('/', 2)[1]
        context.public_url = self._base_url(req)
        resp.set_header('X-Openstack-Request-Id', context.request_id)
        if self._is_public(req) or self._is_missing(req):
            return
        asking = self._caller_of(req)
        # Glance's policies do not name the role `service`.
        context.caller = asking.without_service() if context.service == 'image' else asking

    def process_response(
        self,
        req: web.Request,
        resp: falcon.Response,
        resource: object,
        req_succeeded: bool,
    ) -> None:
        """Replace the public URL in the catalog by the base URL of the request."""
        context = req.context
        if not self._by_request or context.service != IDENTITY:
            return
        if context.public_url not in (self._public_url, self._internal_url):
            body = resp.render_body()
            if body:
                resp.text = None
                address = context.public_url.encode()
                resp.data = self._addresses.sub(lambda _found: address, body)

    @staticmethod
    def _is_public(req: web.Request) -> bool:
        if req.path == LOGIN and req.method == 'POST':
            return True
        return PUBLIC.fullmatch(req.path) is not None and req.method in ('GET', 'HEAD')

    def _is_missing(self, req: web.Request) -> bool:
        """Return whether the request gets 404 without a token, as Keystone does it."""
        return req.context.service == IDENTITY and self._routes.find(req.path) is None

    def _caller_of(self, req: web.Request) -> caller.Caller:
        user_id = req.get_header('X-User-Id') if self._noauth else None
        if user_id:
            return caller.Caller(
                user_id=user_id,
                project_id=req.get_header('X-Project-Id') or req.get_header('X-Tenant-Id'),
                roles=_roles(req, 'X-Roles'),
                vouched=self._is_from_service(req),
            )
        secret = req.get_header('X-Auth-Token')
        vouched = self._is_from_service(req)
        token = secret and self._tokens.validate(secret, allow_expired=vouched)
        if not token:
            raise self._unauthorized()
        if token.access_rules and not vouched and not access_rules.permit(token.access_rules, req):
            raise self._unauthorized()
        return dataclasses.replace(token.caller, vouched=vouched) if vouched else token.caller

    def _is_from_service(self, req: web.Request) -> bool:
        """Return whether a service has sent its own token along, so the user's may be expired.

        Raise Unauthorized for an invalid service token, as keystonemiddleware does.
        """
        if self._noauth and caller.SERVICE in _roles(req, 'X-Service-Roles'):
            return True
        secret = req.get_header('X-Service-Token')
        if not secret:
            return False
        token = self._tokens.validate(secret)
        if not token:
            raise self._unauthorized()
        return caller.SERVICE in token.caller.roles

    def _unauthorized(self) -> faults.Unauthorized:
        return faults.Unauthorized(
            REFUSED, headers={'WWW-Authenticate': f'Keystone uri="{self._catalog.identity_url}"'}
        )


def _roles(req: web.Request, header: str) -> frozenset[str]:
    roles = (req.get_header(header) or '').split(',')
    return frozenset(role.strip().lower() for role in roles if role.strip())
