"""Request: the call that a handler answers, with its caller and its microversion."""

import typing
import urllib.parse

import falcon
from oslo_config import cfg

from nova_lite import context
from nova_lite import exception
from nova_lite.api import app as state
from nova_lite.api import faults
from nova_lite.api import microversion
from nova_lite.dialects import storable

# So many lists and objects may be in each other in a body.
LEVELS = 100
# So many characters of a parser's message are shown.
SHOWN = 200
BODY_TYPES = ('application/json', 'application/vnd.openstack.compute+json')


# The object of a rule: its project and user, as policies.Enforcer takes it.
Target: typing.TypeAlias = dict[str, typing.Any] | None


class Request:
    """One API call.

    ctxt: who asks; version, minor: the microversion as a tuple and as a number
    body: the decoded body; params: {query name: [values]}; args: parts of the path
    app: everything the API works with (databases, cells, clients, ...)
    legacy: the call came by the URLs of v2.0
    quota_rules: {project: its rules}, see quota.rules
    """

    __slots__ = (
        '_http',
        '_root',
        'app',
        'args',
        'body',
        'ctxt',
        'legacy',
        'minor',
        'operation',
        'params',
        'quota_rules',
        'version',
    )

    def __init__(
        self,
        http: falcon.Request,
        app: state.App,
        ctxt: context.RequestContext,
        version: microversion.Version,
        *,
        legacy: bool = False,
    ) -> None:
        self._http = http
        self._root: str | None = None
        self.app = app
        self.ctxt = ctxt
        self.version = version
        self.minor: int = version.minor
        self.legacy = legacy
        self.operation: typing.Any = None
        self.args: dict[str, str] = {}
        self.body: typing.Any = None
        self.params: dict[str, list[str]] = {}
        self.quota_rules: dict[str, typing.Any] = {}

    @property
    def conf(self) -> cfg.ConfigOpts:
        return self.app.conf

    @property
    def content(self) -> typing.Any:
        """Return the content of the body's one key: {"server": content}."""
        return next(iter(self.body.values()))

    @property
    def project_id(self) -> str:
        """Return the caller's project. Raise Forbidden for a token without a project."""
        if self.ctxt.project_id is None:
            raise exception.Forbidden('The token has no project.')
        return self.ctxt.project_id

    @property
    def user_id(self) -> str:
        """Return the user, without whom a request is not authenticated."""
        return typing.cast(str, self.ctxt.user_id)  # see authentication.context_of

    def param(self, name: str) -> str | None:
        """Return the last value of a query parameter, or None."""
        values = self.params.get(name)
        return values[-1] if values else None

    def first(self, name: str) -> str | None:
        """Return the first value of a query parameter, or None."""
        values = self.params.get(name)
        return values[0] if values else None

    def allows(self, rule: str, target: Target = None) -> bool:
        """Return whether a rule allows the caller. target: as for Enforcer.allows"""
        return self.app.policy.allows(self.ctxt, rule, target)

    def authorize(self, rule: str, target: Target = None) -> None:
        """Raise PolicyNotAuthorized unless the caller may."""
        self.app.policy.authorize(self.ctxt, rule, target)

    @property
    def root(self) -> str:
        """Scheme, host and mount point, as links must have them; no slash at the end."""
        if self._root is None:
            self._root = self.app.conf.api.compute_link_prefix or self._http.prefix
        return self._root

    @property
    def path(self) -> str:
        """Return the URL's path below the mount point, quoted, as links need it."""
        return urllib.parse.quote(self._http.path)

    @property
    def query_string(self) -> str:
        return self._http.query_string


def read_body(http: falcon.Request, limit: int) -> typing.Any:
    """Return the decoded JSON body, None when there is none.

    Raise TooLarge, UnsupportedContentType or MalformedBody.
    """
    length = http.content_length
    if length is not None and length > limit:
        raise faults.TooLarge()
    kind = (http.content_type or '').split(';')[0].strip().lower()
    if kind not in ('', 'text/plain', *BODY_TYPES):
        raise faults.UnsupportedContentType()
    # Servers that decode chunks themselves give no length.
    ends = length is None and http.env.get('wsgi.input_terminated')
    raw = (http.stream if ends else http.bounded_stream).read(limit + 1)
    if len(raw) > limit:
        raise faults.TooLarge()
    if not raw:
        return None
    return decode(raw)


def decode(raw: bytes) -> typing.Any:
    """JSON bytes to a value that any database can store; raises MalformedBody."""
    try:
        return storable.decode(raw, levels=LEVELS)
    except ValueError as error:
        raise faults.MalformedBody(reason=str(error)[:SHOWN]) from error


def decode_query(http: falcon.Request) -> dict[str, list[str]]:
    """Return {name: [values]} of the query string. Raise MalformedUrl if it is no text."""
    if not http.query_string:
        return {}
    params = {}
    for name, value in http.params.items():
        values = value if isinstance(value, list) else [value]
        for text in (name, *values):
            if '\x00' in text:
                raise faults.MalformedUrl(reason='its query has the character NUL (%00)')
            if '\ufffd' in text and not _is_text(http.query_string):
                raise faults.MalformedUrl(reason='its query is not UTF-8')
        params[name] = values
    return params


def _is_text(query: str) -> bool:
    try:
        urllib.parse.unquote_to_bytes(query).decode()
    except UnicodeDecodeError:
        return False
    return True
