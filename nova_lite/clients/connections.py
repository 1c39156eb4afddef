"""The connections to a service, as keystoneauth1 uses them.

Proxies and .netrc of the environment are not looked at: this is traffic within
the control plane. For the same reason cookies are neither kept nor sent.
"""

from http import cookiejar

from keystoneauth1 import plugin
from keystoneauth1 import session
from oslo_config import cfg
import requests


class Plain(requests.Session):
    """A session without cookies, parameters and hooks of its own.

    To merge those with each request's costs a third of the time of its client's part.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.cookies.set_policy(cookiejar.DefaultCookiePolicy(allowed_domains=[]))

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """Return the request with the headers of the session."""
        url = request.url
        # A URL may name a user and a password, which requests makes a header of.
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

        To prepare the next request, requests would look for the cookies of this one.
        """


def open_session(options: cfg.ConfigOpts.GroupAttr, auth: plugin.BaseAuthPlugin) -> session.Session:
    """Return a keystoneauth1 session with connections for many threads.

    options: the configuration group of the service
    """
    plain = Plain()
    transport = session.TCPKeepAliveAdapter(pool_maxsize=options.pool_size)
    for scheme in ('http://', 'https://'):
        plain.mount(scheme, transport)
    certificate = (options.certfile, options.keyfile) if options.keyfile else options.certfile
    return session.Session(
        auth=auth,
        session=plain,
        verify=not options.insecure and (options.cafile or True),
        cert=certificate,
        timeout=options.timeout,
        app_name='nova-lite',
    )
