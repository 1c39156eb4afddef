"""The connections to a service, as keystoneauth1 uses them.

They ignore proxies and .netrc of the environment, because this traffic stays within the control
plane. For the same reason cookies are neither kept nor sent.
"""

from http import cookiejar
import typing

from keystoneauth1 import exceptions
from keystoneauth1 import plugin
from keystoneauth1 import session
from oslo_config import cfg
import requests


class Plain(requests.Session):
    """A session without its own cookies, parameters and hooks.

    Merging these into each request would take a third of the client's time for the request.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.cookies.set_policy(cookiejar.DefaultCookiePolicy(allowed_domains=[]))

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """Return the request with the headers of the session."""
        url = request.url
        # requests makes a header of the user and the password in a URL.
        if request.auth is not None or not isinstance(url, str) or '@' in url:
            return super().prepare_request(request)
        headers = {**self.headers, **request.headers}
        prepared = requests.PreparedRequest()
        prepared.prepare_method(request.method)
        prepared.prepare_url(url, request.params)
        prepared.prepare_headers(
            {key: value for key, value in headers.items() if value is not None}
        )
        prepared.prepare_body(request.data, request.files, request.json)
        prepared.prepare_hooks(request.hooks)
        return prepared

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None: keystoneauth1 follows redirects by itself.

        Otherwise requests would read the cookies of the response to prepare the next request.
        """


class Session(session.Session):
    """A session that refuses an identity service which wants a token for its versions.

    keystoneauth1 would then ask the service for a token, and wait for a lock that it holds itself.
    """

    def request(
        self, url: str, method: str, *args: typing.Any, **options: typing.Any
    ) -> requests.Response:
        """Send a request. Raise DiscoveryFailure where the versions of an identity need a token."""
        try:
            return super().request(url, method, *args, **options)
        except exceptions.Unauthorized as error:
            if method != 'GET' or options.get('authenticated') is not False:
                raise
            text = f'{url} answered {error.http_status} to a request for its versions'
            raise exceptions.DiscoveryFailure(text) from error


def open_session(options: cfg.ConfigOpts.GroupAttr, auth: plugin.BaseAuthPlugin) -> session.Session:
    """Return a keystoneauth1 session with connections for many threads.

    options: the configuration group of the service
    """
    plain = Plain()
    transport = session.TCPKeepAliveAdapter(pool_maxsize=options.pool_size)
    for scheme in ('http://', 'https://'):
        plain.mount(scheme, transport)
    certificate = (options.certfile, options.keyfile) if options.keyfile else options.certfile
    return Session(
        auth=auth,
        session=plain,
        verify=not options.insecure and (options.cafile or True),
        cert=certificate,
        timeout=options.timeout,
        app_name='nova-lite',
    )
