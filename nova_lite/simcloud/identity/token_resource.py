"""/v3/auth: creation, validation, exchange and revocation of tokens."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import application_credentials
from nova_lite.simcloud.identity import authentication
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import lockout
from nova_lite.simcloud.identity import projects
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import tokens as token_store
from nova_lite.simcloud.identity import views

APPLICATION = 'application_credential'


def _body(token: token_store.Token, req: web.Request) -> bytes:
    nocatalog = 'nocatalog' in req.params
    return token.body_without_catalog if nocatalog else token.body


class TokenResource:
    """Requests to create, validate and revoke a token."""

    def __init__(
        self,
        db: database.Database,
        tokens: token_store.Tokens,
        catalog: catalogs.Catalog,
        passwords: lockout.Passwords,
    ) -> None:
        self._db = db
        self._tokens = tokens
        self._catalog = catalog
        self._passwords = passwords

    def on_post_tokens(self, req: web.Request, resp: falcon.Response) -> None:
        auth = bodies.read(req, authentication.REQUEST, 'auth', limit=bodies.UNKNOWN_LIMIT_BYTES)
        user, methods, parent, scope = self._authenticate(auth['identity'])
        if scope is None:
            with self._db.read() as conn:
                scope = authentication.scope_of(conn, auth, user)
        elif auth.get('scope'):
            raise authentication.refused()  # the scope follows from the credential
        secret, token = self._db.change(
            self._tokens.issue, user['id'], methods=methods, scope=scope, parent=parent
        )
        if token is None:
            raise authentication.refused()
        resp.status = falcon.HTTP_201
        resp.set_header('X-Subject-Token', secret)
        resp.data = _body(token, req)

    def _authenticate(
        self, identity: database.Row
    ) -> tuple[database.Row, list[str], database.Row | None, tuple[str, str] | None]:
        """Return (user, methods, row of the parent token, scope of the credential or None)."""
        methods = identity['methods']
        for method in methods:
            if method not in identity:
                raise faults.BadRequest(f'auth.identity.{method} is missing.')
        if methods == ['password'] and 'password' in identity:
            return self._by_password(identity['password']['user']), methods, None, None
        with self._db.read() as conn:
            if methods == [APPLICATION] and APPLICATION in identity:
                user, row = application_credentials.by_secret(conn, identity[APPLICATION])
                return user, methods, None, (tables.CREDENTIAL, row['id'])
            if methods == ['token'] and 'token' in identity:
                token = self._tokens.validate(identity['token']['id'])
                if token is None:
                    raise faults.NotFound('Could not find token.')
                if token.caller.trust_id:
                    raise faults.Forbidden(
                        f'{caller.NOT_ALLOWED} (a token of a trust is not exchanged for another)'
                    )
                user = database.get(conn, tables.users, id=token.caller.user_id)
                scope = (token.row['scope_kind'], token.row['scope_id'])
                bound = scope if scope[0] == tables.CREDENTIAL else None
                return user, sorted({'token', *token.row['methods']}), token.row, bound
        raise authentication.refused()

    def _by_password(self, reference: database.Row) -> database.Row:
        """Return the user that a reference with a right password names. Raise Unauthorized."""
        with self._db.read() as conn:
            user = authentication.user_of(conn, reference)
        if not self._passwords.match(user, reference['password']) or user is None:
            raise authentication.refused()
        return user

    def _subject(self, req: web.Request) -> tuple[str, token_store.Token]:
        """Return (secret, token) of the X-Subject-Token header. Raise Forbidden or NotFound."""
        secret = req.get_header('X-Subject-Token')
        if not secret:
            raise faults.NotFound('The X-Subject-Token header is missing.')
        allow_expired = req.get_param_as_bool('allow_expired', blank_as_true=True) or False
        token = self._tokens.validate(secret, allow_expired=allow_expired)
        asks = req.context.caller
        is_own = token is not None and token.caller.user_id == asks.user_id
        if not asks.is_privileged and not is_own:
            raise faults.Forbidden(caller.NOT_ALLOWED)
        if token is None:
            raise faults.NotFound(f'Could not find token: {secret[:8]}….')
        if token.access_rules and not access_rules.understood(req):
            raise faults.NotFound('Failed to validate token')
        return secret, token

    def on_get_tokens(self, req: web.Request, resp: falcon.Response) -> None:
        secret, token = self._subject(req)
        resp.set_header('X-Subject-Token', secret)
        resp.data = _body(token, req)

    def on_head_tokens(self, req: web.Request, resp: falcon.Response) -> None:
        self.on_get_tokens(req, resp)

    def on_delete_tokens(self, req: web.Request, resp: falcon.Response) -> None:
        secret, _ = self._subject(req)
        self._db.change(self._tokens.revoke, secret)
        resp.status = falcon.HTTP_204

    def on_get_catalog(self, req: web.Request, resp: falcon.Response) -> None:
        asks = req.context.caller
        if asks.project_id is None:
            raise faults.Forbidden('A project-scoped token is required for a service catalog.')
        with self._db.read() as conn:
            found = self._catalog.for_token(conn, asks.user_id, asks.project_id)
        resp.media = {'catalog': found, 'links': views.links(req, 'auth/catalog')}

    def on_get_projects(self, req: web.Request, resp: falcon.Response) -> None:
        with self._db.read() as conn:
            found = grants.enabled_targets(conn, req.context.caller.user_id, tables.projects)
            resp.media = projects.RESOURCE.collection(conn, req, found)

    def on_get_domains(self, req: web.Request, resp: falcon.Response) -> None:
        with self._db.read() as conn:
            found = grants.enabled_targets(conn, req.context.caller.user_id, tables.domains)
            resp.media = domains.RESOURCE.collection(conn, req, found)
