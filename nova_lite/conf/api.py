"""[api]: the compute API."""

from oslo_config import cfg

GROUP = 'api'
OPTS = [
    cfg.StrOpt(
        'auth_strategy',
        default='keystone',
        choices=('keystone', 'noauth'),
        help='keystone checks tokens. noauth believes the headers X-User-Id, '
        'X-Project-Id and X-Roles as sent, for benchmarks; nova-lite-api then starts only if '
        'listen is a loopback address.',
    ),
    cfg.StrOpt('listen', default='127.0.0.1', help='Address to listen on.'),
    cfg.PortOpt('port', default=8774, help='Port to listen on.'),
    cfg.IntOpt('workers', default=1, min=1, help='API processes.'),
    cfg.IntOpt('threads', default=16, min=1, help='Threads of each API process.'),
    cfg.IntOpt(
        'max_waiting_requests',
        default=0,
        min=0,
        help='Largest number of requests per API process that may wait at the same time for '
        'another process: for a device to be attached or detached, for the checks of a live '
        'migration before 2.34, for the console output of a host, or for another operation on '
        'the same server to end. Further ones are answered with 503 and Retry-After. 0 means '
        'three quarters of [api] threads, so that a quarter is left for requests that do not '
        'wait. A deployment behind uWSGI or mod_wsgi sets [api] threads to the number of its '
        'threads.',
    ),
    cfg.IntOpt(
        'cell_timeout',
        default=5,
        min=1,
        help='Seconds a cell may take to answer a query before the API goes on without it.',
    ),
    cfg.IntOpt('max_limit', default=1000, min=1, help='Most items in one page of a list.'),
    cfg.StrOpt(
        'compute_link_prefix',
        help='Scheme, host and path put in front of links instead of those of the request.',
    ),
    cfg.BoolOpt(
        'enable_instance_password', default=True, help='Answer a create or evacuate with adminPass.'
    ),
    cfg.BoolOpt(
        'list_records_by_skipping_down_cells',
        default=True,
        help='Below microversion 2.69 a list leaves out cells that do not answer; '
        'when false it fails.',
    ),
    cfg.IntOpt(
        'max_request_body_size', default=114688, min=1024, help='Largest request body, in bytes.'
    ),
    cfg.IntOpt(
        'device_timeout',
        default=60,
        min=0,
        help='Seconds a request to attach or detach a device waits for the part of its outcome '
        'that its answer tells.',
    ),
    cfg.DictOpt(
        'proxies',
        default={},
        help='Other services that this port passes on, as /PREFIX:URL; the compute API then '
        'lies under /compute. Empty: the compute API is all there is.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
