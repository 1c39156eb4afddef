"""The caller: tokens checked by keystonemiddleware, or headers without a check.

Both ways end in a RequestContext made from the headers that keystonemiddleware
sets. Source: reference/nova/api-surface 1.
"""

from collections.abc import Callable
from collections.abc import Iterable
import re
import typing
from wsgiref import types as wsgi

from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_config import cfg

from nova_lite import context
from nova_lite import runtime
from nova_lite.api import faults
from nova_lite.api import policies
from nova_lite.api import tokens
from nova_lite.conf import keystone_authtoken

# Each role implies all roles after it. In tokens Keystone has already expanded the roles.
IMPLIED = {
    'admin': ('manager', 'member', 'reader'),
    'manager': ('member', 'reader'),
    'member': ('reader',),
}
REQUEST_ID = re.compile(r'req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def protect(
    conf: cfg.ConfigOpts,
    application: wsgi.WSGIApplication,
    is_open: Callable[[wsgi.WSGIEnvironment], bool],
) -> wsgi.WSGIApplication:
    """Wrap a WSGI application so that tokens are checked, as [api]auth_strategy says.

    is_open: function of the environ that returns whether a request needs no token
    Raises ValueError for options with which no request could be served.
    """
    if conf.api.auth_strategy == 'noauth':
        return application
    keystone_authtoken.check(conf)

    def protocol(inner: wsgi.WSGIApplication, **options: typing.Any) -> wsgi.WSGIApplication:
        # A service that sends an invalid token beside the user's is refused.
        protected: wsgi.WSGIApplication = auth_token.AuthProtocol(
            inner, {'oslo_config_config': _token_conf(conf), **options}
        )
        return protected

    protected = tokens.Checked(
        application, protocol, cache_s=conf[keystone_authtoken.GROUP].token_cache_time
    )

    def check(environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse) -> Iterable[bytes]:
        inner = application if is_open(environ) else protected
        return inner(environ, start_response)

    return check


def _token_conf(conf: cfg.ConfigOpts) -> cfg.ConfigOpts:
    """keystonemiddleware's options alone, with our values.

    It registers its plugin's options itself and refuses ours, in which none is
    required: required means required at parsing, even when another group serves.
    """
    group, ours = keystone_authtoken.GROUP, conf[keystone_authtoken.GROUP]
    private = cfg.ConfigOpts()
    private([], project='nova-lite', default_config_files=[], default_config_dirs=[])
    for _group, opts in auth_token.list_opts():
        private.register_opts(opts, group=group)
    private.register_opts(loading.get_auth_plugin_conf_options(ours.auth_type), group=group)
    for name, value in ours.items():
        if name in private[group] and value is not None:
            private.set_override(name, value, group=group)
    return private


def context_of(
    conf: cfg.ConfigOpts, environ: wsgi.WSGIEnvironment, enforcer: policies.Enforcer
) -> context.RequestContext:
    """Return the caller's RequestContext. Raise Unauthorized without a user."""
    if not environ.get('HTTP_X_USER_ID'):
        raise faults.Unauthorized()
    roles = [role.strip().lower() for role in environ.get('HTTP_X_ROLES', '').split(',')]
    if conf.api.auth_strategy == 'noauth':
        roles = _expand(roles)
    ctxt = context.RequestContext.from_environ(
        environ,
        roles=roles,
        request_id=environ['nova_lite.request_id'],
        global_request_id=_global_id(environ),
    )
    ctxt.is_admin = enforcer.is_admin(ctxt)
    ctxt.waited = {}
    return ctxt


def new_request_id(environ: wsgi.WSGIEnvironment) -> str:
    """Give the request its id."""
    environ['nova_lite.request_id'] = request_id = runtime.new_request_id()
    return request_id


def _global_id(environ: wsgi.WSGIEnvironment) -> str | None:
    given = environ.get('HTTP_X_OPENSTACK_REQUEST_ID', '')
    return given if REQUEST_ID.fullmatch(given) else None


def _expand(roles: Iterable[str]) -> list[str]:
    found = dict.fromkeys(roles)
    for role in roles:
        found.update(dict.fromkeys(IMPLIED.get(role, ())))
    return [role for role in found if role]
