"""[api]: the compute API."""

import os

from oslo_config import cfg
from oslo_config import types

GROUP = 'api'
# Limit of the default: big machines have other work, and each process takes memory and connections.
MOST_WORKERS = 8
OPTS = [
    cfg.StrOpt(
        'auth_strategy',
        default='keystone',
        choices=('keystone', 'noauth'),
        help='How requests are authenticated. keystone: by the token in the request. noauth: the '
        'headers X-User-Id, X-Project-Id and X-Roles are trusted as sent; for benchmarks only. '
        'With noauth, nova-lite-api starts only if listen is a loopback address.',
    ),
    cfg.StrOpt(
        'listen',
        deprecated_name='osapi_compute_listen',
        deprecated_group='DEFAULT',
        default='127.0.0.1',
        help='Address to listen on.',
    ),
    cfg.PortOpt(
        'port',
        deprecated_name='osapi_compute_listen_port',
        deprecated_group='DEFAULT',
        default=8774,
        help='Port to listen on.',
    ),
    cfg.IntOpt(
        'workers',
        deprecated_name='osapi_compute_workers',
        deprecated_group='DEFAULT',
        default=min(len(os.sched_getaffinity(0)), MOST_WORKERS),
        sample_default='<number of CPUs, at most 8>',
        min=1,
        help='Number of API processes. Each uses one CPU at most, takes about 70 MiB of memory, and has '
        'its own connections to the databases and brokers. The default is the number of CPUs that '
        'nova-lite-api may use, at most 8. Set it where a quota of CPU time (cgroups) allows less.',
    ),
    cfg.IntOpt('threads', default=16, min=1, help='Number of threads in each API process.'),
    cfg.IntOpt(
        'max_waiting_requests',
        default=0,
        min=0,
        help='Maximum number of requests per API process that may wait at the same time for another '
        'process: for a device to be attached or detached, for the checks of a live migration '
        'below microversion 2.34, for the console output of a host, or for another operation on '
        'the same server to end. Further requests are answered with 503 and Retry-After. 0 means '
        'three quarters of [api]threads, so that a quarter remains for requests that do not wait.'
        ' With uWSGI or mod_wsgi, set [api]threads to the number of their threads.',
    ),
    cfg.IntOpt(
        'cell_timeout',
        default=5,
        min=1,
        help='Timeout in seconds of queries to a cell. After that the API continues without the cell.',
    ),
    cfg.IntOpt(
        'max_limit', default=1000, min=1, help='Maximum number of items in one page of a list.'
    ),
    cfg.StrOpt(
        'compute_link_prefix',
        help='URL prefix (scheme, host and path) of links in responses. Unset: that of the request.',
    ),
    cfg.BoolOpt(
        'enable_instance_password',
        default=True,
        help='Return adminPass in the responses to create and evacuate.',
    ),
    cfg.BoolOpt(
        'list_records_by_skipping_down_cells',
        default=True,
        help='Omit the servers of cells that do not answer from lists below microversion 2.69, and '
        'from later ones that are filtered, sorted or paged. If false, such a request fails.',
    ),
    cfg.IntOpt(
        'max_request_body_size',
        default=114688,
        min=1024,
        help='Maximum size of a request body in bytes.',
    ),
    cfg.IntOpt(
        'device_timeout',
        default=60,
        min=0,
        help='Seconds that a request to attach or detach a device, or to create an image of a server '
        'that boots from a volume, waits for the part of the result that its response contains.',
    ),
    cfg.StrOpt(
        'request_log',
        help='File to which each API process appends a JSON object per request: time, request_id, '
        'method, path, operation, microversion, client (the User-Agent header), project_id, status '
        'and seconds. If the file is moved (log rotation), a new one is created. Unset: nothing is '
        'written.',
    ),
    cfg.StrOpt(
        'dhcp_domain',
        default='novalocal',
        help='Domain of the host names in the metadata of servers and on config drives. Empty: the '
        'names have no domain. Read by the metadata service and computes.',
    ),
    cfg.BoolOpt(
        'local_metadata_per_cell',
        default=False,
        help='Limit the metadata service to the servers of one cell, whose database is '
        '[database]connection; the service then has no access to the API database. If false, it '
        'serves the servers of all cells.',
    ),
    cfg.ListOpt(
        'vendordata_providers',
        item_type=types.String(choices=['StaticJSON', 'DynamicJSON']),
        default=['StaticJSON'],
        help='Sources of vendor data: StaticJSON, the file in vendordata_jsonfile_path; DynamicJSON, '
        'the services in vendordata_dynamic_targets. Read by the metadata service and computes.',
    ),
    cfg.ListOpt(
        'vendordata_dynamic_targets',
        default=[],
        secret=True,
        help='NAME@URL of each service for DynamicJSON. The service receives a POST with project-id, '
        'instance-id, image-id, user-data, hostname and metadata of a server. Guests find '
        'its answer in vendor_data2.json under NAME. With credentials in [vendordata_dynamic_auth] the '
        'request has a token.',
    ),
    cfg.StrOpt(
        'vendordata_dynamic_ssl_certfile',
        default='',
        help='File with the certificates of authorities for HTTPS to services of '
        'vendordata_dynamic_targets. Empty: those of the system.',
    ),
    cfg.IntOpt(
        'vendordata_dynamic_connect_timeout',
        default=5,
        min=3,
        help='Seconds to wait for a connection to each address of a service of '
        'vendordata_dynamic_targets.',
    ),
    cfg.IntOpt(
        'vendordata_dynamic_read_timeout',
        default=5,
        min=1,
        help='Seconds to wait for the whole answer of a service of vendordata_dynamic_targets.',
    ),
    cfg.BoolOpt(
        'vendordata_dynamic_failure_fatal',
        default=False,
        help='Fail a request for metadata, and the creation of a guest with a config drive, when a '
        'service of vendordata_dynamic_targets fails. If false, guests find an empty object.',
    ),
    cfg.StrOpt(
        'vendordata_jsonfile_path',
        help='Path of a file with a JSON object that guests find in vendor_data.json, and in '
        'vendor_data2.json under the key static. Unset: guests find an empty object. Read by the '
        'metadata service and computes.',
    ),
    cfg.DictOpt(
        'proxies',
        default={},
        help='Other services served on this port, as /PREFIX:URL pairs; requests for /PREFIX are '
        'forwarded to URL, and the compute API is served under /compute. Empty: only the compute '
        'API is served, at the root.',
    ),
]
