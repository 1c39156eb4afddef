"""[DEFAULT]: what every daemon needs to know."""

import socket

from oslo_config import cfg

OPTS = [
    cfg.StrOpt(
        'host',
        default=socket.gethostname(),
        sample_default='<hostname>',
        help='Name of this service host. A compute serves the hosts of [compute]hosts instead.',
    ),
    cfg.StrOpt(
        'state_path', default='/var/lib/nova-lite', help='Directory for the files a daemon keeps.'
    ),
    cfg.IntOpt(
        'rpc_threads',
        default=16,
        min=1,
        max=512,
        help='Threads that serve RPC calls in each daemon.',
    ),
    cfg.IntOpt(
        'report_interval', default=10, min=1, help='Seconds between two heartbeats of a service.'
    ),
    cfg.IntOpt(
        'service_down_time',
        default=60,
        min=1,
        help='A service whose last heartbeat is older than this, in seconds, is down.',
    ),
    cfg.StrOpt(
        'default_availability_zone',
        default='nova',
        help='Zone shown for hosts that are in no availability zone aggregate.',
    ),
    cfg.StrOpt('default_schedule_zone', help='Zone of servers that ask for none. Unset: any zone.'),
    cfg.StrOpt(
        'internal_service_availability_zone',
        default='internal',
        help='Zone shown for services that are not computes.',
    ),
    cfg.BoolOpt(
        'allow_resize_to_same_host',
        default=False,
        help='A resize may choose the host the server is on.',
    ),
    cfg.IntOpt(
        'max_local_block_devices',
        default=3,
        min=-1,
        help='Local block devices a server may have; -1 for no limit.',
    ),
    cfg.StrOpt(
        'instance_name_template',
        default='instance-%08x',
        help="Name of the guest on its hypervisor; %x is given the record's number, "
        '%(uuid)s the uuid.',
    ),
    cfg.StrOpt(
        'osapi_compute_unique_server_name_scope',
        default='',
        choices=('', 'project', 'global'),
        help='Scope in which the name of a server must be unique when it is created or '
        'renamed: project or global. Names are compared without regard to case. With a scope, '
        'requests for names in it are decided one after the other, and each asks all cells; a '
        'cell that does not answer within [api] cell_timeout is left out. Empty: names need '
        'not be unique.',
    ),
    cfg.IntOpt(
        'reclaim_instance_interval',
        default=0,
        min=0,
        help='Seconds a soft-deleted server is kept; 0 deletes at once.',
    ),
    cfg.IntOpt(
        'shelved_offload_time',
        default=0,
        min=-1,
        help='Seconds after which a shelved server leaves its host: 0 for at once, -1 for '
        'not before shelveOffload asks for it. Read by the API and the super-conductor.',
    ),
    cfg.IntOpt(
        'shelved_poll_interval',
        default=3600,
        min=1,
        help='Seconds between two searches for shelved servers that are due to leave their '
        'hosts. Read by the super-conductor.',
    ),
    cfg.IntOpt(
        'resize_confirm_window',
        default=0,
        min=0,
        help='Seconds after which an unconfirmed resize is confirmed; 0 for never.',
    ),
    cfg.IntOpt(
        'reimage_timeout_per_gb',
        default=20,
        min=1,
        help='Seconds per GiB of a root volume that a rebuild waits until the volume service '
        'has written the image onto it.',
    ),
    cfg.IntOpt(
        'max_concurrent_live_migrations',
        default=1,
        min=0,
        help='Live migrations that may leave a host at the same time; 0 for no limit.',
    ),
    cfg.IntOpt(
        'migrate_max_retries',
        default=-1,
        min=-1,
        help="Hosts tried after the first when a live migration's checks fail; -1 for all.",
    ),
    cfg.IntOpt(
        'graceful_shutdown_timeout',
        default=30,
        min=0,
        help='Seconds a daemon gets to finish what it does after SIGTERM.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [('DEFAULT', OPTS)]
