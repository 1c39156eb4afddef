"""The address of the API as its clients see it, which a proxy in front of it names in headers."""

from wsgiref import types as wsgi

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from nova_lite.conf import oslo_middleware as options


def apply(conf: cfg.ConfigOpts, application: wsgi.WSGIApplication) -> wsgi.WSGIApplication:
    """Return the application, which believes the headers of proxies if an option says so."""
    if not conf.oslo_middleware.enable_proxy_headers_parsing:
        return application
    # The middleware registers its option itself, with a text of its own.
    private = cfg.ConfigOpts()
    private([], project='nova-lite', default_config_files=[], default_config_dirs=[])
    private.register_opts(http_proxy_to_wsgi.OPTS, group=options.GROUP)
    private.set_override('enable_proxy_headers_parsing', True, group=options.GROUP)
    return http_proxy_to_wsgi.HTTPProxyToWSGI(application, private)
