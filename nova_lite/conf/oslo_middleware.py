"""[oslo_middleware]: proxies in front of the API, as in nova."""

from oslo_config import cfg

GROUP = 'oslo_middleware'
OPTS: list[cfg.Opt] = [
    cfg.BoolOpt(
        'enable_proxy_headers_parsing',
        default=False,
        help='Take scheme, host and prefix of links from the headers Forwarded or X-Forwarded-Proto, '
        'X-Forwarded-Host and X-Forwarded-Prefix. Enable it if all requests come through a proxy '
        'that sets or removes these headers.',
    ),
]
