"""[DEFAULT]: the options that every daemon reads."""

import socket

from oslo_config import cfg
from oslo_config import types
from oslo_utils import netutils

from nova_lite.conf import audit_periods

GROUP = 'DEFAULT'
# Values of running_deleted_instance_action.
REAP, SHUTDOWN, LOG_ONLY, NOOP = 'reap', 'shutdown', 'log', 'noop'
# Names of the monitor of CPUs: the namespace may be omitted, as in nova.
MONITORS = ('cpu.virt_driver', 'virt_driver')
OPTS = [
    cfg.StrOpt(
        'host',
        default=socket.gethostname(),
        sample_default='<hostname>',
        help='Name of this service host. A compute process uses the names in [compute]hosts instead, '
        'if any.',
    ),
    cfg.HostAddressOpt(
        'my_ip',
        default=netutils.get_my_ipv4(),
        sample_default='<host_ipv4>',
        help='IP address of this machine. Other options may refer to it as $my_ip.',
    ),
    cfg.StrOpt(
        'state_path', default='/var/lib/nova-lite', help='Directory for the files of a daemon.'
    ),
    cfg.IntOpt(
        'rpc_threads',
        default=16,
        min=1,
        max=512,
        help='Number of threads that serve RPC requests in each daemon.',
    ),
    cfg.IntOpt(
        'long_rpc_timeout',
        default=1800,
        min=1,
        help='Timeout in seconds of RPC calls in which a compute uploads or downloads a whole image, '
        'provided that it keeps sending RPC heartbeats. A call without heartbeats fails after '
        'rpc_response_timeout. Other calls of moves are short and poll for their result.',
    ),
    cfg.FloatOpt(
        'rpc_publish_timeout',
        default=3,
        min=0.1,
        help='Timeout in seconds of the confirmation of a message by the message bus. After a '
        'timeout, RPC calls fail at once until the bus answers again, and casts wait.',
    ),
    cfg.IntOpt(
        'report_interval',
        default=10,
        min=1,
        help='Seconds between two heartbeats of a service, and the time limit for the reply to a '
        'heartbeat.',
    ),
    cfg.IntOpt(
        'service_down_time',
        default=60,
        min=1,
        help='Maximum age of the last heartbeat, in seconds, for a service to be considered up.',
    ),
    cfg.MultiOpt(
        'reserved_huge_pages',
        item_type=types.Dict(),
        default={},
        help='Memory pages of a NUMA node that guests do not get, such as "node:0,size:2048,count:64", '
        'with the size in KiB or with a unit (1GB). May be repeated. It takes the place of the reserved '
        'pages of the profile. NUMA nodes without pages of the size are skipped.',
    ),
    cfg.StrOpt(
        'default_availability_zone',
        default='nova',
        help='Availability zone shown for hosts that are in no availability zone aggregate.',
    ),
    cfg.StrOpt(
        'default_schedule_zone',
        help='Availability zone of servers whose create request names none. Unset: any zone.',
    ),
    cfg.StrOpt(
        'internal_service_availability_zone',
        default='internal',
        help='Availability zone shown for services other than compute.',
    ),
    cfg.BoolOpt(
        'allow_resize_to_same_host',
        default=False,
        help='Allow a resize to choose the current host of the server.',
    ),
    cfg.BoolOpt(
        'enable_new_services',
        default=True,
        help='Enable new compute services. If false, a compute service is disabled from its first '
        'heartbeat until an administrator enables it. Read by the conductor of the cell.',
    ),
    cfg.IntOpt(
        'password_length',
        default=12,
        min=0,
        max=255,
        help='Number of characters of generated passwords of servers.',
    ),
    cfg.ListOpt(
        'non_inheritable_image_properties',
        default=['cache_in_nova', 'bittorrent'],
        help='Names of properties of images that images made of servers do not get.',
    ),
    cfg.BoolOpt(
        'force_config_drive',
        default=False,
        help='Give each new server a config drive, even if its request does not ask for one. Read '
        'by the compute API.',
    ),
    cfg.IntOpt(
        'max_local_block_devices',
        default=3,
        min=-1,
        help='Maximum number of local block devices of a server. -1 means no limit.',
    ),
    cfg.StrOpt(
        'instance_name_template',
        default='instance-%08x',
        help='Template for the name of a guest on its hypervisor. %x and similar are replaced by the '
        "id of the server's record, %(uuid)s by the server's uuid.",
    ),
    cfg.StrOpt(
        'osapi_compute_unique_server_name_scope',
        default='',
        choices=('', 'project', 'global'),
        help='Scope in which the name of a server must be unique when it is created or renamed: '
        'project or global. Case is ignored. With a scope, requests for names in it are processed'
        ' one at a time, and each queries all cells; a cell that does not answer within '
        '[api]cell_timeout is not considered. Empty: names need not be unique.',
    ),
    cfg.IntOpt(
        'reclaim_instance_interval',
        default=0,
        min=0,
        help='Seconds after which a soft-deleted server is deleted. 0 disables soft delete: servers '
        'are deleted at once.',
    ),
    cfg.IntOpt(
        'shelved_offload_time',
        default=0,
        min=-1,
        help='Seconds after which a shelved server is offloaded from its host. 0 means at once, -1 '
        'only on a shelveOffload request. Used by the API and the super-conductor.',
    ),
    cfg.IntOpt(
        'shelved_poll_interval',
        default=3600,
        min=1,
        help='Seconds between two searches for shelved servers that are due to be offloaded. Used by '
        'the super-conductor.',
    ),
    cfg.IntOpt(
        'heal_instance_info_cache_interval',
        default=60,
        min=-1,
        help='Seconds between two comparisons of the recorded ports with the network service, which '
        'find changes whose event was lost. Each compares the next 500 servers of each cell, in '
        'requests for 50 servers, and asks the next 50 hosts of each cell for ports that their guests '
        'still have. 0 and -1 disable the comparison. Used by the super-conductor.',
    ),
    cfg.IntOpt(
        'instance_build_timeout',
        default=0,
        min=0,
        help='Seconds after the creation of a server after which a build that a host has not ended is '
        'ended with ERROR. 0 means no limit. Read by the conductor of the cell.',
    ),
    cfg.IntOpt(
        'sync_power_state_interval',
        default=0,
        help='Seconds between two comparisons of the power states of guests with the records of '
        'servers, which stop a server whose guest has gone off, and a guest whose server is stopped. '
        'They take place in audits ([compute]audit_interval). 0: in each audit. Negative: never. Used by '
        'computes.',
    ),
    cfg.BoolOpt(
        'resume_guests_state_on_host_boot',
        default=False,
        help='After the start of a host or of its compute process, start the guests that are off and '
        'whose servers are recorded as running. If false, these servers are recorded as stopped.',
    ),
    cfg.StrOpt(
        'running_deleted_instance_action',
        default=REAP,
        choices=[
            (REAP, 'Destroy the guest.'),
            (SHUTDOWN, 'Power off the guest, and log a warning.'),
            (LOG_ONLY, 'Log a warning.'),
            (NOOP, 'Do nothing.'),
        ],
        help='What computes do with a guest that belongs to no server, for example because the '
        'server was deleted while its host was lost. [compute]stray_grace says after which time. '
        'Guests that a move has left on a host are always destroyed.',
    ),
    cfg.IntOpt(
        'running_deleted_instance_poll_interval',
        default=1,
        min=0,
        help='Seconds between two searches for guests that belong to no server. They take place in '
        'audits: a value up to [compute]audit_interval means in each audit. 0: never.',
    ),
    cfg.BoolOpt(
        'instance_usage_audit',
        default=False,
        help='After each instance_usage_audit_period, notify with instance.exists of each server that '
        'was on a host in that period, and record the audit of each host. Used by the conductor of '
        'the cell.',
    ),
    cfg.StrOpt(
        'instance_usage_audit_period',
        default='month',
        regex=f'^({audit_periods.SETTING.pattern})$',
        help='Period of audits and of instance.exists: hour, day, month or year. After "@" the '
        'minute, hour, day or month at which it begins, such as month@15 for the 15th. Used by the '
        'API and the conductor of the cell.',
    ),
    cfg.ListOpt(
        'compute_monitors',
        item_type=types.String(choices=MONITORS),
        default=[],
        help='Monitors whose metrics computes report with the inventories of their hosts, each time '
        'that [compute]resource_update_interval has passed: "cpu.virt_driver", or "virt_driver" for '
        'short, for the CPU time of the hosts. Each report sends the notification metrics.update of '
        'each host, and the metrics are those that [metrics]weight_setting names. Empty: none.',
    ),
    cfg.IntOpt(
        'volume_usage_poll_interval',
        default=0,
        help='Seconds between two reports of the counters of the volumes of running servers, of each '
        'of which the notification volume.usage is sent. Then it is sent when a volume is detached, '
        'too. 0 and negative values disable both. Used by computes.',
    ),
    cfg.IntOpt(
        'resize_confirm_window',
        default=0,
        min=0,
        help='Seconds after which a resize is confirmed automatically. 0 means never.',
    ),
    cfg.IntOpt(
        'reimage_timeout_per_gb',
        default=20,
        min=1,
        help='Seconds per GiB of the root volume that a rebuild waits for the volume service to write '
        'the image to the volume.',
    ),
    cfg.IntOpt(
        'vif_plugging_timeout',
        default=300,
        min=0,
        help='Seconds to wait until the network service reports that the ports of a server are '
        'plugged on its host. Ports that are ACTIVE already are not waited for. 0 disables the wait. '
        'Used by computes for builds and by the super-conductor for moves.',
    ),
    cfg.BoolOpt(
        'vif_plugging_is_fatal',
        default=True,
        help='Fail a build or a move whose ports cannot be plugged, or not within '
        'vif_plugging_timeout. If false, a warning is logged and the guest starts without them.',
    ),
    cfg.IntOpt(
        'max_concurrent_builds',
        default=0,
        min=0,
        help='Maximum number of servers that a host builds at the same time. Others wait, and stay '
        'BUILD with the task scheduling. 0 means no limit.',
    ),
    cfg.IntOpt(
        'max_concurrent_live_migrations',
        default=1,
        min=0,
        help='Maximum number of live migrations that leave a host at the same time. 0 means no limit.',
    ),
    cfg.IntOpt(
        'migrate_max_retries',
        default=-1,
        min=-1,
        help='Maximum number of further hosts to try when the checks of a live migration fail for the '
        'first. -1 means all.',
    ),
    cfg.IntOpt(
        'graceful_shutdown_timeout',
        default=30,
        min=0,
        help='Seconds after SIGTERM in which a daemon may finish work in progress. After that it '
        'exits.',
    ),
]
