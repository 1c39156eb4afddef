"""[consoles]: the URLs of the proxies of graphical and serial consoles."""

from oslo_config import cfg

GROUP = 'consoles'
OPTS = [
    cfg.StrOpt(
        'novncproxy_base_url',
        deprecated_opts=[
            cfg.DeprecatedOpt('novncproxy_base_url', group='vnc'),
            cfg.DeprecatedOpt('novncproxy_base_url', group='DEFAULT'),
        ],
        default='http://127.0.0.1:6080/vnc_auto.html',
        help='URL of the page of the noVNC proxy. Empty disables VNC consoles.',
    ),
    cfg.StrOpt(
        'html5proxy_base_url',
        deprecated_group='spice',
        default='http://127.0.0.1:6082/spice_auto.html',
        help='URL of the page of the SPICE proxy. Empty disables SPICE consoles.',
    ),
    cfg.StrOpt(
        'serial_base_url',
        deprecated_name='base_url',
        deprecated_group='serial_console',
        default='ws://127.0.0.1:6083/',
        help='URL of the serial console proxy. Empty disables serial consoles.',
    ),
    cfg.IntOpt(
        'token_ttl',
        deprecated_opts=[
            cfg.DeprecatedOpt('token_ttl', group='consoleauth'),
            cfg.DeprecatedOpt('console_token_ttl', group='DEFAULT'),
        ],
        default=600,
        min=1,
        help='Seconds for which a console URL is valid.',
    ),
]
