"""Calls to a neighbour service: the identity of the caller, the connections and the retries.

A call is made with our own credentials, those of the service's group, or in the name of the user of
the request, with the user's token. If the user's context has no token (periodic tasks, a saga taken
over after a restart), our own credentials are used. An object that must belong to the user's
project is then created with a token of ours for that project. With auth_type `none` the caller
sends the headers that keystonemiddleware would set.
"""

from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import functools
import logging
import re
import typing
import urllib.parse

from keystoneauth1 import exceptions
from keystoneauth1 import noauth
import requests
import urllib3

from nova_lite import context
from nova_lite import exception
from nova_lite import incarnation
from nova_lite import metrics
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import connections
from nova_lite.clients import responses
from nova_lite.clients import waits as waiting

LOG = logging.getLogger(__name__)

Ctxt: typing.TypeAlias = context.RequestContext
# Objects of JSON as services return them, and lists of these.
Json: typing.TypeAlias = dict[str, typing.Any]
Jsons: typing.TypeAlias = list[Json]
# Plain values by name, which are only read.
Fields: typing.TypeAlias = Mapping[str, typing.Any]
# {name: value}; a header with the value None is not sent.
Headers: typing.TypeAlias = Mapping[str, str | None]
# A class of errors or a function that makes one; see `raising`.
Raising: typing.TypeAlias = Callable[..., exception.NovaLiteError]
Errors: typing.TypeAlias = Mapping[int, 'Raising | ByType | None']
AsUser: typing.TypeAlias = bool | typing.Literal['project']

OURSELVES = {
    'X-User-Id': 'nova',
    'X-Project-Id': 'service',
    'X-Roles': 'admin,service',
    'X-Service-Roles': 'service',
    'X-Auth-Token': 'nova:service',
}
PROJECT: typing.Final = 'project'
READING = ('GET', 'HEAD')
REPEATABLE = ('GET', 'HEAD', 'PUT', 'DELETE')
MAX_PAUSE_S = 3.0
MAX_ID = 255
SCOPES_KEPT = 64  # plugins for projects
NO_IDENTITY = (exceptions.DiscoveryFailure, exceptions.HttpServerError)
VERSION = re.compile(r'/v\d+(\.\d+)?(/.*)?$')


def raising(error: Raising, **kwargs: object) -> Raising:
    """Return an entry of `errors` that raises `error` with these arguments and the reason."""
    return functools.partial(error, **kwargs)


def verbatim(error: type[exception.NovaLiteError]) -> Raising:
    """Return an entry of `errors` that raises `error` with the reason as its whole message."""

    def made(reason: str) -> exception.NovaLiteError:
        return error(reason)

    return made


@dataclasses.dataclass(frozen=True)
class ByType:
    """An entry of `errors` that depends on the type of the network service's error."""

    types: Mapping[str, Raising]
    otherwise: Raising


def or_quota(otherwise: Raising) -> ByType:
    """Return an entry of `errors` for a conflict of the network service that may be a quota."""
    return ByType({'OverQuota': verbatim(exception.OverQuota)}, otherwise)


def segment(value: str, missing: Raising) -> str:
    """Return an id quoted as a part of a path.

    Ids come from users. For a text that cannot be an id, raise `missing`.
    """
    if value in ('', '.', '..') or len(value) > MAX_ID:
        raise missing()
    return urllib.parse.quote(value, safe='')


class Neighbour:
    """One service, called by REST.

    title:        the service's name in messages
    version:      path of the API version, such as /v2.0; '' where there is none
    microversion: value of the header with this name, such as 'placement 1.36'
    own_vouched:  send a service token with our own calls too, for a service that requires one even
                  of service users
    """

    def __init__(
        self,
        credentials: auth.Credentials,
        group: str,
        *,
        title: str,
        version: str = '',
        microversion: str | None = None,
        own_vouched: bool = False,
    ) -> None:
        self.title = title
        self.version = version
        self.microversion = microversion
        self.options = credentials.conf[group]
        self.auth = credentials.of(group)
        self.session = connections.open_session(self.options, self.auth)
        self.trusting = isinstance(self.auth, noauth.NoAuth)
        self.voucher = None if self.trusting else credentials.vouching()
        self.own_voucher = None
        if own_vouched and not self.trusting and credentials.sends_service_tokens():
            self.own_voucher = self.voucher or self.auth
        self._incarnation = incarnation.current()
        self._base: str | None = None
        self._in_project = functools.lru_cache(SCOPES_KEPT)(
            lambda project_id: credentials.of(group, project_id=project_id)
        )

    def call(
        self,
        ctxt: Ctxt,
        method: str,
        path: str,
        *,
        as_user: AsUser = False,
        errors: Errors | None = None,
        **request: typing.Any,
    ) -> requests.Response:
        """Send one request and return the response.

        path:    below the API version
        as_user: call in the user's name if the context has a token, otherwise in ours; PROJECT:
                 otherwise in ours in the user's project, or raise Forbidden
        errors:  {status: error}, see `raising`; None: return the response. For other statuses from
            400 on the error depends on the status
        request: json, data, headers, params, timeout, stream as in requests;
                 once: do not send again if the service does not answer
        """
        headers = {'Accept': 'application/json', 'X-OpenStack-Request-ID': ctxt.global_id}
        if self.microversion is not None:
            headers['OpenStack-API-Version'] = self.microversion
        headers.update(request.pop('headers', {}))

        def identify() -> Headers:
            found = self._identity(ctxt, as_user)
            # As late as possible, because getting a token may take long.
            if ctxt.guard is not None and method not in READING:
                ctxt.guard()
            metrics.REQUESTS.labels(self.title, method).inc()
            return found

        waits = waiting.Waits(ctxt.waited, self.title, self.options.timeout)
        send = functools.partial(self._send, waits, method, path)
        response = send(headers=headers, identify=identify, **request)
        for_project = as_user == PROJECT and not self.has_user(ctxt)
        if response.status_code == 401 and self._forget_tokens(response, request, for_project):
            response.close()
            response = send(headers=headers, identify=identify, **request)
        if response.status_code >= 400:
            self._refuse(response, errors or {}, as_user=as_user)
        return response

    def get(self, ctxt: Ctxt, path: str, **options: typing.Any) -> Json:
        """Send a GET and return the decoded body; see `call`."""
        body: Json = self.call(ctxt, 'GET', path, **options).json()
        return body

    def has_user(self, ctxt: Ctxt) -> bool:
        """Return whether a call can be made in the user's name.

        A context from records has neither a token nor roles.
        """
        return bool(ctxt.user_id and ctxt.roles if self.trusting else ctxt.auth_token)

    def _identity(self, ctxt: Ctxt, as_user: AsUser) -> Headers:
        """Return the headers with the caller's identity; none if keystoneauth1 adds our token."""
        if as_user == PROJECT and not self.has_user(ctxt):
            return self._ours_in(ctxt.project_id)
        if not as_user or not self.has_user(ctxt):
            if self.own_voucher is not None:
                return {'X-Service-Token': self.own_voucher.get_token(self.session)}
            return OURSELVES if self.trusting else {}
        if self.trusting:
            return {
                'X-User-Id': ctxt.user_id,
                'X-Project-Id': ctxt.project_id or '',
                'X-Roles': ','.join(ctxt.roles),
                'X-Auth-Token': f'{ctxt.user_id}:{ctxt.project_id}',
            }
        headers = {'X-Auth-Token': ctxt.auth_token}
        if self.voucher is not None:
            headers['X-Service-Token'] = self.voucher.get_token(self.session)
        return headers

    def _forget_tokens(
        self, response: requests.Response, request: Mapping[str, object], for_project: bool
    ) -> bool:
        """Drop our tokens of a request with the answer 401. Return whether to send it again.

        The tokens may have been revoked. keystoneauth1 replaces only the token that it sends
        itself.
        for_project: whether the request had our token for the user's project
        """
        if not _is_repeatable(request):
            return False
        if for_project:
            self._in_project.cache_clear()
            return True
        sent = response.request.headers.get('X-Service-Token')
        if sent is None:
            return False
        try:
            for plugin in (self.voucher, self.own_voucher):
                # Another thread may have a new token already.
                if plugin is not None and plugin.get_token(self.session) == sent:
                    plugin.invalidate()
        except exceptions.ClientException as error:
            raise self._unavailable(error) from error
        return True

    def _ours_in(self, project_id: str | None) -> Headers:
        """Return headers with our own identity in another project. Raise Forbidden."""
        if not project_id:
            raise exception.Forbidden('The request context has neither a user nor a project.')
        if self.trusting:
            token = f'{OURSELVES["X-User-Id"]}:{project_id}'
            return {**OURSELVES, 'X-Project-Id': project_id, 'X-Auth-Token': token}
        try:
            return {'X-Auth-Token': self._in_project(project_id).get_token(self.session)}
        except (exceptions.Unauthorized, exceptions.Forbidden) as error:
            raise exception.Forbidden(
                "The user's token is not available, and the service user has no role in project "
                f'{project_id} to do this without it.'
            ) from error

    def endpoint(self) -> str:
        """Return the URL of the service, without the version that the catalog may have."""
        if self._base is None:
            base: str | None = self.options.endpoint_override or self.session.get_endpoint(
                self.auth,
                service_type=self.options.service_type,
                interface=self.options.valid_interfaces,
                region_name=self.options.region_name,
            )
            if not base:
                raise exceptions.EndpointNotFound(
                    f'no {self.options.service_type} in the service catalog'
                )
            self._base = VERSION.sub('', base.rstrip('/'))
        return self._base

    def _send(
        self,
        waits: waiting.Waits,
        method: str,
        path: str,
        *,
        headers: Headers,
        identify: Callable[[], Headers],
        once: bool = False,
        **request: typing.Any,
    ) -> requests.Response:
        """Send a request, and repeat it while that is safe and may help, unless `once`.

        identify: function that returns the headers of the caller's identity, or raises
        """
        repeatable = method in REPEATABLE and _is_repeatable(request)
        attempt = self.options.connect_retries if once else 0
        while True:
            last = attempt >= self.options.connect_retries or waits.are_over()
            try:
                with self._incarnation.passing():
                    sent = {**identify(), **headers}
                    response = waits.send(
                        self.session,
                        self.endpoint() + self.version + path,
                        method,
                        headers=sent,
                        raise_exc=False,
                        authenticated='X-Auth-Token' not in sent,
                        **request,
                    )
            except (exceptions.ConnectFailure, exceptions.UnknownConnectionError) as error:
                is_safe = repeatable and not isinstance(error, exceptions.ConnectTimeout)
                if last or not (is_safe or _never_arrived(error)):
                    raise self._unavailable(error) from error
                reason: object = error
            except NO_IDENTITY as error:
                # Keystone did not give us a token, so nothing was sent.
                if last:
                    raise self._unavailable(error) from error
                reason = error
            except exceptions.ClientException as error:
                raise self._unavailable(error) from error
            else:
                # A proxy may answer so although the service has carried out the request.
                if response.status_code != 503 or last or not repeatable:
                    return response
                reason = 'it answered 503'
            self._pause(attempt, reason)
            attempt += 1

    def _pause(self, attempt: int, reason: object) -> None:
        pause_s = min(self.options.connect_retry_delay * 2**attempt, MAX_PAUSE_S)
        pause_s *= runtime.random().uniform(0.5, 1)
        LOG.warning('%s does not answer (%s). Retrying in %.1f s.', self.title, reason, pause_s)
        runtime.sleep(pause_s)

    def _unavailable(self, error: Exception) -> exception.Unavailable:
        return exception.Unavailable(service=self.title, reason=error)

    def _refuse(self, response: requests.Response, errors: Errors, *, as_user: AsUser) -> None:
        """Raise the error for a response with an error status."""
        status = response.status_code
        reason = responses.detail(response)
        if status in errors:
            error = errors[status]
            if isinstance(error, ByType):
                error = error.types.get(responses.error_type(response) or '', error.otherwise)
            if error is not None:
                raise error(reason=reason)
            return
        request = response.request
        LOG.debug('%s %s: %s %s', request.method, request.url, status, reason)
        if status == 403 and not as_user:
            LOG.warning('The %s service forbids a request of ours: %s', self.title, reason)
        if status == 403 or (status == 401 and as_user):
            raise exception.NeighbourForbids(service=self.title, reason=reason)
        if status == 409:
            raise exception.Conflict(reason=f'the {self.title} service refuses: {reason}')
        if status >= 500 or status in (401, 429):
            raise exception.Unavailable(service=self.title, reason=f'{status} {reason}')
        raise exception.NeighbourError(
            service=self.title,
            status=status,
            reason=reason,
            request=f'{request.method} {request.path_url}',
        )


def _is_repeatable(request: Mapping[str, object]) -> bool:
    """Return whether the body of a request can be sent once more."""
    return not hasattr(request.get('data'), 'read')


def _never_arrived(error: Exception) -> bool:
    """Return whether no connection was opened, so that the request has had no effect."""
    cause = error.__context__
    inner = cause.args[0] if cause is not None and cause.args else None
    return isinstance(getattr(inner, 'reason', inner), urllib3.exceptions.NewConnectionError)
